/* stay: watches and moves nothing, as any scheduler without knowledge of NUMA. What the others are
 * measured against, and what nsched costs by itself. */
#include <stddef.h>

#include "pure/policy.h"
#include "pure/pure.h"

static int decide(const struct situation *situation, const struct policy_rules *rules, struct plan *plan)
{
	(void)situation, (void)rules, (void)plan;
	return 0;
}

const struct policy_ops policy_stay = { "stay", decide };
