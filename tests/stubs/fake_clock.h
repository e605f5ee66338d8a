/* A clock that goes when it is told to. */
#ifndef TESTS_STUBS_FAKE_CLOCK_H
#define TESTS_STUBS_FAKE_CLOCK_H

#include "sys/clock.h"

struct fake_clock {
	uint64_t now_ns, own_ns, process_ns;
};

extern const struct clock_ops fake_clock_ops; /* state: struct fake_clock */

/* `ns` pass, in which `threads` threads of the program were busy. */
void fake_clock_pass(struct fake_clock *clock, uint64_t ns, unsigned threads);

#endif
