/* Threads with memory of their own that is on another node: each fills its memory where it is, is sent to the next node,
 * and then may run anywhere again. A scheduler that brings threads to their memory sends them back, whether or not it
 * may move pages. Ends when LEAST threads are where they filled, at the latest after SECONDS; says how many are, and exits
 * with 0 if they are enough.
 * usage: crossed SECONDS LEAST CPUS-PER-NODE */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "places.h"

enum { THREADS_MOST = 64, MIB = 8, GAP = 1 << 20, LEAST_S = 15 /* a look by chance is none */ };

static struct {
	int cpus, per_node;
	pthread_barrier_t step;
	atomic_bool ends;
	unsigned home[THREADS_MOST];
	atomic_uint now[THREADS_MOST];
} work;

/* A hole behind it keeps the kernel from making one range of all threads' memory. */
static double *fill(size_t n)
{
	char *memory = mmap(NULL, n * sizeof(double) + GAP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, n * sizeof(double), PROT_READ | PROT_WRITE) != 0) {
		perror("no memory");
		exit(2);
	}
	for (size_t i = 0; i < n; i++)
		((double *)(void *)memory)[i] = 1;
	return (double *)(void *)memory;
}

static void *thread(void *arg)
{
	int self = (int)(size_t)arg;
	size_t n = (MIB << 20) / sizeof(double);

	run_on(work.cpus, self);
	work.home[self] = node();

	double *mine = fill(n), sum = 0;

	pthread_barrier_wait(&work.step);
	run_on(work.cpus, (self + work.per_node) % work.cpus);
	for (size_t i = 0; i < n; i++)
		sum += mine[i];
	pthread_barrier_wait(&work.step);
	work.now[self] = node();
	pthread_barrier_wait(&work.step);
	run_on(work.cpus, -1);
	sched_yield();
	while (!work.ends) {
		for (size_t i = 0; i < n; i++)
			mine[i] = mine[i] * 0.5 + sum;
		work.now[self] = node();
	}
	return NULL;
}

static int back(void)
{
	int n = 0;

	for (int i = 0; i < work.cpus; i++)
		n += work.home[i] == work.now[i];
	return n;
}

int main(int argc, char **argv)
{
	const struct timespec wait = { 0, 200000000 };
	pthread_t threads[THREADS_MOST];
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	int at_first, n;
	cpu_set_t set;

	if (argc != 4 || sched_getaffinity(0, sizeof(set), &set) != 0)
		return 2;
	work.cpus = CPU_COUNT(&set);
	work.per_node = atoi(argv[3]);
	if (work.cpus > THREADS_MOST || pthread_barrier_init(&work.step, NULL, (unsigned)work.cpus + 1) != 0)
		return 2;
	for (int i = 0; i < work.cpus; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(size_t)i);
	for (int i = 0; i < 3; i++)
		pthread_barrier_wait(&work.step);
	at_first = back();
	for (double begin = now_s(); now_s() - begin < seconds && (back() < atoi(argv[2]) || now_s() - begin < LEAST_S);)
		nanosleep(&wait, NULL);
	n = back();
	work.ends = true;
	for (int i = 0; i < work.cpus; i++)
		pthread_join(threads[i], NULL);
	printf("%d of %d threads are where their memory is (%d at first)\n", n, work.cpus, at_first);
	return n < atoi(argv[2]);
}
