/* Many small parallel regions over one array that a single thread has touched first, so that nsched has something
 * to settle: for SECONDS over and over, then REGIONS more.  small_regions SECONDS REGIONS */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 4 << 20, SLICE = 2048 }; /* 32 MiB; 16 KiB of it a thread and region */

static double *array;

static double one_region(long turn)
{
	double sum = 0;

#pragma omp parallel reduction(+ : sum)
	{
		size_t own = ELEMENTS / (size_t)omp_get_num_threads();
		const double *slice = array + own * (size_t)omp_get_thread_num() + (size_t)turn * SLICE % (own - SLICE);

		for (size_t i = 0; i < SLICE; i++)
			sum += slice[i];
	}
	return sum;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[1]) : 0, begin, sum = 0;
	long regions = argc > 2 ? atol(argv[2]) : 0, turn = 0;

	array = malloc(ELEMENTS * sizeof(*array));
	if (regions <= 0 || array == NULL)
		return 2;
	for (size_t i = 0; i < ELEMENTS; i++)
		array[i] = 1;
	for (begin = omp_get_wtime(); omp_get_wtime() - begin < seconds; turn++)
		sum += one_region(turn);
	for (long i = 0; i < regions; i++, turn++)
		sum += one_region(turn);
	printf("regions %ld, then %ld, of %d threads%s\n", turn - regions, regions, omp_get_max_threads(),
	       sum == (double)turn * SLICE * omp_get_max_threads() ? "" : ": WRONG SUM");
	return 0;
}
