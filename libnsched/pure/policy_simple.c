/* simple: Michael Hohnbaum's simple NUMA scheduler, revision 2 (linux-kernel, October 2002, for Linux 2.5.40).
 *
 * What decides: the number of runnable tasks, on CPUs and on nodes. A new task goes to the least loaded CPU of the least
 * loaded node. Balancing looks for a busy CPU in its own node first, and takes from another node only if the
 * imbalance is clear. Nothing is known of memory; what helps is that tasks seldom cross nodes.
 *
 * Not to be had in user space: choosing the CPU that a task starts on, and its run queue. Done instead: a thread that
 * nobody has placed is bound, when it is first seen, to the node that has the least; CPUs inside a node are
 * left to the system's own balancer; a binding to another node is a steal. That a task seldom crosses nodes is done by binding it where
 * it is, from when it is seen to compute on memory: one that only sleeps, wakes and starts others goes wherever it is woken, there as here, and
 * those that it starts are not bound by its mask. Memory is not moved. */
#include "pure/balance.h"
#include "pure/pure.h"

/* A node must be half as full again as the other before a task crosses: more than the quarter by which the O(1) scheduler
 * balances CPUs (load_balance in 2.5's sched.c), since a remote cache and memory cost more. */
#define CLEAR_IMBALANCE 1.5f

static void hold_who_computes(struct draft *d)
{
	unsigned nodes = d->s->machine->n_nodes;
	for (unsigned t = 0; t < d->s->n_threads; t++) {
		float reach = 0;
		for (unsigned n = 0; n < nodes; n++) reach += d->before.reach[t * nodes + n];
		if (reach > 0 && !d->thread_why[t] && draft_may_thread(d, t)) d->thread_why[t] = "hold where it was placed";
	}
}

static int decide(const struct situation *situation, const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	int ret = draft_begin(&d, situation, rules);
	if (ret) return ret;
	balance_new(&d, "new: to the least loaded node");
	/* a CPU without work takes some wherever there is any */
	balance_relieve(&d, false, NULL, "to a free CPU");
	balance_over(&d, CLEAR_IMBALANCE, NULL, "to the least loaded node");
	hold_who_computes(&d);
	return draft_end(&d, &policy_simple, plan);
}

const struct policy_ops policy_simple = { .name = "simple", .decide = decide, .cost = balance_cost };
