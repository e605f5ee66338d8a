/* A plugin of a program's, with OpenMP inside. */
long plugin_sum(void);

long plugin_sum(void)
{
	long total = 0;
	for (int round = 0; round < 50; round++) {
#pragma omp parallel for reduction(+ : total) num_threads(3)
		for (long i = 0; i < 100000; i++) total += i % 7;
	}
	return total;
}
