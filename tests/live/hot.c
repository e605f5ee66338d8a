/* A thread with two loops: one over a small buffer that fits in any cache, on the node where the thread begins, and one
 * over a large array on another node. The first takes more of the time, the second does all the traffic: it has to
 * decide where the thread goes (tests/live/footprint).
 *
 *   hot SECONDS BEGIN_CPU ARRAY_CPU
 *
 * Prints where the thread is at the end, and how the time was spent. In the emulated machine the last third is a lap of
 * its own. Memory is not moved: by NSCHED_MOVE_PAGES=0. */
#define _GNU_SOURCE
#include <nsched.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../numabox/mark.h"

enum {
	HOT_BYTES = 8192,
	COLD_BYTES = 16 << 20,
	STRETCH = 64 << 10,     /* bytes of the array between two turns of the small loop */
	LINE = 64,
};
#define HOT_TIMES 1.5           /* the small loop takes so many times as long as the large one */
#define MARK "/run/numabox/mark" /* there only inside the emulated machine */

static struct {
	nsched_t *nsched;
	uint64_t *hot, *cold;
	cpu_set_t all;
	double seconds, hot_s, cold_s;
	unsigned end_node;
	long begin_cpu;
	volatile uint64_t sum;
} work;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	perror(what);
	exit(99);
}

static void sit_on(const cpu_set_t *set)
{
	if (sched_setaffinity(0, sizeof(*set), set))
		fail("sched_setaffinity");
}

static void sit_on_cpu(long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sit_on(&set);
}

static void *filled(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	return memset(at, 1, bytes);
}

static unsigned node_of_thread(void)
{
	unsigned cpu = 0, node = 0;

	return syscall(SYS_getcpu, &cpu, &node, NULL) ? 99 : node;
}

/* A stretch of the array; then the small buffer, until that took HOT_TIMES as long. */
static void turn(size_t from)
{
	double begin = now(), cold_s, hot_s;
	uint64_t sum = 0;

	for (size_t i = from; i < from + STRETCH; i += LINE)
		sum += work.cold[i / sizeof(uint64_t)];
	cold_s = now() - begin;
	begin = now();
	do {
		for (size_t i = 0; i < HOT_BYTES / sizeof(uint64_t); i++)
			sum += work.hot[i];
		hot_s = now() - begin;
	} while (hot_s < HOT_TIMES * cold_s);
	work.cold_s += cold_s;
	work.hot_s += hot_s;
	work.sum = work.sum + sum;
}

static void *worker(void *arg)
{
	nsched_thread_t *thread = NULL;
	double begin = now();
	bool lap = access(MARK, F_OK) == 0;

	sit_on_cpu(work.begin_cpu); /* it stays there when it may leave: nobody else wants that CPU */
	sit_on(&work.all);
	if (nsched_thread_register(work.nsched, &thread))
		fail("nsched_thread_register");
	for (size_t at = 0; now() - begin < work.seconds; at = (at + STRETCH) % COLD_BYTES) {
		turn(at);
		if (lap && now() - begin > work.seconds * 2 / 3) {
			lap = false;
			NUMABOX_LAP();
		}
	}
	work.end_node = node_of_thread();
	nsched_thread_unregister(thread);
	return arg;
}

int main(int argc, char **argv)
{
	unsigned hot_node, cold_node;
	pthread_t thread;

	if (argc != 4) {
		fprintf(stderr, "usage: hot SECONDS BEGIN_CPU ARRAY_CPU\n");
		return 2;
	}
	work.seconds = atof(argv[1]);
	if (sched_getaffinity(0, sizeof(work.all), &work.all))
		fail("sched_getaffinity");
	sit_on_cpu(atol(argv[3]));
	cold_node = node_of_thread();
	work.cold = filled(COLD_BYTES);
	work.begin_cpu = atol(argv[2]);
	sit_on_cpu(work.begin_cpu);
	hot_node = node_of_thread();
	work.hot = filled(HOT_BYTES);
	sit_on(&work.all); /* what nsched takes for the process's CPUs */
	if (nsched_open(NULL, &work.nsched) || nsched_start(work.nsched))
		fail("nsched_open");
	if (pthread_create(&thread, NULL, worker, NULL))
		fail("pthread_create");
	pthread_join(thread, NULL);
	printf("small loop on node %u: %.0f %% of the time; array on node %u; the thread ends on node %u\n", hot_node,
	       100 * work.hot_s / (work.hot_s + work.cold_s), cold_node, work.end_node);
	nsched_close(work.nsched);
	return work.end_node == cold_node ? 0 : 1;
}
