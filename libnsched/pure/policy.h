/* A policy: looks at a situation and makes a plan. One file each, listed in policies.h. */
#ifndef NSCHED_POLICY_H
#define NSCHED_POLICY_H

#include "pure/estimate.h"
#include "pure/plan.h"
#include "pure/policies.h"
#include "pure/situation.h"

/* What the policy may do; what it may not, it has to leave out of the plan. */
struct policy_rules {
	bool threads, pages; /* it may move these */
};

/* What a placement costs by the policy's own measure: load counts first, and memory where load is the same. Each policy
 * says what it puts in; units are its own, less is better. */
struct policy_cost {
	double load, memory;
};

struct policy_ops {
	const char *name;
	/* Adds the moves it wants to an empty plan. 0 or -ENOMEM. Call it through policy_decide. */
	int (*decide)(const struct situation *situation, const struct policy_rules *rules, struct plan *plan);
	/* What it holds a placement to cost: no plan of it costs more than the situation. NULL: it makes no plans. -ENOMEM. */
	int (*cost)(const struct estimate *placement, struct policy_cost *cost);
	bool settles;        /* a thread stays on the node where it begins until a plan says otherwise, as where nodes were its home at birth (Focht) */
	bool watches;        /* it moves nothing, and wants nothing moved for its sake: processes that are planned together stay where they are, too */
	bool touches;        /* it needs to know who touched memory at the look before: situation_chunk's `last` */
};

/* The policy of this name, NULL if there is none; and the i-th, NULL behind the last. */
const struct policy_ops *policy_find(const char *name);
const struct policy_ops *policy_at(unsigned i);

/* The policy's plan for the situation, into an empty one: the same for the same situation, and the same but for the
 * names if nodes are numbered otherwise: where nodes are alike, the lowest number of the operating system goes
 * first. On one node it is empty. 0 or -ENOMEM. */
int policy_decide(const struct policy_ops *policy, const struct situation *situation, const struct policy_rules *rules,
                  struct plan *plan);

/* The policies themselves, for policy.c, and each for its own file. */
#define POLICIES_DECLARE(identifier, name, what) extern const struct policy_ops policy_##identifier;
POLICIES(POLICIES_DECLARE)

/* Is `after` worse than `before`, beyond what sums of floats differ by? */
bool policy_worse(const struct policy_cost *after, const struct policy_cost *before);

#endif
