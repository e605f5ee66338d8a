/* What counters say of a thread: how many of its accesses go to its own node's memory and to other
 * nodes' (rates, decaying), how much of what samples say of its memory is true, and whether a move helped.
 *
 * Clock samples are time at instructions that touch memory; they can't tell a block in a cache from one
 * that misses. Counters can, but know no addresses. So samples say which memory, counters how much of it. */
#ifndef NSCHED_COUNTED_H
#define NSCHED_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

enum { COUNTED_LOCAL, COUNTED_REMOTE, COUNTED_KINDS };

/* How complete the events are: demand misses leave out what the prefetcher fetched in time. */
enum counted_cover { COUNTED_ALL, COUNTED_DEMAND };

enum counted_verdict {
	COUNTED_OPEN,      /* not judged yet, or nothing to judge */
	COUNTED_HELPED,
	COUNTED_NO_HELP,
};

/* All zero at the start. */
struct counted {
	uint64_t at_ns;                      /* of the last reading; 0: none yet */
	uint64_t last[COUNTED_KINDS];
	uint64_t watched_ns;                 /* time between readings so far */
	float rate[COUNTED_KINDS];           /* accesses per ns */
	uint64_t judge_ns;                   /* a move is on trial since; 0: none */
	uint64_t trial[COUNTED_KINDS];       /* counted on trial, once it has settled */
	float remote_before;                 /* its remote share before the move */
};

/* A reading: counts since some beginning, at `at_ns`. One that goes back in time or count (a counter that
 * was started anew) begins again. What was seen counts half after `half_life_ns`. */
void counted_add(struct counted *counted, uint64_t at_ns, const uint64_t value[COUNTED_KINDS], uint64_t half_life_ns);

/* Has it been watched long enough to say something? */
bool counted_known(const struct counted *counted);

/* Share of the accesses that went to other nodes, 0 to 1; 0 without any. */
float counted_remote_share(const struct counted *counted);

/* The part of `sampled_rate` (accesses per ns, from samples) that counters bear out: 0 to 1. 1 where they
 * say nothing yet. */
float counted_part(const struct counted *counted, float sampled_rate, enum counted_cover cover);

/* The thread, or its memory, has been moved: what is counted from now on judges that. */
void counted_moved(struct counted *counted, uint64_t now_ns);

/* The verdict on the last move, told once. */
enum counted_verdict counted_judge(struct counted *counted, uint64_t now_ns);

#endif
