/* autonuma: Andrea Arcangeli's AutoNUMA, version 28 (autonuma28, linux-kernel, October 2012).
 *
 * What decides: statistics of where memory is that is touched, for each thread and for each process. A thread goes to the node on
 * which its share is highest: to a free CPU, or in exchange with a thread there. Between two threads of one process
 * their own statistics count, else those of their processes, and for a free CPU both; an exchange is made only if one of the
 * two gains clearly and the other does not lose. Pages move to the node that touches them, when that has confirmed itself.
 *
 * Not to be had in user space: the faults that the statistics are of, and the exchange of two running tasks in one instant. Done
 * instead: shares are of the accesses that were seen lately; an exchange is two bindings in one step. A session that plans
 * for one process has that process's statistics only. The original never rests on memory that threads of several nodes share: each
 * comparison of weights that comes out above zero moves (sched_autonuma_balance), and such pages follow the last two faults. Here a thread that was moved
 * asks for more each time, and one that nothing was seen of yet is taken for one like the others of its process. */
#include <errno.h>
#include <stdlib.h>

#include "pure/balance.h"
#include "pure/touch.h"
#include "pure/pure.h"

/* A thread's gain must be at least this share of what it touches: below it what was seen differs by chance. */
#define GAIN_LEAST 0.05f

/* One that was moved before must gain so much to be moved again, twice that the next time, and at last more than there can be, until it has stayed
 * for a minute: where its memory is spread over nodes, chance would send it to and fro for ever. */
#define GAIN_AGAIN 0.15f
#define GAIN_MOST 3.0f

struct shares {
	unsigned nodes, n_processes;
	float *thread, *process;  /* [number * nodes + node]: share of the accesses that are to memory of the node */
	unsigned *of;             /* index of each thread's process */
};

static void free_shares(struct shares *h)
{
	free(h->thread);
	free(h->process);
	free(h->of);
}

/* Processes in the order of their first thread. */
static void number_processes(struct shares *h, const struct situation *s)
{
	for (unsigned t = 0; t < s->n_threads; t++) {
		unsigned u = 0;
		while (s->thread[u].process != s->thread[t].process) u++;
		h->of[t] = u < t ? h->of[u] : h->n_processes++;
	}
}

static void to_shares(float *share, unsigned n, unsigned nodes)
{
	for (unsigned i = 0; i < n; i++) {
		float all = 0;
		for (unsigned k = 0; k < nodes; k++) all += share[i * nodes + k];
		for (unsigned k = 0; k < nodes && all > 0; k++) share[i * nodes + k] /= all;
	}
}

/* A thread that nothing has been seen of yet would go anywhere in exchange. The kernel's faults tell soon what each touches; until then
 * it is taken for one like the others of its process. */
static void take_as_process(struct shares *h, unsigned t)
{
	float *share = &h->thread[t * h->nodes], all = 0;
	for (unsigned n = 0; n < h->nodes; n++) all += share[n];
	for (unsigned n = 0; n < h->nodes && !(all > 0); n++) share[n] = h->process[h->of[t] * h->nodes + n];
}

static int find_shares(struct shares *h, const struct estimate *e)
{
	const struct situation *s = e->situation;
	size_t room = (size_t)(s->n_threads + 1) * s->machine->n_nodes;
	*h = (struct shares){ s->machine->n_nodes, 0, calloc(room, sizeof(float)), calloc(room, sizeof(float)),
	                      calloc(s->n_threads + 1, sizeof(unsigned)) };
	if (!h->thread || !h->process || !h->of) {
		free_shares(h);
		return -ENOMEM;
	}
	number_processes(h, s);
	for (unsigned t = 0; t < s->n_threads; t++)
		for (unsigned n = 0; n < h->nodes; n++) {
			h->thread[t * h->nodes + n] = e->reach[t * h->nodes + n];
			h->process[h->of[t] * h->nodes + n] += e->reach[t * h->nodes + n];
		}
	to_shares(h->thread, s->n_threads, h->nodes);
	to_shares(h->process, h->n_processes, h->nodes);
	for (unsigned t = 0; t < s->n_threads; t++) take_as_process(h, t);
	return 0;
}

static float own(const struct shares *h, unsigned t, unsigned from, unsigned to)
{
	return h->thread[t * h->nodes + to] - h->thread[t * h->nodes + from];
}

static float of_process(const struct shares *h, unsigned t, unsigned from, unsigned to)
{
	return h->process[h->of[t] * h->nodes + to] - h->process[h->of[t] * h->nodes + from];
}

/* What thread `t` gains by going, if it meets `other` there (-1: a free CPU). Its own share must not fall, whatever counts
 * between the two, or two rules could send it to and fro. */
static float gain(const struct shares *h, unsigned t, int other, unsigned from, unsigned to)
{
	float mine = own(h, t, from, to), process = of_process(h, t, from, to);
	if (mine < 0) return -1;
	return other < 0 ? mine + process : h->of[other] == h->of[t] ? mine : process;
}

/* The best exchange or move of one thread: to node `to`, with thread `other` or to a free CPU. */
struct offer { float gain; int to, other; };

static float least_gain(const struct draft *d, unsigned t)
{
	const struct situation_thread *th = &d->s->thread[t];
	return th->moved_ms_ago == UINT32_MAX ? GAIN_LEAST : situation_again(th, GAIN_AGAIN, GAIN_MOST);
}

static void offer_exchange(const struct draft *d, const struct shares *h, unsigned t, unsigned u, struct offer *best)
{
	unsigned here = (unsigned)d->after.thread_node[t], there = (unsigned)d->after.thread_node[u];
	float mine = gain(h, t, (int)u, here, there), theirs = gain(h, u, (int)t, there, here);
	float least = least_gain(d, t), least_theirs = least_gain(d, u);   /* who was moved often is left alone, whoever gains */
	if (mine >= (least > least_theirs ? least : least_theirs) && theirs >= 0 && mine + theirs > best->gain) *best = (struct offer){ mine + theirs, (int)there, (int)u };
}

static struct offer find_offer(const struct draft *d, const struct shares *h, unsigned t)
{
	struct offer best = { 0, -1, -1 };
	unsigned here = (unsigned)d->after.thread_node[t];
	for (unsigned n = 0; n < h->nodes; n++) {
		if (n == here || d->load.running[n] >= d->s->machine->node[n].n_cpus) continue;
		float mine = gain(h, t, -1, here, n);
		if (mine >= least_gain(d, t) && mine > best.gain) best = (struct offer){ mine, (int)n, -1 };
	}
	for (unsigned u = 0; u < d->s->n_threads; u++)
		if (draft_may_thread(d, u) && d->after.thread_node[u] != (int)here) offer_exchange(d, h, t, u, &best);
	return best;
}

static void place_threads(struct draft *d, const struct shares *h)
{
	for (unsigned t = 0; t < d->s->n_threads; t++) {
		if (!draft_may_thread(d, t)) continue;
		struct offer offer = find_offer(d, h, t);
		unsigned here = (unsigned)d->after.thread_node[t];
		if (offer.to < 0) continue;
		draft_thread(d, t, (unsigned)offer.to, offer.other < 0 ? "to the node that holds most of what it touches" : "in exchange: both gain");
		if (offer.other >= 0) draft_thread(d, (unsigned)offer.other, here, "in exchange: both gain");
	}
}

/* One that has found its node is kept there. */
static void keep(struct draft *d, const struct shares *h)
{
	for (unsigned t = 0; t < d->s->n_threads; t++) {
		const float *share = &h->thread[t * h->nodes];
		int node = d->after.thread_node[t];
		if (d->thread_why[t] || !draft_may_thread(d, t) || !(share[node] > 0)) continue;
		bool best = true;
		for (unsigned n = 0; n < h->nodes; n++) best = best && share[n] <= share[node];
		if (best) draft_thread(d, t, (unsigned)node, "hold: most of what it touches is here");
	}
}

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	struct shares shares;
	int ret = draft_begin(&d, s, rules);
	if (ret) return ret;
	ret = find_shares(&shares, &d.before);
	if (ret) {
		draft_drop(&d);
		return ret;
	}
	balance_relieve(&d, false, NULL, "to a free CPU");
	place_threads(&d, &shares);
	touch_follow(&d, 0, NULL, "touched twice by that node");
	keep(&d, &shares);
	free_shares(&shares);
	return draft_end(&d, &policy_autonuma, plan);
}

/* Threads that wait for a CPU; then remote accesses. (Where a process has its memory decides between exchanges
 * that are alike in these.) */
static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	struct load load;
	load_of(&load, placement->situation, placement->thread_node);
	*cost = (struct policy_cost){ load_queued(&load), touch_remote(placement) };
	return 0;
}

const struct policy_ops policy_autonuma = { .name = "autonuma", .decide = decide, .cost = cost, .touches = true };
