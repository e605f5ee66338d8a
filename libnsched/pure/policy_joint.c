/* joint: threads and pages decided together.
 *
 * A local search on the estimate: threads are first spread so that no node has more than its part while
 * another has room; then, in turns, each chunk goes to the node where it costs least, and threads move
 * or swap where that lowers the cost, until nothing gains any more. A chunk's move is charged its copy
 * over the time that the program will probably go on, so private memory follows its thread, and a
 * thread follows memory that would cost more to move than it. What differs from the situation at the
 * end is the plan. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/estimate.h"
#include "pure/policy.h"
#include "pure/pure.h"

enum { ROUNDS = 6 };  /* turns of the search; it has come to rest after two or three on all that was tried */

/* A move must save this share of what the thing costs now: below it, what is seen is noise. */
#define CHUNK_GAIN_LEAST 0.1f
#define THREAD_GAIN_LEAST 0.03f
#define THREAD_AGAIN_LEAST 0.2f   /* one that was bound stays unless it is clear: what has been seen of it is a part only */
/* A thread that waits for memory less than this (ns each second) is left to the system: where it runs
 * hardly matters, and a bound thread can't be balanced. */
#define THREAD_COST_LEAST 5e6f

struct search {
	struct estimate e;
	const struct situation *s;
	const struct policy_rules *rules;
	float per_s;                       /* of a cost in ns: what it takes of each second until the horizon */
	unsigned quota[MACHINE_NODES];     /* threads that a node takes */
	bool changed, crowded;             /* something moved; a node had more threads than its part */
};

/* ---- threads --------------------------------------------------------------------------------------- */

static bool movable(const struct search *j, unsigned t)
{
	return j->rules->threads && !j->s->thread[t].fixed && j->e.thread_node[t] >= 0;
}

/* Each node takes as many threads as it has CPUs; beyond that, all are filled in the same proportion. */
static void set_quotas(struct search *j)
{
	const struct machine *m = j->s->machine;
	unsigned threads = 0;
	for (unsigned t = 0; t < j->s->n_threads; t++) threads += j->e.thread_node[t] >= 0;
	for (unsigned n = 0; n < m->n_nodes; n++) {
		unsigned cpus = m->node[n].n_cpus;
		j->quota[n] = threads <= m->n_cpus ? cpus : (threads * cpus + m->n_cpus - 1) / m->n_cpus;
	}
}

static int best_node_with_room(const struct search *j, unsigned t, float *cost)
{
	int best = -1;
	for (unsigned n = 0; n < j->s->machine->n_nodes; n++) {
		if (j->e.threads_on[n] >= j->quota[n]) continue;
		float c = estimate_thread_on(&j->e, t, n);
		if (best < 0 || c < *cost || (!(c > *cost) && j->e.threads_on[n] < j->e.threads_on[best])) {
			best = (int)n;
			*cost = c;
		}
	}
	return best;
}

/* From every node with too many, the threads go that lose least by it. */
static void spread(struct search *j)
{
	for (unsigned n = 0; n < j->s->machine->n_nodes; n++)
		while (j->e.threads_on[n] > j->quota[n]) {
			int who = -1, where = -1;
			float least = INFINITY;
			for (unsigned t = 0; t < j->s->n_threads; t++) {
				float cost = 0;
				if (j->e.thread_node[t] != (int)n || !movable(j, t)) continue;
				int to = best_node_with_room(j, t, &cost);
				cost -= estimate_thread(&j->e, t);
				if (to >= 0 && cost < least) {
					least = cost;
					who = (int)t;
					where = to;
				}
			}
			if (who < 0) break;
			estimate_move_thread(&j->e, (unsigned)who, (unsigned)where);
			j->crowded = true;
		}
}

static bool worth_moving(const struct search *j, float gain, float cost_now, bool again, unsigned moves)
{
	return gain > (again ? THREAD_AGAIN_LEAST : THREAD_GAIN_LEAST) * cost_now && gain > (float)moves * j->s->thread_move_ns * j->per_s;
}

static void move_to_room(struct search *j)
{
	for (unsigned t = 0; t < j->s->n_threads; t++) {
		float cost = 0, now = estimate_thread(&j->e, t);
		if (!movable(j, t)) continue;
		int to = best_node_with_room(j, t, &cost);
		if (to < 0 || to == j->e.thread_node[t] || !worth_moving(j, now - cost, now, j->s->thread[t].bound, 1)) continue;
		estimate_move_thread(&j->e, t, (unsigned)to);
		j->changed = true;
	}
}

/* For each pair of nodes the thread on the first that would gain most (or lose least) on the second. */
struct candidate { int thread; float gain; };

static void find_candidates(const struct search *j, struct candidate *best)
{
	unsigned nodes = j->s->machine->n_nodes;
	for (unsigned i = 0; i < nodes * nodes; i++) best[i] = (struct candidate){ -1, -INFINITY };
	for (unsigned t = 0; t < j->s->n_threads; t++) {
		if (!movable(j, t)) continue;
		float now = estimate_thread(&j->e, t);
		for (unsigned n = 0; n < nodes; n++) {
			struct candidate *b = &best[(unsigned)j->e.thread_node[t] * nodes + n];
			float gain = now - estimate_thread_on(&j->e, t, n);
			if (gain > b->gain) *b = (struct candidate){ (int)t, gain };
		}
	}
}

static bool swap_best(struct search *j, struct candidate *best)
{
	unsigned nodes = j->s->machine->n_nodes;
	float most = 0;
	int a = -1, b = -1;
	find_candidates(j, best);
	for (unsigned n = 0; n < nodes; n++)
		for (unsigned m = 0; m < n; m++) {
			const struct candidate *x = &best[n * nodes + m], *y = &best[m * nodes + n];
			if (x->thread < 0 || y->thread < 0 || !(x->gain + y->gain > most)) continue;
			float now = estimate_thread(&j->e, (unsigned)x->thread) + estimate_thread(&j->e, (unsigned)y->thread);
			bool again = j->s->thread[x->thread].bound || j->s->thread[y->thread].bound;
			if (!worth_moving(j, x->gain + y->gain, now, again, 2)) continue;
			most = x->gain + y->gain;
			a = x->thread;
			b = y->thread;
		}
	if (a < 0) return false;
	int node = j->e.thread_node[a];
	estimate_move_thread(&j->e, (unsigned)a, (unsigned)j->e.thread_node[b]);
	estimate_move_thread(&j->e, (unsigned)b, (unsigned)node);
	return true;
}

static int swap_threads(struct search *j)
{
	unsigned nodes = j->s->machine->n_nodes;
	struct candidate *best = malloc(nodes * nodes * sizeof *best);
	if (!best) return -ENOMEM;
	for (unsigned k = 0; k < j->s->n_threads && swap_best(j, best); k++) j->changed = true;
	free(best);
	return 0;
}

/* ---- chunks ------------------------------------------------------------------------------------------ */

/* ns each second that moving what is not on `node` yet takes until the horizon */
static float copy_per_s(const struct search *j, unsigned chunk, unsigned node)
{
	const struct situation_chunk *c = &j->s->chunk[chunk];
	float there = 0;
	for (unsigned k = 0; k < SITUATION_WHERE; k++)
		if (c->where[k].node == (int)node) there = c->where[k].share;
	return (1 - there) * (float)c->pages * j->s->page_move_ns * j->per_s;
}

static void place_chunk(struct search *j, unsigned c)
{
	const struct machine *m = j->s->machine;
	float now = estimate_chunk(&j->e, c), least = now;
	int here = j->e.chunk_node[c], best = -1;
	if (here >= 0) least += copy_per_s(j, c, (unsigned)here);
	for (unsigned n = 0; n < m->n_nodes; n++) {
		if (!m->node[n].memory_bytes || (int)n == here) continue;
		float cost = estimate_chunk_on(&j->e, c, n) + copy_per_s(j, c, n);
		if (!(cost < least - CHUNK_GAIN_LEAST * now)) continue;
		least = cost;
		best = (int)n;
	}
	if (best < 0) return;
	estimate_move_chunk(&j->e, c, (unsigned)best);
	j->changed = true;
}

/* ---- the plan ------------------------------------------------------------------------------------------ */

/* permille of a thread's accesses that are to memory of `node` in the end */
static uint16_t thread_support(const struct search *j, unsigned t, unsigned node)
{
	unsigned nodes = j->s->machine->n_nodes;
	float all = 0, on = j->e.reach[t * nodes + node];
	for (unsigned n = 0; n < nodes; n++) all += j->e.reach[t * nodes + n];
	return (uint16_t)(all > 0 ? 1000 * on / all : 0);
}

static int plan_thread(const struct search *j, const struct estimate *before, unsigned t, struct plan *plan)
{
	const struct situation_thread *th = &j->s->thread[t];
	int to = j->e.thread_node[t];
	if (!movable(j, t) || (th->bound && th->node == to)) return 0;
	if (th->node == to && estimate_thread(before, t) < THREAD_COST_LEAST) return 0;
	float gain = estimate_thread(before, t) - estimate_thread(&j->e, t);
	struct move move = { .kind = MOVE_THREAD, .thread = th->number, .from = th->node, .to = (int16_t)to,
	                     .support = thread_support(j, t, (unsigned)to), .again = th->moved_ms_ago != UINT32_MAX,
	                     .gain_ns_per_s = gain, .cost_ns = th->node == to ? 0 : j->s->thread_move_ns,
	                     .reason = th->node == to ? "hold beside its memory" : "to its memory, or to free CPUs" };
	return plan_add(plan, &move);
}

static uint16_t chunk_support(const struct search *j, const struct situation_chunk *c, int node)
{
	float on = 0, all = situation_traffic(j->s, c);
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++)
		if (j->e.thread_node[j->s->use[u].thread] == node) on += j->s->use[u].rate;
	return (uint16_t)(all > 0 ? 1000 * on / all : 0);
}

static int plan_chunk(const struct search *j, const struct estimate *before, unsigned index, struct plan *plan)
{
	const struct situation_chunk *c = &j->s->chunk[index];
	int to = j->e.chunk_node[index];
	if (to < 0) return 0;
	float cost = copy_per_s(j, index, (unsigned)to) / j->per_s;
	if (!(cost > 0)) return 0;
	struct move move = { .kind = MOVE_PAGES, .page = c->page, .pages = c->pages,
	                     .from = c->where[0].share > 0.99f ? c->where[0].node : (int16_t)-1, .to = (int16_t)to,
	                     .support = chunk_support(j, c, to), .again = c->moved_ms_ago != UINT32_MAX,
	                     .gain_ns_per_s = estimate_chunk(before, index) - estimate_chunk(&j->e, index), .cost_ns = cost };
	move.reason = c->n_uses == 1 ? "to its only user" : move.support >= 750 ? "to its main users" : "off a full node, or between its users";
	return plan_add(plan, &move);
}

static int make_plan(const struct search *j, const struct estimate *before, struct plan *plan)
{
	int ret = 0;
	for (unsigned t = 0; !ret && t < j->s->n_threads; t++) ret = plan_thread(j, before, t, plan);
	for (unsigned c = 0; !ret && c < j->s->n_chunks; c++) ret = plan_chunk(j, before, c, plan);
	if (!ret) plan_sort(plan);
	return ret;
}

static int search(struct search *j)
{
	int ret = 0;
	set_quotas(j);
	spread(j);
	j->changed = true;
	for (unsigned round = 0; !ret && j->changed && round < ROUNDS; round++) {
		j->changed = false;
		for (unsigned c = 0; j->rules->pages && c < j->s->n_chunks; c++)
			if (!j->s->chunk[c].fixed) place_chunk(j, c);
		move_to_room(j);
		ret = swap_threads(j);
	}
	return ret;
}

/* Each step of the search looks at what moves, not at those whose node gets fuller by it: together they may
 * have made it worse. (To give every thread a CPU may cost memory time.) */
static bool is_worse(const struct search *j, const struct estimate *before)
{
	return !j->crowded && estimate_cost(&j->e) > estimate_cost(before);
}

static int decide(const struct situation *situation, const struct policy_rules *rules, struct plan *plan)
{
	struct search j = { .s = situation, .rules = rules };
	struct estimate before;
	j.per_s = 1e9f / (float)situation_horizon_ns(situation);
	int ret = estimate_init(&before, situation);
	if (ret) return ret;
	ret = estimate_init(&j.e, situation);
	if (!ret) ret = search(&j);
	if (!ret && !is_worse(&j, &before)) ret = make_plan(&j, &before, plan);
	estimate_free(&j.e);
	estimate_free(&before);
	return ret;
}

const struct policy_ops policy_joint = { "joint", decide };
