#include "fake_counter.h"

#include <stdio.h>

struct fake_counter fake_counter;

static int start(const struct counter_setup *setup, void **state, struct counter_about *about, char why[COUNTER_WHY])
{
	(void)setup;
	if (fake_counter.why) snprintf(why, COUNTER_WHY, "%s", fake_counter.why);
	*about = fake_counter.about;
	*state = &fake_counter;
	return fake_counter.start_error;
}

static int thread_add(void *state, unsigned thread, pid_t tid)
{
	(void)thread;
	(void)tid;
	((struct fake_counter *)state)->adds++;
	return 0;
}

static void thread_remove(void *state, unsigned thread)
{
	(void)thread;
	((struct fake_counter *)state)->removes++;
}

static int read(void *state, unsigned thread, uint64_t *at_ns, uint64_t value[COUNTERS])
{
	struct fake_counter *f = state;
	f->reads++;
	*at_ns = f->clock->now_ns;
	for (unsigned k = 0; k < COUNTERS; k++) value[k] = (uint64_t)((double)f->thread[thread].rate[k] * (double)f->clock->now_ns);
	return f->read_error;
}

static void look(void *state, unsigned thread)
{
	(void)thread;
	((struct fake_counter *)state)->looks++;
}

static void leave(void *state, unsigned thread)
{
	(void)thread;
	((struct fake_counter *)state)->leaves++;
}

static void stop(void *state)
{
	((struct fake_counter *)state)->stops++;
}

const struct counter_ops fake_counter_ops = { "fake", start, thread_add, thread_remove, read, look, leave, stop, NULL };
