/* Kernels whose parts of memory belong to one thread each: numa02's slices, triad, a stencil, and two regions with
 * opposite parts in turn. */
#define _GNU_SOURCE
#include "omp.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static double *a, *b, *c;
static size_t n; /* numbers of an array */

static void make(const struct bench_options *options, unsigned arrays)
{
	n = (options->kib << 10) / sizeof(double) / arrays;
	a = bench_map(n * sizeof(double), options);
	b = arrays > 1 ? bench_map(n * sizeof(double), options) : NULL;
	c = arrays > 2 ? bench_map(n * sizeof(double), options) : NULL;
}

/* Part T of ALL, with numbers. */
static void fill_part(unsigned t, unsigned all)
{
	for (size_t i = omp_part(n, t, all); i < omp_part(n, t + 1, all); i++) {
		a[i] = 1;
		if (b != NULL)
			b[i] = 1;
		if (c != NULL)
			c[i] = 2;
	}
}

static void fill(bool parallel)
{
	if (!parallel) {
		fill_part(0, 1);
		return;
	}
#pragma omp parallel
	fill_part((unsigned)omp_get_thread_num(), (unsigned)omp_get_num_threads());
}

/* ---- numa02: each thread zeroes its own slice ----------------------------------------------------------- */

static void slices_make(const struct bench_options *options)
{
	make(options, 1);
}

static uint64_t slices_pass(void)
{
#pragma omp parallel
	{
		unsigned t = (unsigned)omp_get_thread_num(), all = (unsigned)omp_get_num_threads();
		size_t first = omp_part(n, t, all), end = omp_part(n, t + 1, all);

		memset(a + first, 0, (end - first) * sizeof(double));
		__asm__ volatile("" ::"r"(a) : "memory");
	}
	return n * sizeof(double);
}

static bool slices_right(uint64_t passes)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i];
	return passes == 0 || sum == 0;
}

const struct omp_kernel omp_slices = { "slices", "numa02: each thread zeroes its own slice of one buffer", slices_make, fill,
	                               slices_pass, slices_right, NULL };

/* ---- triad ------------------------------------------------------------------------------------------------ */

static double scale;

static void triad_make(const struct bench_options *options)
{
	make(options, 3);
}

static uint64_t triad_pass(void)
{
	scale += 1;
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + scale * c[i];
	return 3 * n * sizeof(double);
}

static bool triad_right(uint64_t passes)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != 1 + 2 * (double)passes)
			return false;
	return true;
}

const struct omp_kernel omp_triad = { "triad", "a = b + scale * c", triad_make, fill, triad_pass, triad_right, NULL };

/* ---- stencil ------------------------------------------------------------------------------------------------ */

static size_t side;

static void stencil_make(const struct bench_options *options)
{
	make(options, 2);
	side = (size_t)sqrt((double)n);
	n = side * side;
}

/* A border of 1 stays, and what begins as 1 stays 1 under the mean: so the result is known. */
static uint64_t stencil_pass(void)
{
#pragma omp parallel for schedule(static)
	for (size_t i = 1; i < side - 1; i++)
		for (size_t j = 1; j < side - 1; j++) {
			size_t at = i * side + j;

			b[at] = 0.25 * (a[at - 1] + a[at + 1] + a[at - side] + a[at + side]);
		}

	double *swap = a;

	a = b;
	b = swap;
	return 2 * n * sizeof(double);
}

static bool stencil_right(uint64_t passes)
{
	(void)passes;
	for (size_t i = 0; i < n; i++)
		if (a[i] != 1 || b[i] != 1)
			return false;
	return true;
}

const struct omp_kernel omp_stencil = { "stencil", "five points of a square grid", stencil_make, fill,
	                                stencil_pass, stencil_right, NULL };

/* ---- two regions with opposite parts in turn ------------------------------------------------------------------ */

static void add_one(unsigned t, unsigned all)
{
	for (size_t i = omp_part(n, t, all); i < omp_part(n, t + 1, all); i++)
		a[i] += 1;
}

static uint64_t phases_pass(void)
{
#pragma omp parallel
	add_one((unsigned)omp_get_thread_num(), (unsigned)omp_get_num_threads());
#pragma omp parallel
	{
		unsigned all = (unsigned)omp_get_num_threads();

		add_one(all - 1 - (unsigned)omp_get_thread_num(), all);
	}
	return 2 * n * sizeof(double);
}

static bool phases_right(uint64_t passes)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != 1 + 2 * (double)passes)
			return false;
	return true;
}

/* Those who work on the same two parts sit side by side: then both regions find all memory on their node. */
static unsigned phases_seat(unsigned t, unsigned all)
{
	return t < all / 2 ? 2 * t : 2 * (all - 1 - t) + 1;
}

const struct omp_kernel omp_phases = { "phases", "two regions in turn: thread t works on part t, then on the last but t", slices_make,
	                               fill, phases_pass, phases_right, phases_seat };
