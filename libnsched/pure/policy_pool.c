/* pool: Erich Focht's pooling NUMA scheduler with initial load balancing (patches 01 and 02 of the node affine scheduler,
 * linux-kernel, September and October 2002).
 *
 * What decides: the CPUs of a node are a pool, and nodes are to have equal load. A new task goes to the least loaded node.
 * Inside its pool a CPU balances as ever; to steal from another node it has to wait, the longer the nearer its
 * own node is to the average, and the farther the other node is. So the emptiest node steals first, and a short-lived
 * imbalance moves nothing.
 *
 * Not to be had in user space: the run queues, and the instant at which a CPU runs out of work. Done instead: nodes are looked
 * at once in an interval; how long a node has been short of threads is remembered from look to look; a steal is a
 * binding to the other node. Memory is not moved. */
#include "pure/balance.h"
#include "pure/pure.h"

static int decide(const struct situation *situation, const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	int ret = draft_begin(&d, situation, rules);
	if (ret) return ret;
	balance_new(&d, "new: to the least loaded node");
	balance_steal(&d, NULL, "stolen by an emptier node");
	draft_hold(&d, "hold where it was placed");
	return draft_end(&d, &policy_pool, plan);
}

const struct policy_ops policy_pool = { .name = "pool", .decide = decide, .cost = balance_cost };
