/* Free of races, which ThreadSanitizer cannot know unless a tool tells it of OpenMP's own ordering. */
#include <stdio.h>

int main(void)
{
	long total = 0, twice = 0;

	for (int round = 0; round < 200; round++) {
#pragma omp parallel num_threads(2)
		{
#pragma omp critical
			total++;
#pragma omp barrier
#pragma omp single
			twice = 2 * total;
		}
	}
	printf("%ld %ld\n", total, twice);
	return 0;
}
