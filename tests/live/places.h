/* Where live test programs put their threads, and how late it is. */
#ifndef TESTS_LIVE_PLACES_H
#define TESTS_LIVE_PLACES_H

#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The node that the calling thread runs on. */
static unsigned node(void)
{
	unsigned cpu = 0, node = 0;

	syscall(SYS_getcpu, &cpu, &node, NULL);
	return node;
}

/* The calling thread to one of that many CPUs, at once; to any of them: -1. */
static void run_on(int cpus, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int i = 0; i < cpus; i++) {
		if (cpu < 0 || i == cpu)
			CPU_SET(i, &set);
	}
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		perror("sched_setaffinity");
	if (cpu >= 0)
		sched_yield();
}

#endif
