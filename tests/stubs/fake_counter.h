/* Counters that say what they are told. */
#ifndef TESTS_STUBS_FAKE_COUNTER_H
#define TESTS_STUBS_FAKE_COUNTER_H

#include "fake_clock.h"
#include "sys/counter.h"

enum { FAKE_COUNTER_THREADS = 4096 };

struct fake_counter {
	struct fake_clock *clock;
	int start_error;
	const char *why;
	struct counter_about about;
	struct { float rate[COUNTERS]; } thread[FAKE_COUNTER_THREADS]; /* accesses per ns, since the clock began */
	int read_error;
	unsigned adds, removes, reads, stops, looks, leaves;
};

extern struct fake_counter fake_counter;
extern const struct counter_ops fake_counter_ops;

#endif
