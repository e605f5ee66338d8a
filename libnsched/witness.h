/* The witness of a session: sees what the session learns at fixed points of its steps from words that other threads
 * and processes change at any time. A recorder notes it (recorder.h); a replay puts in its place what was noted. What comes by clock,
 * hands, sources, counters and eyes is noted by those that stand between them and the session.
 *
 * All hooks are called by the stepping thread; none is NULL. */
#ifndef NSCHED_WITNESS_H
#define NSCHED_WITNESS_H

#include "neighbours.h"
#include "pure/plan.h"
#include "pure/situation.h"
#include "pure/trial.h"
#include "ranges.h"
#include "registry.h"

struct witness_ops {
	/* Around a step; `end` also at the end of session_init. */
	void (*begin)(void *state);
	void (*end)(void *state);

	/* The registry has been seen: seen_n, and each thread's `seen`; and whether all are to be looked at. */
	void (*threads)(void *state, struct registry *registry, bool *look_at_all);

	/* The thread was bound or looked at, which said `ret`, and has been seen since. */
	void (*bound)(void *state, struct nsched_thread *thread, int *ret);

	/* The thread has told of these uses of memory, REGISTRY_TOUCHES at the most. */
	void (*touches)(void *state, struct nsched_thread *thread, uint64_t *addr, uint32_t *n);

	/* These regions were gone through since the last step, TRIAL_REGIONS at the most. */
	void (*regions)(void *state, struct trial_seen *seen, unsigned *n);

	/* Ranges and hints are about to be read, under their lock. */
	void (*ranges)(void *state, struct ranges *ranges);

	/* The plan for all processes has been looked at. */
	void (*neighbours)(void *state, struct neighbours *neighbours, enum neighbours_mode *mode);

	/* This is to be done, and this is why. Nothing can be changed here. */
	void (*plan)(void *state, const struct situation *situation, const struct plan *plan);
};

#endif
