/* omp: an OpenMP kernel again and again, for the bench. -K says which; a unit of work is a KiB. */
#define _GNU_SOURCE
#include "omp.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct omp_kernel *const kernels[] = {
	&omp_slices, &omp_triad, &omp_stencil, &omp_phases, &omp_csr, &omp_tasks, &omp_nested,
};
enum { KERNELS = sizeof(kernels) / sizeof(*kernels) };

static struct bench_options options;
static bool touching; /* memory is being touched for the first time */

static const struct omp_kernel *kernel_of(const char *name)
{
	for (int i = 0; name != NULL && i < KERNELS; i++)
		if (strcmp(kernels[i]->name, name) == 0)
			return kernels[i];
	fprintf(stderr, "omp: -K is one of:\n");
	for (int i = 0; i < KERNELS; i++)
		fprintf(stderr, "  %-8s %s\n", kernels[i]->name, kernels[i]->what);
	exit(2);
}

void omp_place(unsigned i, unsigned all)
{
	static _Thread_local unsigned placed; /* the CPU and one more; 0: not yet */
	unsigned cpu;

	if (options.bind == BENCH_NONE)
		return;
	cpu = bench_cpu_of(options.bind, i, all);
	if (options.bind == BENCH_INVERSE && touching)
		cpu = (cpu + bench_machine.cpus / 2) % bench_machine.cpus;
	if (placed != cpu + 1)
		bench_pin(cpu);
	placed = cpu + 1;
}

static void place_all(const struct omp_kernel *kernel)
{
#pragma omp parallel
	{
		unsigned t = (unsigned)omp_get_thread_num(), all = (unsigned)omp_get_num_threads();

		omp_place(kernel->seat != NULL ? kernel->seat(t, all) : t, all);
	}
}

static void fill(const struct omp_kernel *kernel)
{
	touching = true;
	if (options.bind != BENCH_NONE)
		place_all(kernel);
	kernel->fill(options.bind != BENCH_NONE || options.parallel_touch);
	touching = false;
	if (options.bind != BENCH_NONE)
		place_all(kernel);
}

int main(int argc, char **argv)
{
	struct bench_clock clock;
	uint64_t done, passes = 0;

	options = bench_options(argc, argv, (struct bench_options){ .processes = 1, .threads = 1, .kib = 4096, .seconds = 9 },
	                        "an OpenMP kernel (-K) again and again; threads as OpenMP has them");

	const struct omp_kernel *kernel = kernel_of(options.kernel);

	kernel->make(&options);
	fill(kernel);
	bench_clock_begin(&clock, options.seconds);
	do {
		done = kernel->pass() >> 10;
		passes++;
	} while (bench_clock_goes_on(&clock, done));
	bench_clock_end(&clock);
	if (!kernel->is_right(passes)) {
		fprintf(stderr, "omp: the result of %s is WRONG after %llu passes\n", kernel->name, (unsigned long long)passes);
		return 3;
	}
	return 0;
}
