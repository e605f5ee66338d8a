/* So many threads share out a fixed amount of work on memory: what it takes of CPU time, all threads of the process
 * together, is what a sampler makes longer.
 * usage: sampling THREADS PASSES; prints CPU seconds and wall seconds */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DOUBLES = 1 << 17, THREADS_FULL = 64 };  /* 1 MiB an array, three of them: more than a core's own caches */

static int doubles = DOUBLES;   /* fewer where threads are many */

static atomic_long left;

static void *work(void *arg)
{
	double *a = arg, *b = a + doubles, *c = b + doubles;
	while (atomic_fetch_sub(&left, 1) > 0)
		for (int i = 0; i < doubles; i++) a[i] = b[i] + 3 * c[i];
	return NULL;
}

static double seconds(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int threads = argc > 2 ? atoi(argv[1]) : 0;
	if (threads < 1 || threads > 4096) return 2;
	if (threads > THREADS_FULL) doubles = DOUBLES / (threads / THREADS_FULL);
	pthread_t *thread = calloc((size_t)threads, sizeof *thread);
	double **array = calloc((size_t)threads, sizeof *array);
	for (int t = 0; t < threads; t++) {
		array[t] = malloc(3 * (size_t)doubles * sizeof **array);
		for (int i = 0; i < 3 * doubles; i++) array[t][i] = i;
	}
	atomic_store(&left, atol(argv[2]));
	double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC);
	for (int t = 0; t < threads; t++) pthread_create(&thread[t], NULL, work, array[t]);
	for (int t = 0; t < threads; t++) pthread_join(thread[t], NULL);
	printf("%.4f %.4f\n", seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, seconds(CLOCK_MONOTONIC) - wall);
	return 0;
}
