/* balancenuma: Mel Gorman's automatic NUMA balancing, version 10 (linux-kernel, December 2012; merged as the base of all that
 * came after in Linux 3.8).
 *
 * What decides: who touches a page. One that was touched from the same node twice in a row, and lies elsewhere, is moved to
 * that node. Threads are placed by CPU load alone, as if memory did not matter: a thread that the balancer puts on another
 * node pulls its memory after it.
 *
 * Not to be had in user space: single touches (pure/touch.h says what stands for them). Threads are left to the system's own
 * balancer, unbound; only where a node has threads that wait for a CPU while another node has one free does
 * one of them move, as that balancer would do it. */
#include "pure/balance.h"
#include "pure/touch.h"
#include "pure/pure.h"

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	int ret = draft_begin(&d, s, rules);
	if (ret) return ret;
	balance_relieve(&d, false, NULL, "to a free CPU");
	touch_follow(&d, 0, "touched twice by that node");
	return draft_end(&d, &policy_balancenuma, plan);
}

/* Threads that wait for a CPU; then remote accesses. */
static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	struct load load;
	load_of(&load, placement->situation, placement->thread_node);
	*cost = (struct policy_cost){ load_queued(&load), touch_remote(placement) };
	return 0;
}

const struct policy_ops policy_balancenuma = { .name = "balancenuma", .decide = decide, .cost = cost, .touches = true };
