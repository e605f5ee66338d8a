/* A policy: looks at a situation and makes a plan. One file each, listed in the array of policy.c. */
#ifndef NSCHED_POLICY_H
#define NSCHED_POLICY_H

#include "pure/plan.h"
#include "pure/situation.h"

/* What the policy may do; what it may not, it has to leave out of the plan. */
struct policy_rules {
	bool threads, pages; /* it may move these */
};

struct policy_ops {
	const char *name;
	/* Adds the moves it wants to an empty plan. 0 or -ENOMEM. */
	int (*decide)(const struct situation *situation, const struct policy_rules *rules, struct plan *plan);
};

/* The policy of this name, NULL if there is none; and the i-th, NULL behind the last. */
const struct policy_ops *policy_find(const char *name);
const struct policy_ops *policy_at(unsigned i);

#endif
