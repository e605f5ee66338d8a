/* STREAM's triad with the mistake that most programs make: the first thread fills all arrays, so that all
 * memory is on its NUMA node, and the threads on other nodes then work on memory far away.
 *
 *     cc -O2 -fopenmp triad.c support.c -o triad
 *     ./triad -v                                                 memory stays where it was filled
 *     OMP_TOOL_LIBRARIES=libnsched_ompt.so ./triad -v            nsched brings threads and memory together
 *
 * (The second needs LLVM's OpenMP runtime: clang, or a gcc program started with it.) On a machine with
 * one NUMA node both are the same: every page is on every thread's node. */
#include "support.h"

static double *a, *b, *c;

/* The work: every thread has its own part of the arrays, the same in each pass. */
static void triad(size_t n, double scale)
{
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + scale * c[i];
}

/* Each thread looks at the pages of its own part. */
static struct pages look(size_t n)
{
	long all = 0, local = 0;

#pragma omp parallel reduction(+ : all, local)
	{
		size_t first = n, end = 0;

#pragma omp for schedule(static) nowait
		for (size_t i = 0; i < n; i++) {
			first = i < first ? i : first;
			end = i + 1;
		}

		const double *arrays[] = { a, b, c };

		for (int k = 0; k < 3 && first < end; k++) {
			struct pages pages = pages_of(arrays[k], first, end);

			all += pages.all;
			local += pages.local;
		}
	}
	return (struct pages){ all, local };
}

static bool is_right(size_t n, double scale)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != 1.0 + scale * 2.0)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	struct options options = options_from(argc, argv, "a[i] = b[i] + scale * c[i], again and again");
	size_t n = (options.mib << 20) / sizeof(double);
	struct progress progress;
	bool look_now, goes_on;
	double scale = 0;

	a = array_of(n);
	b = array_of(n);
	c = array_of(n);
	/* Here it goes wrong: with "#pragma omp parallel for" before this loop each thread would fill, and
	 * so get, its own part. */
	for (size_t i = 0; i < n; i++) {
		a[i] = 0.0;
		b[i] = 1.0;
		c[i] = 2.0;
	}

	progress_begin(&progress, &options, look(n));
	do {
		scale += 1.0;
		triad(n, scale);
		goes_on = progress_goes_on(&progress, &look_now);
		if (look_now)
			progress_look(&progress, look(n));
	} while (goes_on);
	return progress_end(&progress, look(n), is_right(n, scale));
}
