/* stay: watches and moves nothing, as any scheduler without knowledge of NUMA does by itself (Linux's O(1) scheduler of
 * 2.5, or v3.7 as it was released): the operating system balances load over the CPUs, blind to memory. What
 * the others are measured against, and what nsched costs by itself. */
#include <stddef.h>

#include "pure/policy.h"
#include "pure/pure.h"

static int decide(const struct situation *situation, const struct policy_rules *rules, struct plan *plan)
{
	(void)situation, (void)rules, (void)plan;
	return 0;
}

static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	(void)placement;
	*cost = (struct policy_cost){ 0 };
	return 0;
}

const struct policy_ops policy_stay = { .name = "stay", .decide = decide, .cost = cost, .watches = true };
