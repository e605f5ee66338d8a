#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/joint.h"
#include "pure/rows.h"
#include "pure/pure.h"

/* Another beginning for the search. A thread may gain by going only if its memory comes along, and the memory only if the
 * thread does: no step of one at a time finds that. So here everything is taken off the nodes, and put down again as
 * bundles, each with the memory that it alone uses: first where they are, if all of a bundle's threads are together, or the same would be
 * done anew at each look, and in another way. The others are put where they cost least, what lies on the nodes already, the copying and
 * the moves of threads counted: those of many threads first, which are hard to place, then those with much memory. Then each goes where
 * it costs least, those that are easiest to move first. What counts is the likely stretch: what goes with its memory loses no
 * latency. What comes of it is good, not yet best: the steps of one at a time go on from there. */

/* So much of a chunk's traffic must be a bundle's for the chunk to be its own; above a half, so that there is one at most. */
#define OWNED 0.75f

/* A program that is younger has not been seen long enough to say that a thread without known memory uses none. */
#define YOUNG_NS 2000000000u

enum { PASSES = 3 };   /* looks at each bundle, once all are down: the third changes hardly anything */

struct bundle {
	unsigned number;
	unsigned threads;          /* that may be moved */
	float traffic;             /* to its own chunks, accesses per ns */
	float copy;                /* what copying all of its chunks takes of each second, with their frictions */
	int node, memory;          /* where it was put down, and its chunks, -1: nowhere, and where they were */
};

struct build {
	struct joint *j;
	unsigned nodes, n;
	int *of;                   /* of each thread: its bundle, -1: it stays where it is */
	int *owner;                /* of each chunk: the bundle whose own it is, or -1 */
	struct bundle *bundle;
	struct bundle **order;     /* in which they are put down */
	unsigned row;              /* as long as a row of the following is */
	float *own;                /* [bundle * row + node]: traffic to own chunks as they lie */
	float *other;              /* the same to all other memory */
	float *there;              /* part of `copy` that is saved, since the pages are there */
	unsigned *here;            /* its threads that run there and may be moved, */
	float *price;              /* and what moving them takes */
	unsigned threads_on[MACHINE_NODES], most[MACHINE_NODES];
	int nearest[MACHINE_NODES];                              /* machine_nearest_memory */
	double demand[MACHINE_NODES], weight[MACHINE_NODES];
	double stretch[MACHINE_NODES];                           /* the likely one, at that demand */
	double *to;                /* [node * row + from]: the latency to memory of `node` from each node */
};

static void *zeroed(size_t n, size_t bytes)
{
	return calloc(n + 1, bytes);
}

static void free_build(struct build *b)
{
	free(b->of);
	free(b->owner);
	free(b->bundle);
	free(b->order);
	free(b->own);
	free(b->other);
	free(b->there);
	free(b->here);
	free(b->price);
	free(b->to);
}

static int begin(struct build *b, struct joint *j)
{
	unsigned row = rows_end(j->s->machine->n_nodes);
	size_t threads = j->s->n_threads, cells = (threads + 1) * row;
	*b = (struct build){ .j = j, .nodes = j->s->machine->n_nodes, .row = row };
	b->of = zeroed(threads, sizeof *b->of);
	b->owner = zeroed(j->s->n_chunks, sizeof *b->owner);
	b->bundle = zeroed(threads, sizeof *b->bundle);
	b->order = zeroed(threads, sizeof *b->order);
	b->own = zeroed(cells, sizeof *b->own);
	b->other = zeroed(cells, sizeof *b->other);
	b->there = zeroed(cells, sizeof *b->there);
	b->here = zeroed(cells, sizeof *b->here);
	b->price = zeroed(cells, sizeof *b->price);
	b->to = zeroed((size_t)b->nodes * b->row, sizeof *b->to);
	if (!b->of || !b->owner || !b->bundle || !b->order || !b->own || !b->other || !b->there || !b->here || !b->price || !b->to) {
		free_build(b);
		return -ENOMEM;
	}
	for (unsigned n = 0; n < b->nodes; n++)
		for (unsigned k = 0; k < b->nodes; k++) b->to[n * b->row + k] = (double)j->s->machine->latency_ns[k][n];
	return 0;
}

/* ---- what a bundle is --------------------------------------------------------------------------------- */

static unsigned largest_node(const struct joint *j)
{
	unsigned most = 0;
	for (unsigned n = 0; n < j->s->machine->n_nodes; n++)
		if (j->s->machine->node[n].n_cpus > most) most = j->s->machine->node[n].n_cpus;
	return most;
}

static int new_bundle(struct build *b)
{
	b->bundle[b->n] = (struct bundle){ .number = b->n, .node = -1, .memory = -1 };
	return (int)b->n++;
}

/* A group that fits on no node comes apart into bundles that do: each as large as the largest node, so that it meets on as few
 * nodes as it can. */
static int bundle_threads(struct build *b, const struct groups *g)
{
	const struct joint *j = b->j;
	unsigned most = largest_node(j);
	int *of_group = malloc((g ? g->n + 1 : 1) * sizeof *of_group);
	if (!of_group) return -ENOMEM;
	for (unsigned i = 0; g && i < g->n; i++) of_group[i] = -1;
	for (unsigned t = 0; t < j->s->n_threads; t++) {
		int group = g ? g->of[t] : GROUPS_NONE;
		b->of[t] = -1;
		if (!joint_may_thread(j, t)) continue;
		if (group < 0) b->of[t] = new_bundle(b);
		else {
			if (of_group[group] < 0 || b->bundle[of_group[group]].threads >= most) of_group[group] = new_bundle(b);
			b->of[t] = of_group[group];
		}
		b->bundle[b->of[t]].threads++;
		b->here[(unsigned)b->of[t] * b->row + (unsigned)j->s->thread[t].node]++;
		b->price[(unsigned)b->of[t] * b->row + (unsigned)j->s->thread[t].node] += j->thread_price[t];
	}
	free(of_group);
	return 0;
}

/* The bundle with most of a chunk's traffic, by a vote: each use takes from the one that leads, if it is not its own. */
static int find_owner(const struct build *b, const struct situation_chunk *c)
{
	const struct situation_use *use = situation_uses(b->j->s, c);
	float lead = 0, mine = 0, all = 0;
	int leads = -1;
	for (unsigned u = 0; u < c->n_uses; u++) {
		int of = b->of[use[u].thread];
		lead += of == leads ? use[u].rate : -use[u].rate;
		if (lead < 0) {
			leads = of;
			lead = -lead;
		}
	}
	for (unsigned u = 0; u < c->n_uses; u++) {
		all += use[u].rate;
		if (b->of[use[u].thread] == leads) mine += use[u].rate;
	}
	return mine >= OWNED * all ? leads : -1;
}

static void bundle_chunk(struct build *b, unsigned c)
{
	const struct joint *j = b->j;
	const struct situation_chunk *chunk = &j->s->chunk[c];
	int owner = joint_may_chunk(j, c) && chunk->where[0].node >= 0 ? find_owner(b, chunk) : -1;
	b->owner[c] = owner;
	if (owner < 0) return;
	float traffic = situation_traffic(j->s, chunk), copy = chunk->stands * (float)chunk->pages * j->s->page_move_ns * j->per_s;
	b->bundle[owner].traffic += traffic;
	b->bundle[owner].copy += copy + j->chunk_price[c];
	for (unsigned k = 0; k < SITUATION_WHERE && chunk->where[k].node >= 0; k++) {
		unsigned cell = (unsigned)owner * b->row + (unsigned)chunk->where[k].node;
		b->own[cell] += chunk->where[k].share * traffic;
		b->there[cell] += chunk->where[k].share * copy + (chunk->where[k].share >= 1 ? j->chunk_price[c] : 0);
	}
}

/* As long as the program is young, a thread of which nothing is known is taken for one like the others, with memory that goes where it
 * goes: or those that are known already would spread over its CPU. */
static void assume_traffic(struct build *b)
{
	const struct situation *s = b->j->s;
	float all = 0;
	unsigned known = 0;
	if (s->age_ns >= YOUNG_NS) return;
	for (unsigned t = 0; t < s->n_threads; t++) {
		float mine = 0;
		for (unsigned n = 0; n < b->nodes; n++) mine += b->j->e.reach[t * b->nodes + n];
		all += mine;
		known += mine > 0;
	}
	for (unsigned t = 0; known && t < s->n_threads; t++) {
		float mine = 0;
		for (unsigned n = 0; n < b->nodes; n++) mine += b->j->e.reach[t * b->nodes + n];
		int memory = b->of[t] < 0 || mine > 0 ? -1 : machine_nearest_memory(s->machine, (unsigned)s->thread[t].node);
		if (memory < 0) continue;
		b->bundle[b->of[t]].traffic += all / (float)known;
		b->own[(unsigned)b->of[t] * b->row + (unsigned)memory] += all / (float)known;
	}
}

/* A node's likely stretch, with so much more demand. */
static double likely(const struct build *b, unsigned n, float more)
{
	return estimate_likely((b->demand[n] + (double)more) * b->j->e.per_service[n]);
}

/* What is left on the nodes when all bundles are taken off: threads that stay, with all that they use, and the demand of others
 * for memory that is no bundle's own. */
static void take_off(struct build *b)
{
	const struct joint *j = b->j;
	memcpy(b->demand, j->e.demand, sizeof b->demand);
	for (unsigned t = 0; t < j->s->n_threads; t++) {
		int node = j->e.thread_node[t];
		for (unsigned n = 0; n < b->nodes; n++) {
			float reach = j->e.reach[t * b->nodes + n];
			if (b->of[t] >= 0) b->other[(unsigned)b->of[t] * b->row + n] += reach;
			else b->weight[n] += (double)(reach * j->s->machine->latency_ns[node < 0 ? (int)n : node][n]);
		}
		if (node >= 0 && b->of[t] < 0) b->threads_on[node]++;
	}
	for (unsigned i = 0; i < b->n * b->row; i++) {
		b->other[i] = b->other[i] > b->own[i] ? b->other[i] - b->own[i] : 0;
		b->demand[i % b->row] -= (double)b->own[i];
	}
	for (unsigned n = 0; n < b->nodes; n++) {
		if (b->demand[n] < 0) b->demand[n] = 0;
		b->stretch[n] = likely(b, n, 0);
		b->nearest[n] = machine_nearest_memory(j->s->machine, n);
	}
}

/* ---- putting them down -------------------------------------------------------------------------------- */

/* What `traffic` to memory of node `n` adds to all cost, wherever it comes from: all there is stretched, from `was` to `is`; and for each
 * node that it may come from, on top of that. (Costs here are a second's, in seconds: ns per ns.) */
static double add_memory(const struct build *b, unsigned n, float traffic, double was, double is, double *from)
{
	rows_add_double(from, &b->to[n * b->row], (double)traffic * is, b->nodes);
	return b->weight[n] * (is - was);
}

/* What a bundle costs wherever it is put; and on each node on top of that. */
struct costs {
	double base, left;                  /* `left`: its own memory, left where it lies */
	double on[MACHINE_NODES], on_left[MACHINE_NODES];
};

static void find_costs(const struct build *b, unsigned i, struct costs *costs)
{
	const float *own = &b->own[i * b->row], *other = &b->other[i * b->row], *price = &b->price[i * b->row];
	costs->base = costs->left = 0;
	for (unsigned n = 0; n < b->row; n++) costs->on[n] = costs->on_left[n] = 0;
	for (unsigned n = 0; n < b->nodes; n++) {
		costs->base += 1e-9 * (double)price[n];
		costs->on[n] -= 1e-9 * (double)price[n];
		if (other[n] > 0) costs->base += add_memory(b, n, other[n], b->stretch[n], b->stretch[n], costs->on);
		if (own[n] > 0) costs->left += add_memory(b, n, own[n], b->stretch[n], likely(b, n, own[n]), costs->on_left);
	}
}

struct spot { int node, memory; double cost; };

static unsigned beyond(unsigned threads, unsigned cores)
{
	return threads > cores ? threads - cores : 0;
}

/* The bundle on node `n`: its memory left where it is, or brought along, whichever costs less. Where it can't be below `most`, what is
 * returned may be any cost that is not. */
static struct spot cost_on(const struct build *b, unsigned i, unsigned n, const struct costs *costs, double most)
{
	const struct bundle *bundle = &b->bundle[i];
	const struct machine *m = b->j->s->machine;
	double base = costs->base + costs->on[n], left = costs->left + costs->on_left[n], brought = (double)INFINITY;
	unsigned sharing = beyond(b->threads_on[n] + bundle->threads, b->j->cores[n]) - beyond(b->threads_on[n], b->j->cores[n]);
	base += 1e-9 * (double)JOINT_CORE_SHARED * sharing;
	if (bundle->traffic > 0 && b->nearest[n] >= 0) {
		unsigned to = (unsigned)b->nearest[n];
		double accesses = (double)(bundle->traffic * m->latency_ns[n][to]);
		brought = 1e-9 * (double)(bundle->copy - b->there[i * b->row + to]);
		/* its traffic stretches that node's memory still more */
		double least = brought + accesses * b->stretch[to];
		if (base + (least < left ? least : left) >= most) return (struct spot){ (int)n, -1, (double)INFINITY };
		double is = likely(b, to, bundle->traffic);
		brought += b->weight[to] * (is - b->stretch[to]) + accesses * is;
	}
	bool brings = brought < left;
	return (struct spot){ (int)n, brings ? b->nearest[n] : -1, base + (brings ? brought : left) };
}

static void add_demand(struct build *b, unsigned n, float traffic)
{
	b->demand[n] += (double)traffic;
	b->stretch[n] = likely(b, n, 0);
}

/* The bundle where it is put, taken in (sign 1) or out (-1). */
static void count(struct build *b, const struct bundle *bundle, float sign)
{
	unsigned n = (unsigned)bundle->node, i = bundle->number;
	const float *latency = b->j->s->machine->latency_ns[n], *own = &b->own[i * b->row];
	rows_add_products(b->weight, &b->other[i * b->row], latency, sign, b->nodes);
	if (bundle->memory >= 0) {
		b->weight[bundle->memory] += (double)(sign * bundle->traffic * latency[bundle->memory]);
		add_demand(b, (unsigned)bundle->memory, sign * bundle->traffic);
	} else {
		rows_add_products(b->weight, own, latency, sign, b->nodes);
		for (unsigned k = 0; k < b->nodes; k++)
			if (own[k] > 0) add_demand(b, k, sign * own[k]);
	}
	b->threads_on[n] = sign > 0 ? b->threads_on[n] + bundle->threads : b->threads_on[n] - bundle->threads;
}

static bool put_down(struct build *b, struct bundle *bundle)
{
	struct spot best = { -1, -1, (double)INFINITY };
	struct costs costs;
	find_costs(b, bundle->number, &costs);
	for (unsigned n = 0; n < b->nodes; n++) {
		if (b->threads_on[n] + bundle->threads > b->most[n]) continue;
		struct spot spot = cost_on(b, bundle->number, n, &costs, best.cost);
		if (best.node < 0 || spot.cost < best.cost * (1 - 1e-6)) best = spot;
	}
	bundle->node = best.node;
	bundle->memory = best.memory;
	if (best.node >= 0) count(b, bundle, 1);
	return best.node >= 0;
}

/* Those that are together stay at first: what is must not be done anew each time. The threads of `bundle` that may move are all on this
 * node; -1: they are on several, or there is no room. */
static int together_on(const struct build *b, const struct bundle *bundle)
{
	int on = -1;
	for (unsigned n = 0; n < b->nodes; n++) {
		if (!b->here[bundle->number * b->row + n]) continue;
		if (on >= 0) return -1;
		on = (int)n;
	}
	return on >= 0 && b->threads_on[on] + bundle->threads <= b->most[on] ? on : -1;
}

static void put_back(struct build *b, struct bundle *bundle)
{
	int on = together_on(b, bundle);
	struct costs costs;
	if (on < 0) return;
	find_costs(b, bundle->number, &costs);
	struct spot spot = cost_on(b, bundle->number, (unsigned)on, &costs, (double)INFINITY);
	bundle->node = on;
	bundle->memory = spot.memory;
	count(b, bundle, 1);
}

/* Each, the easiest to move first, goes where it costs least by now. */
static void improve(struct build *b)
{
	bool moved = true;
	for (unsigned pass = 0; moved && pass < PASSES; pass++) {
		moved = false;
		for (unsigned i = b->n; i-- > 0;) {
			struct bundle *bundle = b->order[i], was = *bundle;
			if (was.node < 0) continue;
			count(b, bundle, -1);
			put_down(b, bundle);
			moved |= bundle->node != was.node || bundle->memory != was.memory;
		}
	}
}

static int hard_first(const void *a, const void *b)
{
	const struct bundle *x = *(struct bundle *const *)a, *y = *(struct bundle *const *)b;
	if (x->threads != y->threads) return x->threads > y->threads ? -1 : 1;
	if (x->copy > y->copy || x->copy < y->copy) return x->copy > y->copy ? -1 : 1;
	if (x->traffic > y->traffic || x->traffic < y->traffic) return x->traffic > y->traffic ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* A thread whose bundle found no room as a whole: where it is, or where there is most. */
static void put_thread(struct build *b, unsigned t)
{
	unsigned best = (unsigned)b->j->s->thread[t].node;
	if (b->threads_on[best] >= b->most[best])
		for (unsigned n = 0; n < b->nodes; n++)
			if ((int)b->most[n] - (int)b->threads_on[n] > (int)b->most[best] - (int)b->threads_on[best]) best = n;
	b->threads_on[best]++;
	estimate_move_thread(&b->j->e, t, best);
}

/* First on CPUs of their own; where there are not enough, the rest by each node's part. */
static void put_all(struct build *b)
{
	struct joint *j = b->j;
	for (unsigned i = 0; i < b->n; i++) b->order[i] = &b->bundle[i];
	qsort(b->order, b->n, sizeof *b->order, hard_first);
	memcpy(b->most, j->cap, sizeof b->most);
	for (unsigned i = 0; i < b->n; i++) put_back(b, b->order[i]);
	for (int pass = 0; pass < (j->scarce ? 2 : 1); pass++) {
		for (unsigned n = 0; n < b->nodes; n++) b->most[n] = pass ? j->cap[n] : j->s->machine->node[n].n_cpus;
		for (unsigned i = 0; i < b->n; i++)
			if (b->order[i]->node < 0) put_down(b, b->order[i]);
	}
	improve(b);
	for (unsigned t = 0; t < j->s->n_threads; t++) {
		if (b->of[t] < 0) continue;
		int node = b->bundle[b->of[t]].node;
		if (node < 0) put_thread(b, t);
		else if (j->e.thread_node[t] != node) estimate_move_thread(&j->e, t, (unsigned)node);
	}
	for (unsigned c = 0; c < j->s->n_chunks; c++) {
		int to = b->owner[c] < 0 ? -1 : b->bundle[b->owner[c]].memory;
		if (to >= 0 && estimate_share(&j->e, c, (unsigned)to) < 1) estimate_move_chunk(&j->e, c, (unsigned)to);
	}
}

int joint_build(struct joint *j, const struct groups *groups)
{
	struct build b;
	int ret = begin(&b, j);
	if (ret) return ret;
	ret = bundle_threads(&b, groups);
	if (!ret) {
		for (unsigned c = 0; c < j->s->n_chunks; c++) bundle_chunk(&b, c);
		take_off(&b);
		assume_traffic(&b);
		put_all(&b);
	}
	free_build(&b);
	return ret;
}
