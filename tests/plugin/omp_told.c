/* Tasks with dependences, loops with a static and a dynamic schedule, and a region in which one thread works four times
 * as long as the others: what OpenMP can tell without any sampling. usage: omp_told SECONDS */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BLOCKS = 32, BYTES = 1 << 16 };

static char block[BLOCKS][BYTES];
static volatile double sink;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void spin(int times)
{
	double x = times;
	for (int i = 0; i < times * 1000; i++) x = x * 0.999 + 1;
	sink = x;
}

static void tasks(void)
{
#pragma omp parallel num_threads(2)
#pragma omp single
	for (int b = 0; b < BLOCKS; b++) {
#pragma omp task depend(inout : block[b])
		for (int i = 0; i < BYTES; i += 64) block[b][i]++;
	}
}

static void steady(void)
{
#pragma omp parallel for schedule(static) num_threads(2)
	for (int i = 0; i < 8; i++) spin(2);
}

static void wandering(void)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(2)
	for (int i = 0; i < 64; i++) spin(1 + i % 3);
}

static void lopsided(void)
{
#pragma omp parallel for schedule(static, 1) num_threads(2)
	for (int i = 0; i < 2; i++) spin(i ? 5 : 20);
}

int main(int argc, char **argv)
{
	double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	while (now() < end) {
		tasks();
		steady();
		wandering();
		lopsided();
	}
	printf("%d\n", block[3][64] != 0);
	return 0;
}
