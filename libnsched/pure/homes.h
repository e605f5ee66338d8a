/* Home nodes: for the two policies that give each thread one. */
#ifndef NSCHED_HOMES_H
#define NSCHED_HOMES_H

#include "pure/draft.h"

/* Bytes of memory that each thread uses, by the node where they lie: [thread * n_nodes + node]. What several use is parted
 * by how much each does. NULL without memory; to be freed. */
double *homes_resident(const struct situation *situation);

/* Threads that are away from home go home if the load gets no more uneven by it, or change places with one whose home
 * is where they are; home[thread], -1: has none. Then emptier nodes steal: first threads whose home they are, then those that
 * are away from home anyhow. */
void homes_balance(struct draft *draft, const int16_t *home);

/* What differs between the two: the home of each thread, for homes_balance (NULL without memory; to be freed), and what
 * becomes of memory once the threads have their places, or NULL: it stays. */
struct homes_rule {
	int16_t *(*find)(const struct situation *situation);
	void (*memory)(struct draft *draft, const int16_t *home);
};

/* policy_ops' decide and cost for such a rule. The cost: unevenness first; then how many threads are away from home. */
int homes_decide(const struct homes_rule *rule, const struct policy_ops *policy, const struct situation *situation,
                 const struct policy_rules *rules, struct plan *plan);
int homes_cost(const struct homes_rule *rule, const struct estimate *placement, struct policy_cost *cost);

#endif
