#include "pure/policy.h"

#include <math.h>
#include <string.h>

#include "pure/renumber.h"
#include "pure/pure.h"

#define LOAD_SLACK 1e-10   /* loads are sums of doubles, and whole threads count */
#define MEMORY_SLACK 1e-5  /* memory is sums of floats */

#define LISTED(identifier, name, what) &policy_##identifier,
static const struct policy_ops *const policies[] = { POLICIES(LISTED) };

const struct policy_ops *policy_at(unsigned i)
{
	return i < sizeof policies / sizeof *policies ? policies[i] : NULL;
}

const struct policy_ops *policy_find(const char *name)
{
	for (unsigned i = 0; policy_at(i); i++)
		if (!strcmp(policies[i]->name, name)) return policies[i];
	return NULL;
}

bool policy_worse(const struct policy_cost *after, const struct policy_cost *before)
{
	double load = LOAD_SLACK * fabs(before->load), memory = MEMORY_SLACK * fabs(before->memory);
	if (after->load > before->load + load) return true;
	return !(after->load < before->load - load) && after->memory > before->memory + memory;
}

/* Nodes that are numbered in another order than the operating system's are renumbered for the policy, and its
 * moves back: what it does where nodes are alike does not depend on our numbers, nor do its sums. */
static int decide_renumbered(const struct policy_ops *policy, const struct situation *s, const struct policy_rules *rules,
                             struct plan *plan)
{
	struct renumbered r;
	unsigned order[MACHINE_NODES];
	renumber_order(s->machine, order);
	int ret = renumber(&r, s, order);
	if (ret) return ret;
	ret = policy->decide(&r.situation, rules, plan);
	for (unsigned i = 0; i < plan->n; i++) {
		struct move *move = &plan->move[i];
		if (move->from >= 0) move->from = (int16_t)order[move->from];
		if (move->to >= 0) move->to = (int16_t)order[move->to];
	}
	renumber_free(&r);
	return ret;
}

int policy_decide(const struct policy_ops *policy, const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	const struct machine *m = s->machine;
	if (!machine_worthwhile(m)) return 0;
	for (unsigned n = 1; n < m->n_nodes; n++)
		if (m->node[n].os < m->node[n - 1].os) return decide_renumbered(policy, s, rules, plan);
	return policy->decide(s, rules, plan);
}
