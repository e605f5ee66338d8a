/* Kernels without a fixed share of each thread: tasks, which any thread may do, and nested parallelism, where the team of
 * a part is made anew. */
#define _GNU_SOURCE
#include "omp.h"

#include <omp.h>

enum {
	BLOCKS = 64,      /* of memory: a task each */
	OUTER_MOST = 16,
};

static double *data;
static size_t n, bytes;
static const struct bench_options *how;

static void make(const struct bench_options *options)
{
	n = (options->kib << 10) / sizeof(double);
	bytes = n * sizeof(double);
	data = bench_map(bytes, options);
	how = options;
}

static void set(size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		data[i] = 1;
}

static void add_one(size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		data[i] += 1;
}

static bool is_right(uint64_t passes)
{
	for (size_t i = 0; i < n; i++)
		if (data[i] != 1 + (double)passes)
			return false;
	return true;
}

/* ---- tasks ---------------------------------------------------------------------------------------------- */

static void by_tasks(void (*what)(size_t first, size_t end))
{
#pragma omp parallel
#pragma omp single
	for (unsigned block = 0; block < BLOCKS; block++)
#pragma omp task firstprivate(block)
		what(omp_part(n, block, BLOCKS), omp_part(n, block + 1, BLOCKS));
}

/* By hand: any thread may get any block, so that none is the right place; all nodes serve alike. */
static void tasks_fill(bool parallel)
{
	unsigned long nodes = 0;

	for (unsigned i = 0; how->bind != BENCH_NONE && i < bench_machine.nodes; i++)
		nodes |= 1ul << bench_machine.node_os[i];
	bench_memory_to(data, bytes, nodes);
	if (parallel)
		by_tasks(set);
	else
		set(0, n);
}

static uint64_t tasks_pass(void)
{
	by_tasks(add_one);
	return bytes;
}

const struct omp_kernel omp_tasks = { "tasks", "64 blocks of memory, a task each", make, tasks_fill, tasks_pass, is_right, NULL };

/* ---- nested parallelism ------------------------------------------------------------------------------------ */

/* A team for each node's worth of CPUs, and in it a thread for each of them. */
static void by_nested(void (*what)(size_t first, size_t end))
{
	unsigned outer = bench_machine.nodes < OUTER_MOST ? bench_machine.nodes : OUTER_MOST;
	unsigned inner = bench_machine.cpus / outer > 0 ? bench_machine.cpus / outer : 1;

#pragma omp parallel num_threads(outer)
	{
		unsigned team = (unsigned)omp_get_thread_num();

#pragma omp parallel num_threads(inner)
		{
			unsigned part = team * inner + (unsigned)omp_get_thread_num();

			omp_place(part, outer * inner);
			what(omp_part(n, part, outer * inner), omp_part(n, part + 1, outer * inner));
		}
	}
}

static void nested_fill(bool parallel)
{
	if (parallel)
		by_nested(set);
	else
		set(0, n);
}

static uint64_t nested_pass(void)
{
	by_nested(add_one);
	return bytes;
}

static void nested_make(const struct bench_options *options)
{
	omp_set_max_active_levels(2);
	make(options);
}

const struct omp_kernel omp_nested = { "nested", "a team for each node, and in it a team for its CPUs", nested_make, nested_fill,
	                               nested_pass, is_right, NULL };
