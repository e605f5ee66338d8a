#include "sys/clock.h"

#include <stddef.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec t = { 0 };
	if (clock_gettime(id, &t)) return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(void *state)
{
	(void)state;
	return read_clock(CLOCK_MONOTONIC);
}

static uint64_t own_cpu_ns(void *state)
{
	(void)state;
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t process_cpu_ns(void *state)
{
	(void)state;
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

const struct clock_ops clock_linux = { now_ns, own_cpu_ns, process_cpu_ns };

static uint64_t start_ticks, start_ns;

void clock_ticks_start(void)
{
	if (start_ticks) return;
	start_ns = now_ns(NULL);
	start_ticks = clock_ticks();
}

double clock_ticks_to_ns(uint64_t ticks)
{
	uint64_t passed = clock_ticks() - start_ticks;
	if (!start_ticks || !passed) return 0;
	return (double)ticks * (double)(now_ns(NULL) - start_ns) / (double)passed;
}
