/* How many bytes the memory of each node serves, for all programs of the machine together, as its own counters tell. It knows no threads
 * and no addresses: the report tells it, and nothing is decided by it. */
#ifndef NSCHED_BANDWIDTH_H
#define NSCHED_BANDWIDTH_H

#include <stdint.h>

#include "pure/uncore.h"

enum {
	BANDWIDTH_WHY = 160,
	BANDWIDTH_PARTS = 64,     /* pieces of memory told apart */
};

/* Memory that is counted as one: of a node, or of a few where the kernel does not tell them apart. */
struct bandwidth_part {
	uint64_t nodes_os;            /* bit N: node N of the operating system */
	double bytes[UNCORE_WAYS];    /* since the start */
};

struct bandwidth_ops {
	/* Probes by reading, and starts. 0, *state and *counted_by; or a negated errno and the reason in one line. `root` is in front of
	 * /sys (""). */
	int (*start)(const char *root, void **state, const char **counted_by, char why[BANDWIDTH_WHY]);

	/* Up to `most` parts, by their nodes; their number, or a negated errno where it is no more to be had. *at_ns: when (monotonic clock).
	 * A reading disturbs a CPU of each package for some microseconds. */
	int (*read)(void *state, uint64_t *at_ns, struct bandwidth_part *part, unsigned most);

	void (*stop)(void *state);

	/* In the child of a fork, in place of stop. */
	void (*forked)(void *state);
};

extern const struct bandwidth_ops bandwidth_uncore;

#endif
