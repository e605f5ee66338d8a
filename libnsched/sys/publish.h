/* nsched's own figures as software-defined events of PAPI: any PAPI program or tool in the same process reads
 * them as sde:::nsched::NAME, beside the hardware's. They are plain numbers that the helper thread writes once
 * in a step; reading them costs nsched nothing. */
#ifndef NSCHED_PUBLISH_H
#define NSCHED_PUBLISH_H

#include <stdint.h>

/* FIGURE(name, INSTANT or DELTA, what it is): DELTA ones count from when they are first asked for. */
#define PUBLISH_FIGURES(FIGURE) \
	FIGURE(local_permille, INSTANT, "share of the traffic seen lately that was to the thread's own node; 1001: none seen") \
	FIGURE(overhead_permille, INSTANT, "nsched's own CPU time in the process's") \
	FIGURE(remote_permille, INSTANT, "share of remote accesses by the counters; 1001: not known") \
	FIGURE(memory_mbs, INSTANT, "10^6 bytes a second that memory served lately, for all programs of the machine; 0: not known") \
	FIGURE(busiest_node_mbs, INSTANT, "the same of the node that served most") \
	FIGURE(threads, INSTANT, "threads served") \
	FIGURE(steps, DELTA, "times the scheduler has looked") \
	FIGURE(samples, DELTA, "pieces of evidence taken in") \
	FIGURE(thread_moves, DELTA, "threads bound to another node") \
	FIGURE(moved_bytes, DELTA, "memory moved") \
	FIGURE(failed_moves, DELTA, "pages and threads that did not go")

enum publish_figure {
#define PUBLISH_ENUM(name, mode, what) PUBLISH_##name,
	PUBLISH_FIGURES(PUBLISH_ENUM)
#undef PUBLISH_ENUM
	PUBLISH_COUNT
};

/* Makes the events, once in a process, where it has libsde or PAPI loaded; loads libsde then. 0, or -ENOENT where
 * it has neither (any later call may try again). PAPI must not have been initialized before without libsde: it
 * looks for it once. */
int publish_start(void);

/* 1 where there is someone who may be reading. */
int publish_wanted(void);

void publish_put(enum publish_figure figure, uint64_t value);

#endif
