/* The plan for all processes of a machine, once they are one situation (team.c). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/load.h"
#include "pure/team.h"
#include "pure/pure.h"

/* Whole processes on a node are taken even where the estimate finds scattered threads better by this
 * much: what a process's threads share (caches, the heap, code, all that no sample has hit) is in no estimate. */
#define TOGETHER_WORTH 1.05
/* All processes are put down anew only where that is better by this much, and what they hand to each other, too, for which alone it is
 * done: what is seen differs from look to look. */
#define ANEW_WORTH 0.9

/* A process follows at its next look, which is two seconds away at the most, but it may be a slow machine, or one with more threads than
 * CPUs. Longer than this after an order, its threads are where they are. As long the memory that it left behind is no
 * reason to send a thread after it: that follows, too. */
enum { FOLLOW_MS = 10000 };

/* Three ways to plan, of which the best is taken. */
enum way {
	THREADS,                   /* each thread by itself */
	WHOLE,                     /* processes that fit on a node stand there as one, those that stand so already stay */
	ANEW,                      /* the same, all put down anew: those that talk to each other may come together */
	WAYS
};

struct choice {
	struct plan plan;
	unsigned queued;           /* threads without a CPU */
	double cost, talks;        /* ns each second, with what the moves take; and what talks are of it */
	int16_t *home;             /* of each thread: where it was when the policy was asked */
	bool *whole;               /* of each thread: it was left there, with all of its process */
};

struct search {
	const struct team_member *members;
	unsigned n;
	const struct team_origin *origin;
	const struct policy_ops *policy;
	const struct slot_plan *last;
	uint32_t now_ms;
	struct situation *s;
	int16_t *was;              /* of each thread: where it is */
	bool *fixed;               /* and whether it is to be left there in any case */
	struct choice choice[WAYS];
};

static void end_search(struct search *search)
{
	for (unsigned i = 0; i < WAYS; i++) {
		plan_free(&search->choice[i].plan);
		free(search->choice[i].home);
		free(search->choice[i].whole);
	}
	free(search->was);
	free(search->fixed);
}

static int begin_search(struct search *search)
{
	const struct situation *s = search->s;
	bool ok = (search->was = calloc(s->n_threads + 1, sizeof *search->was)) && (search->fixed = calloc(s->n_threads + 1, sizeof *search->fixed));
	for (unsigned i = 0; ok && i < WAYS; i++) {
		search->choice[i].cost = (double)INFINITY;   /* until it is tried */
		search->choice[i].queued = UINT32_MAX;
		search->choice[i].home = calloc(s->n_threads + 1, sizeof *search->choice[i].home);
		search->choice[i].whole = calloc(s->n_threads + 1, sizeof *search->choice[i].whole);
		ok = search->choice[i].home && search->choice[i].whole;
	}
	if (!ok) {
		end_search(search);
		return -ENOMEM;
	}
	for (unsigned t = 0; t < s->n_threads; t++) {
		search->was[t] = s->thread[t].node;
		search->fixed[t] = s->thread[t].fixed;
	}
	return 0;
}

/* The cost of a plan, once it is done. */
static int judge(const struct situation *s, struct choice *c)
{
	struct estimate e;
	struct load load;
	double per_s = 1e9 / (double)situation_horizon_ns(s);
	int ret = estimate_init(&e, s);
	if (ret) return ret;
	c->cost = 0;
	for (unsigned i = 0, chunk = 0; i < c->plan.n; i++) {
		const struct move *move = &c->plan.move[i];
		c->cost += (double)move->cost_ns * per_s;
		if (move->kind == MOVE_THREAD) {
			estimate_move_thread(&e, move->thread, (unsigned)move->to);
			continue;
		}
		for (chunk = 0; chunk < s->n_chunks; chunk++)
			if (s->chunk[chunk].page >= move->page && s->chunk[chunk].page < move->page + move->pages)
				estimate_move_chunk(&e, chunk, (unsigned)move->to);
	}
	c->cost += estimate_cost(&e);
	c->talks = estimate_talks(&e);
	load_of(&load, s, e.thread_node);
	c->queued = load_queued(&load);
	estimate_free(&e);
	return 0;
}

/* Asks the policy with threads where `home` has them, those of whole processes fixed there. */
static int try_policy(const struct search *search, struct choice *c)
{
	struct policy_rules rules = { .threads = true, .pages = true };
	struct situation *s = search->s;
	for (unsigned t = 0; t < s->n_threads; t++) {
		s->thread[t].node = c->home[t];
		s->thread[t].fixed |= c->whole[t];
	}
	int ret = policy_decide(search->policy, s, &rules, &c->plan);
	if (!ret) ret = judge(s, c);
	for (unsigned t = 0; t < s->n_threads; t++) {
		s->thread[t].node = search->was[t];
		s->thread[t].fixed = search->fixed[t];
	}
	return ret;
}

static int try_homes(const struct search *search, enum way way, struct choice *c)
{
	int ret = team_homes(search->s, search->origin, search->n, way == ANEW, c->home, c->whole);
	bool any = false;
	for (unsigned t = 0; t < search->s->n_threads; t++) any |= c->whole[t] || c->home[t] != search->was[t];
	return ret || !any ? ret : try_policy(search, c);
}

/* The order of the last plan for a thread of the situation; NULL: there is none. Both are in the same order, so the search goes on from
 * where it found the one before. */
static const struct slot_order *last_order(const struct search *search, unsigned t, unsigned *at)
{
	const struct team_member *member = &search->members[search->origin[t].member];
	int32_t tid = member->view->thread[search->origin[t].thread].tid;
	unsigned n = search->last ? search->last->n_orders : 0;
	for (unsigned k = 0; k < n; k++) {
		const struct slot_order *order = &search->last->order[(*at + k) % n];
		if (order->slot != member->slot || order->tid != tid) continue;
		*at = (*at + k) % n;
		return order;
	}
	return NULL;
}

/* Threads that have been ordered elsewhere lately count as being there: the plan would else be made for what is about to change, and
 * so would the next one. */
static void believe(const struct search *search)
{
	for (unsigned t = 0, at = 0; t < search->s->n_threads; t++) {
		struct situation_thread *th = &search->s->thread[t];
		const struct slot_order *order = th->fixed ? NULL : last_order(search, t, &at);
		int node = order && order->node_os >= 0 && search->now_ms - order->since_ms < FOLLOW_MS ? machine_node_of_os(search->s->machine, (unsigned)order->node_os) : -1;
		if (node < 0 || !search->s->machine->node[node].n_cpus) continue;
		th->node = (int16_t)node;
		th->bound = true;
	}
}

/* Orders from a plan: for each thread the node that it is to have, or none. `to` is room for a number of each thread. */
static void give_orders(const struct search *search, const struct choice *c, int16_t *to, struct slot_plan *out)
{
	const struct situation *s = search->s;
	for (unsigned t = 0; t < s->n_threads; t++)
		to[t] = c->home[t] != search->was[t] || c->whole[t] || s->thread[t].bound ? c->home[t] : (int16_t)-1;
	for (unsigned i = 0; i < c->plan.n; i++)
		if (c->plan.move[i].kind == MOVE_THREAD) to[c->plan.move[i].thread] = c->plan.move[i].to;
	out->n_orders = 0;
	for (unsigned t = 0, at = 0; t < s->n_threads; t++) {
		const struct team_member *member = &search->members[search->origin[t].member];
		int node = to[t];
		to[t] = -1;
		if (member->theirs) continue;
		const struct slot_order *before = last_order(search, t, &at);
		int node_os = node < 0 ? -1 : (int)s->machine->node[node].os;
		uint32_t since_ms = before && before->node_os == node_os ? before->since_ms : node == search->was[t] ? search->now_ms - FOLLOW_MS : search->now_ms;
		to[t] = (int16_t)out->n_orders;
		out->order[out->n_orders++] = (struct slot_order){ .slot = member->slot, .tid = member->view->thread[search->origin[t].thread].tid,
		                                                   .node_os = (int16_t)node_os, .since_ms = since_ms };
	}
	for (unsigned i = 0; i < c->plan.n; i++) {
		const struct move *move = &c->plan.move[i];
		if (move->kind != MOVE_THREAD || to[move->thread] < 0) continue;
		out->order[to[move->thread]].gain_ns_per_s = move->gain_ns_per_s;
		out->order[to[move->thread]].support = move->support;
	}
}

/* Threads that have a CPU first. */
static bool is_better(const struct choice *c, const struct choice *than, double worth)
{
	return c->queued < than->queued || (c->queued == than->queued && c->cost < than->cost * worth);
}

static int choose(struct search *search, struct slot_plan *out)
{
	struct choice *c = search->choice;
	enum way best = WHOLE;
	memcpy(c[THREADS].home, search->was, search->s->n_threads * sizeof *search->was);
	if (search->policy->watches) {
		give_orders(search, &c[THREADS], c[WHOLE].home, out);
		return 0;
	}
	for (unsigned t = 0, at = 0; t < search->s->n_threads; t++) {
		const struct slot_order *order = last_order(search, t, &at);
		c[THREADS].whole[t] = order && order->node_os >= 0 && search->now_ms - order->since_ms < FOLLOW_MS;
	}
	int ret = try_policy(search, &c[THREADS]);
	if (!ret) ret = try_homes(search, WHOLE, &c[WHOLE]);
	if (!ret && search->s->n_talks) ret = try_homes(search, ANEW, &c[ANEW]);
	if (ret) return ret;
	if (is_better(&c[ANEW], &c[WHOLE], ANEW_WORTH) && c[ANEW].talks < c[WHOLE].talks * ANEW_WORTH) best = ANEW;
	if (!is_better(&c[best], &c[THREADS], TOGETHER_WORTH)) best = THREADS;
	give_orders(search, &c[best], c[best == THREADS ? WHOLE : THREADS].home, out);
	return 0;
}

int team_decide(const struct machine *machine, const struct team_member *members, unsigned n, const struct policy_ops *policy,
                const struct slot_plan *last, uint32_t now_ms, struct slot_plan *out)
{
	struct situation s = { 0 };
	unsigned threads = 0;
	for (unsigned i = 0; i < n; i++) threads += members[i].view->n_threads;
	if (threads > SLOT_ORDERS) threads = SLOT_ORDERS;
	struct team_origin *origin = malloc((threads + 1) * sizeof *origin);
	struct search search = { .members = members, .n = n, .origin = origin, .policy = policy, .last = last, .now_ms = now_ms, .s = &s };
	out->n_orders = out->alone = 0;
	int ret = origin ? team_merge(machine, members, n, &s, origin, threads) : -ENOMEM;
	if (!ret) believe(&search);
	if (!ret) ret = begin_search(&search);
	if (!ret) {
		ret = choose(&search, out);
		end_search(&search);
	}
	situation_free(&s);
	free(origin);
	return ret;
}
