/* A plan while it is made: where threads and chunks are to be, and why; what that means for load and cost is at hand at
 * any time. At the end, what differs from the situation becomes moves. For every policy. */
#ifndef NSCHED_DRAFT_H
#define NSCHED_DRAFT_H

#include "pure/estimate.h"
#include "pure/load.h"
#include "pure/plan.h"
#include "pure/policy.h"

struct draft {
	const struct situation *s;
	const struct policy_rules *rules;
	struct estimate before, after;
	struct load load;              /* after */
	const char **thread_why;       /* NULL: nothing was decided of it */
	const char **chunk_why;
};

/* 0 or -ENOMEM; then there is nothing to free. */
int draft_begin(struct draft *draft, const struct situation *situation, const struct policy_rules *rules);

/* May the thread be moved: by the rules, not bound by someone else, and its place known? And may the chunk? */
bool draft_may_thread(const struct draft *draft, unsigned thread);
bool draft_may_chunk(const struct draft *draft, unsigned chunk);

/* Has nobody placed the thread yet? */
bool draft_is_new(const struct draft *draft, unsigned thread);

/* The thread, which must be one that may, goes to a node; to the one where it runs: it is bound there. `why` is a literal. */
void draft_thread(struct draft *draft, unsigned thread, unsigned node, const char *why);

/* The chunk goes to a node that has memory. */
void draft_chunk(struct draft *draft, unsigned chunk, unsigned node, const char *why);

/* All threads that may be moved, and of which nothing was decided, are bound where they run. */
void draft_hold(struct draft *draft, const char *why);

/* permille of the chunk's traffic that is from threads on the node. */
uint16_t draft_chunk_support(const struct draft *draft, unsigned chunk, int node);

/* Frees the draft without a plan. */
void draft_drop(struct draft *draft);

/* Adds the moves to the plan; if the policy holds them to cost more than the situation, only those threads are
 * bound that stay where they run. Frees the draft. 0 or -ENOMEM. */
int draft_end(struct draft *draft, const struct policy_ops *policy, struct plan *plan);

#endif
