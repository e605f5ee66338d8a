#include "pure/draft.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

#define NEARLY_ALL 0.99f   /* of a chunk's pages on one node: that is where it comes from */

void draft_drop(struct draft *d)
{
	estimate_free(&d->before);
	estimate_free(&d->after);
	free(d->thread_why);
	free(d->chunk_why);
}

int draft_begin(struct draft *d, const struct situation *s, const struct policy_rules *rules)
{
	memset(d, 0, sizeof *d);
	d->s = s;
	d->rules = rules;
	load_of(&d->load, s, NULL);
	d->thread_why = calloc(s->n_threads + 1, sizeof *d->thread_why);
	d->chunk_why = calloc(s->n_chunks + 1, sizeof *d->chunk_why);
	if (d->thread_why && d->chunk_why && !estimate_init(&d->before, s) && !estimate_copy(&d->after, &d->before)) return 0;
	draft_drop(d);
	return -ENOMEM;
}

bool draft_may_thread(const struct draft *d, unsigned t)
{
	return d->rules->threads && !d->s->thread[t].fixed && d->s->thread[t].node >= 0;
}

bool draft_may_chunk(const struct draft *d, unsigned c)
{
	return d->rules->pages && !d->s->chunk[c].fixed;
}

bool draft_is_new(const struct draft *d, unsigned t)
{
	return !d->s->thread[t].bound && d->s->thread[t].moved_ms_ago == UINT32_MAX;
}

void draft_thread(struct draft *d, unsigned t, unsigned node, const char *why)
{
	int from = d->after.thread_node[t];
	d->thread_why[t] = why;
	if (from == (int)node) return;
	load_move(&d->load, from, (int)node, d->s->thread[t].load);
	estimate_move_thread(&d->after, t, node);
}

void draft_chunk(struct draft *d, unsigned c, unsigned node, const char *why)
{
	d->chunk_why[c] = why;
	estimate_move_chunk(&d->after, c, node);
}

void draft_hold(struct draft *d, const char *why)
{
	for (unsigned t = 0; t < d->s->n_threads; t++)
		if (!d->thread_why[t] && draft_may_thread(d, t)) d->thread_why[t] = why;
}

/* ---- moves ------------------------------------------------------------------------------------------- */

/* What was added and taken away again leaves a little. */
static uint16_t permille(float part, float all)
{
	float p = all > 0 ? 1000 * part / all : 0;
	return p > 1000 ? 1000 : (uint16_t)(p + 0.01f);
}

/* permille of a thread's accesses that are to memory of `node` in the end */
static uint16_t thread_support(const struct draft *d, unsigned t, unsigned node)
{
	unsigned nodes = d->s->machine->n_nodes;
	float all = 0, on = d->after.reach[t * nodes + node];
	for (unsigned n = 0; n < nodes; n++) all += d->after.reach[t * nodes + n];
	return permille(on, all);
}

static int plan_thread(const struct draft *d, unsigned t, struct plan *plan)
{
	const struct situation_thread *th = &d->s->thread[t];
	int to = d->after.thread_node[t];
	if (!d->thread_why[t] || (th->bound && th->node == to)) return 0;
	struct move move = { .kind = MOVE_THREAD, .thread = th->number, .from = th->node, .to = (int16_t)to,
	                     .support = thread_support(d, t, (unsigned)to), .again = th->moved_ms_ago != UINT32_MAX,
	                     .gain_ns_per_s = estimate_thread(&d->before, t) - estimate_thread(&d->after, t),
	                     .cost_ns = th->node == to ? 0 : d->s->thread_move_ns, .reason = d->thread_why[t] };
	return plan_add(plan, &move);
}

uint16_t draft_chunk_support(const struct draft *d, unsigned chunk, int node)
{
	const struct situation_chunk *c = &d->s->chunk[chunk];
	float on = 0, all = situation_traffic(d->s, c);
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++)
		if (d->after.thread_node[d->s->use[u].thread] == node) on += d->s->use[u].rate;
	return permille(on, all);
}

/* What moving a chunk saves: against what it costs now, or against its being left behind by threads that go, whichever
 * is more. Each alone would be wrong: for memory that follows its thread nothing costs less than before, and
 * for memory on a full node the others that leave it have made room already. */
static float chunk_gain(const struct draft *d, unsigned c)
{
	float now = estimate_chunk(&d->after, c);
	float against_before = estimate_chunk(&d->before, c) - now, against_left = estimate_chunk_left(&d->after, c) - now;
	return against_before > against_left ? against_before : against_left;
}

static int plan_chunk(const struct draft *d, unsigned index, struct plan *plan)
{
	const struct situation_chunk *c = &d->s->chunk[index];
	int to = d->after.chunk_node[index];
	if (!d->chunk_why[index] || to < 0) return 0;
	float cost = (1 - estimate_share(&d->before, index, (unsigned)to)) * (float)c->pages * d->s->page_move_ns;
	if (!(cost > 0)) return 0;
	struct move move = { .kind = MOVE_PAGES, .page = c->page, .pages = c->pages,
	                     .from = c->where[0].share > NEARLY_ALL ? c->where[0].node : (int16_t)-1, .to = (int16_t)to,
	                     .support = draft_chunk_support(d, index, to), .again = c->moved_ms_ago != UINT32_MAX,
	                     .gain_ns_per_s = chunk_gain(d, index) / c->stands, .cost_ns = cost, .reason = d->chunk_why[index] };
	return plan_add(plan, &move);
}

static int add_moves(const struct draft *d, bool worse, struct plan *plan)
{
	int ret = 0;
	for (unsigned t = 0; !ret && t < d->s->n_threads; t++)
		if (!worse || d->after.thread_node[t] == d->before.thread_node[t]) ret = plan_thread(d, t, plan);
	for (unsigned c = 0; !ret && !worse && c < d->s->n_chunks; c++) ret = plan_chunk(d, c, plan);
	if (!ret) plan_sort(plan);
	return ret;
}

int draft_end(struct draft *d, const struct policy_ops *policy, struct plan *plan)
{
	struct policy_cost before, after;
	int ret = policy->cost(&d->before, &before);
	if (!ret) ret = policy->cost(&d->after, &after);
	if (!ret) ret = add_moves(d, policy_worse(&after, &before), plan);
	draft_drop(d);
	return ret;
}
