/* A five-point stencil on a square grid (Jacobi's method, as in heat conduction): each new value is the mean
 * of its four neighbours, plus a source. The first thread fills both grids, so that all memory is on its
 * NUMA node; see triad.c for what that means and how to run it with nsched.
 *
 * Threads work on bands of rows. Unlike triad's, their parts touch: a thread reads the last row of the band
 * before and the first of the band after. */
#include "support.h"

#include <math.h>

static double *from, *to;
static size_t side; /* of the grid, with its border */

/* The source is 1, and the border grows by 1 in each sweep. Then a grid that begins with row + column is
 * row + column + sweeps after any number of sweeps, exactly: which is how the result is checked. */
static void sweep(void)
{
#pragma omp parallel for schedule(static)
	for (size_t i = 0; i < side; i++) {
		const double *row = from + i * side;
		double *out = to + i * side;

		if (i == 0 || i == side - 1) {
			for (size_t j = 0; j < side; j++)
				out[j] = row[j] + 1;
			continue;
		}

		const double *above = row - side, *below = row + side;

		out[0] = row[0] + 1;
		for (size_t j = 1; j < side - 1; j++)
			out[j] = 0.25 * (above[j] + below[j] + row[j - 1] + row[j + 1]) + 1;
		out[side - 1] = row[side - 1] + 1;
	}

	double *swap = from;

	from = to;
	to = swap;
}

/* Each thread looks at the pages of its own band. */
static struct pages look(void)
{
	long all = 0, local = 0;

#pragma omp parallel reduction(+ : all, local)
	{
		size_t first = side, end = 0;

#pragma omp for schedule(static) nowait
		for (size_t i = 0; i < side; i++) {
			first = i < first ? i : first;
			end = i + 1;
		}

		const double *grids[] = { from, to };

		for (int k = 0; k < 2 && first < end; k++) {
			struct pages pages = pages_of(grids[k], first * side, end * side);

			all += pages.all;
			local += pages.local;
		}
	}
	return (struct pages){ all, local };
}

static bool is_right(double sweeps)
{
	for (size_t i = 0; i < side; i++)
		for (size_t j = 0; j < side; j++)
			if (from[i * side + j] != (double)(i + j) + sweeps)
				return false;
	return true;
}

int main(int argc, char **argv)
{
	struct options options = options_from(argc, argv, "a five-point stencil on a square grid, again and again");
	struct progress progress;
	bool look_now, goes_on;

	side = (size_t)sqrt((double)(options.mib << 20) / sizeof(double));
	from = array_of(side * side);
	to = array_of(side * side);
	for (size_t i = 0; i < side; i++)
		for (size_t j = 0; j < side; j++)
			from[i * side + j] = to[i * side + j] = (double)(i + j);

	progress_begin(&progress, &options, look());
	do {
		sweep();
		goes_on = progress_goes_on(&progress, &look_now);
		if (look_now)
			progress_look(&progress, look());
	} while (goes_on);
	return progress_end(&progress, look(), is_right((double)progress.passes));
}
