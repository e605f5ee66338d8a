/* reconciled: Mel Gorman's reconciliation of NUMA balancing with the load balancer (Linux 5.7), with Hillf Danton's patch for
 * the idle CPUs that Jirka Hladky's tests asked for (Linux 5.8).
 *
 * What decides: faults by thread and by group, and load, neither against the other. Before a thread moves to the node with most
 * of its memory, both nodes are classed: to one with spare CPUs it goes if the load balancer would not take it
 * back; else only an exchange that pays lets it. A small imbalance, two tasks, is left alone while a node has spare
 * CPUs. Idle cores come before idle siblings. Pages move when the same node touched them twice in a row, shared ones only
 * to a node with clearly more of the touches.
 *
 * Not to be had in user space: faults, and choosing the CPU; idle cores are counted by node, and inside a node the system takes
 * them first by itself. The balancer between nodes, which in the kernel runs beside NUMA balancing, is part of
 * the policy, since a bound thread is out of the kernel's reach. The kernel's tasks move on as long as an exchange gains 3 %
 * (task_numa_compare's SMALLIMP), and rest since they look ever more seldom (update_task_scan_period, up to a minute); here a thread that was
 * moved asks for more each time. */
#include <errno.h>
#include <stdlib.h>

#include "pure/balance.h"
#include "pure/groups.h"
#include "pure/touch.h"
#include "pure/pure.h"

enum { IMBALANCE_ALLOWED = 2 };     /* tasks: a pair that talks to each other (adjust_numa_imbalance, imbalance_min) */
#define SMALL_GAIN 0.03f            /* an exchange that gains less is noise: fair.c's SMALLIMP, 30 of 1000 */
#define GAIN_AGAIN 0.1f             /* of one that was moved before: see situation_again */
#define GAIN_MOST 3.0f
#define SHARED_TOUCHES 0.5f         /* of the touches of a page must come from where it goes: with fair.c's 4/3 over where it is */

struct view {
	struct draft d;
	struct groups groups;
	float *group_reach;             /* [group * nodes + node] */
};

static void sum_groups(struct view *v)
{
	unsigned nodes = v->d.s->machine->n_nodes;
	for (unsigned t = 0; t < v->d.s->n_threads; t++)
		for (unsigned n = 0; n < nodes && v->groups.of[t] >= 0; n++)
			v->group_reach[(unsigned)v->groups.of[t] * nodes + n] += v->d.before.reach[t * nodes + n];
}

static float group_share(const struct view *v, int g, unsigned node)
{
	unsigned nodes = v->d.s->machine->n_nodes;
	float all = 0;
	for (unsigned n = 0; n < nodes; n++) all += v->group_reach[(unsigned)g * nodes + n];
	return all > 0 ? v->group_reach[(unsigned)g * nodes + node] / all : 0;
}

/* A thread's interest in a node: its group's if it has one, and never against its own. */
static float gain(const struct view *v, unsigned t, unsigned from, unsigned to)
{
	float own = touch_share(&v->d.before, t, to) - touch_share(&v->d.before, t, from);
	if (own < 0 || v->groups.of[t] < 0) return own;
	float group = group_share(v, v->groups.of[t], to) - group_share(v, v->groups.of[t], from);
	return group > own ? group : own;
}

/* ---- load ---------------------------------------------------------------------------------------------- */

/* What of a node's threads the balancer sees: two are no imbalance. */
static float counted(const struct load *l, unsigned node)
{
	return l->running[node] > IMBALANCE_ALLOWED ? (float)(l->running[node] - IMBALANCE_ALLOWED) : 0;
}

static double tolerated_unevenness(const struct load *l)
{
	double sum = 0;
	for (unsigned n = 0; n < l->machine->n_nodes; n++)
		if (l->machine->node[n].n_cpus) sum += (double)counted(l, n) * (double)counted(l, n) / l->machine->node[n].n_cpus;
	return sum;
}

/* Would the balancer move a thread from one node to the other? */
static bool balancer_moves(const struct load *l, unsigned from, unsigned to)
{
	const struct machine_node *a = &l->machine->node[from], *b = &l->machine->node[to];
	if (l->running[from] <= IMBALANCE_ALLOWED || !a->n_cpus || !b->n_cpus || !(load_gain(l, from, to) > 0)) return false;
	if (load_class(l, to) != LOAD_SPARE || l->running[to] >= load_part(l, to)) return false;
	int idle_from = (int)a->n_cpus - (int)l->running[from], idle_to = (int)b->n_cpus - (int)l->running[to];
	return idle_to - idle_from >= IMBALANCE_ALLOWED;
}

/* It takes threads that do not lose by it first (migrate_degrades_locality). */
static float worth_taking(const void *arg, const struct draft *d, unsigned t, unsigned to)
{
	(void)arg;
	return touch_share(&d->before, t, to) - touch_share(&d->before, t, (unsigned)d->after.thread_node[t]);
}

static void balance(struct draft *d)
{
	static const struct balance_taste taste = { worth_taking, NULL };
	unsigned nodes = d->s->machine->n_nodes;
	balance_relieve(d, true, &taste, "to an idle core");
	balance_relieve(d, false, &taste, "to an idle CPU");
	for (bool moved = true; moved;) {
		moved = false;
		for (unsigned from = 0; from < nodes; from++)
			for (unsigned to = 0; to < nodes; to++) {
				int t = balancer_moves(&d->load, from, to) ? balance_choose(d, from, to, &taste) : -1;
				if (t < 0) continue;
				draft_thread(d, (unsigned)t, to, "to a node with spare CPUs");
				moved = true;
			}
	}
}

/* ---- memory -------------------------------------------------------------------------------------------- */

/* May one thread go from one node to the other without the balancer's taking it back? */
static bool may_go(const struct load *l, unsigned from, unsigned to)
{
	unsigned there = l->running[to] + 1, here = l->running[from] - 1;
	if (load_class(l, to) != LOAD_SPARE || there > l->machine->node[to].n_cpus) return false;
	if (l->running[to] + 1 > l->cores[to] && l->running[from] <= l->cores[from]) return false;   /* an idle sibling only */
	return there <= IMBALANCE_ALLOWED || (there <= here && load_gain(l, from, to) >= 0);
}

static float least_gain(const struct view *v, unsigned t)
{
	const struct situation_thread *th = &v->d.s->thread[t];
	return th->moved_ms_ago == UINT32_MAX ? SMALL_GAIN : situation_again(th, GAIN_AGAIN, GAIN_MOST);
}

static int best_exchange(const struct view *v, unsigned t, unsigned to, float *most)
{
	unsigned here = (unsigned)v->d.after.thread_node[t];
	int best = -1;
	*most = least_gain(v, t);
	for (unsigned u = 0; u < v->d.s->n_threads; u++) {
		if (v->d.after.thread_node[u] != (int)to || !draft_may_thread(&v->d, u)) continue;
		float theirs = touch_share(&v->d.before, u, here) - touch_share(&v->d.before, u, to);
		float both = touch_share(&v->d.before, t, to) - touch_share(&v->d.before, t, here) + theirs;
		if (!(both > *most) || !(both > least_gain(v, u))) continue;
		best = (int)u;
		*most = both;
	}
	return best;
}

static int preferred(const struct view *v, unsigned t)
{
	unsigned here = (unsigned)v->d.after.thread_node[t];
	int best = -1;
	float most = least_gain(v, t);
	for (unsigned n = 0; n < v->d.s->machine->n_nodes; n++) {
		float g = n == here || !v->d.s->machine->node[n].n_cpus ? 0 : gain(v, t, here, n);
		if (!(g > most)) continue;
		best = (int)n;
		most = g;
	}
	return best;
}

static void place_thread(struct view *v, unsigned t)
{
	struct draft *d = &v->d;
	float both;
	int to = preferred(v, t);
	if (to < 0) return;
	unsigned here = (unsigned)d->after.thread_node[t];
	if (may_go(&d->load, here, (unsigned)to)) {
		draft_thread(d, t, (unsigned)to, "to its preferred node, which has spare CPUs");
		return;
	}
	int other = best_exchange(v, t, (unsigned)to, &both);
	if (other < 0) return;
	draft_thread(d, t, (unsigned)to, "in exchange: together they gain");
	draft_thread(d, (unsigned)other, here, "in exchange: together they gain");
}

static void place_threads(struct view *v)
{
	for (unsigned t = 0; t < v->d.s->n_threads; t++)
		if (draft_may_thread(&v->d, t)) place_thread(v, t);
}

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	struct view v;
	int ret = groups_find(&v.groups, s);
	if (ret) return ret;
	v.group_reach = calloc((size_t)(v.groups.n + 1) * s->machine->n_nodes, sizeof *v.group_reach);
	ret = v.group_reach ? draft_begin(&v.d, s, rules) : -ENOMEM;
	if (!ret) {
		sum_groups(&v);
		balance(&v.d);
		place_threads(&v);
		touch_follow(&v.d, SHARED_TOUCHES, NULL, "touched twice by that node");
		draft_hold(&v.d, "hold: balanced");
		ret = draft_end(&v.d, &policy_reconciled, plan);
	}
	free(v.group_reach);
	groups_free(&v.groups);
	return ret;
}

/* Threads that wait for a CPU, then unevenness beyond two threads; then remote accesses. */
static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	struct load load;
	load_of(&load, placement->situation, placement->thread_node);
	*cost = (struct policy_cost){ load_cost(&load, tolerated_unevenness(&load)), touch_remote(placement) };
	return 0;
}

const struct policy_ops policy_reconciled = { .name = "reconciled", .decide = decide, .cost = cost, .touches = true };
