/* Time, by way of a pointer, so that the simulator and the tests have their own. */
#ifndef NSCHED_CLOCK_H
#define NSCHED_CLOCK_H

#include <stdint.h>

struct clock_ops {
	uint64_t (*now_ns)(void *state);         /* monotonic */
	uint64_t (*own_cpu_ns)(void *state);     /* CPU time of the calling thread */
	uint64_t (*process_cpu_ns)(void *state); /* CPU time of the whole process */
};

extern const struct clock_ops clock_linux;

#endif
