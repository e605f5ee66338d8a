/* The parts of joint's search. policy_joint.c says what it does as a whole.
 *
 *   joint.c           what may move, and what a placement costs
 *   joint_threads.c   threads on nodes, for memory as it lies
 *   joint_memory.c    chunks on nodes, for threads as they run
 *   joint_talks.c     threads that talk to each other, drawn together
 *   joint_build.c     another beginning: threads with their memory, put down one after the other
 *
 * All lower one figure: what memory costs, what sharing cores costs, and for each thing that is moved what its
 * move takes of each second until the horizon, and a friction: what it must gain at least not to be noise. */
#ifndef NSCHED_JOINT_H
#define NSCHED_JOINT_H

#include "pure/groups.h"
#include "pure/load.h"
#include "pure/policy.h"

struct joint {
	const struct situation *s;
	const struct policy_rules *rules;
	const struct estimate *before;
	struct estimate e;                 /* the placement that is searched from */
	float per_s;                       /* of a cost in ns: what it takes of each second until the horizon */
	unsigned cap[MACHINE_NODES];       /* threads that a node takes */
	unsigned cores[MACHINE_NODES];
	bool scarce;                       /* more threads than CPUs */
	const float *thread_price;         /* of each thread: its move and its friction, ns each second */
	const float *chunk_price;          /* of each chunk: its friction */
	int16_t *seen;                     /* where each thread was when chunks were looked at last, */
	bool looked;                       /* if they were in this search */
	double ideal;                      /* all cost, were all memory local and no node overloaded */
	double likely_ideal;               /* the likely cost, were all memory local and spread evenly */
};

/* What a thread loses each second by sharing its core: hardware threads of one core get about two thirds of what they would
 * each alone, on the SMT-2 servers of the last ten years. */
#define JOINT_CORE_SHARED 3e8f

bool joint_may_thread(const struct joint *joint, unsigned thread);
bool joint_may_chunk(const struct joint *joint, unsigned chunk);

/* Moves threads until nothing gains. 1: something moved, 0: nothing did, -ENOMEM. */
int joint_threads(struct joint *joint);

/* One look at every chunk that may have a better place by now: did any move? */
bool joint_memory(struct joint *joint);

/* Draws threads together that talk to each other: did any move? */
bool joint_talks(struct joint *joint);

/* Puts all threads down anew, with the memory that they alone use; groups of threads that share memory as one, if
 * `groups` is not NULL. 0 or -ENOMEM. */
int joint_build(struct joint *joint, const struct groups *groups);

/* What comes on top of memory's cost (estimate_cost, estimate_likely_cost), ns each second: sharing cores, and moving. */
double joint_prices(const struct joint *joint);

/* What copying the rest of a chunk to a node takes of each second. */
float joint_copy(const struct joint *joint, unsigned chunk, unsigned node);

/* Threads that share cores. */
unsigned joint_sharing(const unsigned *cores, const unsigned *threads_on, unsigned nodes);

/* By how many more threads share cores if one goes from one node (-1: from nowhere) to another: -1, 0 or 1. */
int joint_more_sharing(const struct joint *joint, const unsigned *threads_on, int from, unsigned to);

#endif
