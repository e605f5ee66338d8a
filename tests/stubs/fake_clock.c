#include "fake_clock.h"

static uint64_t now_ns(void *state)
{
	return ((struct fake_clock *)state)->now_ns;
}

static uint64_t own_cpu_ns(void *state)
{
	return ((struct fake_clock *)state)->own_ns;
}

static uint64_t process_cpu_ns(void *state)
{
	return ((struct fake_clock *)state)->process_ns;
}

void fake_clock_pass(struct fake_clock *clock, uint64_t ns, unsigned threads)
{
	clock->now_ns += ns;
	clock->process_ns += ns * threads;
}

const struct clock_ops fake_clock_ops = { now_ns, own_cpu_ns, process_cpu_ns };
