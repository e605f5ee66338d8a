/* concentric: the NUMA aware scheduler for Linux 2.5.58 and 2.5.59 by Martin Bligh, Erich Focht and Michael Hohnbaum
 * (linux-kernel, January 2003), with Andrew Theurer's circle of SMT siblings.
 *
 * What decides: load, in circles of CPUs. A CPU balances inside its node at every step, and only every tenth step is the circle
 * between nodes balanced, on node loads that decay (half of what was and half of what is), if the fullest is more
 * than a quarter fuller than the one that takes. The CPUs of a core are the innermost circle: a task that shares
 * a core goes to a core that is free before it would to any other CPU. New tasks start on the least loaded node.
 * On one node it does nothing at all.
 *
 * Not to be had in user space: the circle inside a node. The system's own balancer does that, among the CPUs of the node that
 * a thread is bound to, and free cores before siblings. Steps are looks: ten of them are a second at the default
 * interval, where the kernel's were a few hundred milliseconds. Memory is not moved. */
#include "pure/balance.h"
#include "pure/pure.h"

enum { OUTER_STEPS = 10 };       /* the circle between nodes is looked at every so many steps */
#define NODE_THRESHOLD 1.25f     /* and only an imbalance of more than this counts: NODE_THRESHOLD of 2.5.59's sched.c, 125 */

static float decayed(const struct draft *d, unsigned n)
{
	float past = d->s->past[n].load;
	return past > 0 ? past : load_per_cpu(&d->load, n);
}

/* The circle between nodes: half of the difference moves, as load_balance takes (busiest - mine) / 2 tasks. */
static void balance_outer(struct draft *d)
{
	int most = -1, least = -1;
	for (unsigned n = 0; n < d->s->machine->n_nodes; n++) {
		if (!d->s->machine->node[n].n_cpus) continue;
		if (most < 0 || decayed(d, n) > decayed(d, (unsigned)most)) most = (int)n;
		if (least < 0 || decayed(d, n) < decayed(d, (unsigned)least)) least = (int)n;
	}
	if (most < 0 || !(decayed(d, (unsigned)most) > NODE_THRESHOLD * decayed(d, (unsigned)least))) return;
	unsigned cpus = d->s->machine->node[most].n_cpus;   /* who runs is not stolen, only who waits */
	while (d->load.running[most] > cpus && load_gain(&d->load, (unsigned)most, (unsigned)least) > 0 && d->load.running[least] < load_part(&d->load, (unsigned)least)) {
		int t = balance_choose(d, (unsigned)most, (unsigned)least, NULL);
		if (t < 0) return;
		draft_thread(d, (unsigned)t, (unsigned)least, "outer circle: off the busiest node");
	}
}

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	int ret = draft_begin(&d, s, rules);
	if (ret) return ret;
	balance_new(&d, "new: to the least loaded node");
	if (s->step % OUTER_STEPS == 0) {
		balance_relieve(&d, true, NULL, "to a free core");
		balance_relieve(&d, false, NULL, "to a free CPU");
		balance_outer(&d);
	}
	draft_hold(&d, "hold where it was placed");
	return draft_end(&d, &policy_concentric, plan);
}

const struct policy_ops policy_concentric = { .name = "concentric", .decide = decide, .cost = balance_cost };
