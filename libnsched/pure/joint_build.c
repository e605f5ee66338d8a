#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/joint.h"
#include "pure/pure.h"

/* Another beginning for the search. A thread may gain by going only if its memory comes along, and the memory only if the
 * thread does: no step of one at a time finds that. So here everything is taken off the nodes, and put down again as
 * bundles, each with the memory that it alone uses: where that costs least, what lies on the nodes already, the copying and the
 * moves of threads counted. Bundles of many threads come first, which are hard to place, and then those with much memory, which
 * are dear to move. What comes of it is good, not yet best: the steps of one at a time go on from there. */

/* So much of a chunk's traffic must be a bundle's for the chunk to be its own; above a half, so that there is one at most. */
#define OWNED 0.75f

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
	float *own;                /* [bundle * nodes + node]: traffic to own chunks as they lie */
	float *other;              /* the same to all other memory */
	float *there;              /* part of `copy` that is saved, since the pages are there */
	float *price;              /* what moving those of its threads takes that run there */
	unsigned threads_on[MACHINE_NODES], most[MACHINE_NODES];
	double demand[MACHINE_NODES], weight[MACHINE_NODES];
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
	free(b->price);
}

static int begin(struct build *b, struct joint *j)
{
	size_t threads = j->s->n_threads, cells = (threads + 1) * j->s->machine->n_nodes;
	*b = (struct build){ .j = j, .nodes = j->s->machine->n_nodes };
	b->of = zeroed(threads, sizeof *b->of);
	b->owner = zeroed(j->s->n_chunks, sizeof *b->owner);
	b->bundle = zeroed(threads, sizeof *b->bundle);
	b->order = zeroed(threads, sizeof *b->order);
	b->own = zeroed(cells, sizeof *b->own);
	b->other = zeroed(cells, sizeof *b->other);
	b->there = zeroed(cells, sizeof *b->there);
	b->price = zeroed(cells, sizeof *b->price);
	if (b->of && b->owner && b->bundle && b->order && b->own && b->other && b->there && b->price) return 0;
	free_build(b);
	return -ENOMEM;
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

/* A group that fits on no node comes apart. */
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
		if (group < 0 || g->size[group] > most) b->of[t] = new_bundle(b);
		else b->of[t] = of_group[group] = of_group[group] < 0 ? new_bundle(b) : of_group[group];
		b->bundle[b->of[t]].threads++;
		b->price[(unsigned)b->of[t] * b->nodes + (unsigned)j->s->thread[t].node] += j->thread_price[t];
	}
	free(of_group);
	return 0;
}

/* The bundle with most of a chunk's traffic, by a vote: each use takes from the one that leads, if it is not its own. */
static int find_owner(const struct build *b, const struct situation_chunk *c)
{
	const struct situation_use *use = &b->j->s->use[c->first_use];
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
	float traffic = situation_traffic(j->s, chunk), copy = (float)chunk->pages * j->s->page_move_ns * j->per_s;
	b->bundle[owner].traffic += traffic;
	b->bundle[owner].copy += copy + j->chunk_price[c];
	for (unsigned k = 0; k < SITUATION_WHERE && chunk->where[k].node >= 0; k++) {
		unsigned cell = (unsigned)owner * b->nodes + (unsigned)chunk->where[k].node;
		b->own[cell] += chunk->where[k].share * traffic;
		b->there[cell] += chunk->where[k].share * copy + (chunk->where[k].share >= 1 ? j->chunk_price[c] : 0);
	}
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
			if (b->of[t] >= 0) b->other[(unsigned)b->of[t] * b->nodes + n] += reach;
			else b->weight[n] += (double)(reach * j->s->machine->latency_ns[node < 0 ? (int)n : node][n]);
		}
		if (node >= 0 && b->of[t] < 0) b->threads_on[node]++;
	}
	for (unsigned i = 0; i < b->n * b->nodes; i++) {
		b->other[i] = b->other[i] > b->own[i] ? b->other[i] - b->own[i] : 0;
		b->demand[i % b->nodes] -= (double)b->own[i];
	}
	for (unsigned n = 0; n < b->nodes; n++)
		if (b->demand[n] < 0) b->demand[n] = 0;
}

/* ---- putting them down -------------------------------------------------------------------------------- */

static double stretched(const struct build *b, unsigned n, double weight, double demand)
{
	double u = demand / (double)b->j->s->machine->node[n].lines_per_ns;
	return 1e9 * weight * (u > 1 ? u : 1);
}

/* What `traffic` to memory of node `n`, from CPUs of node `from`, adds to all cost; `more`: and to the node's demand. */
static double adds(const struct build *b, unsigned from, unsigned n, float traffic, bool more)
{
	double weight = (double)(traffic * b->j->s->machine->latency_ns[from][n]), demand = b->demand[n];
	return stretched(b, n, b->weight[n] + weight, more ? demand + (double)traffic : demand) - stretched(b, n, b->weight[n], demand);
}

struct spot { int node, memory; double cost; };

/* The bundle on node `n`: its memory left where it is, or brought along, whichever costs less. */
static struct spot cost_on(const struct build *b, unsigned i, unsigned n)
{
	const struct bundle *bundle = &b->bundle[i];
	const float *own = &b->own[i * b->nodes], *other = &b->other[i * b->nodes], *price = &b->price[i * b->nodes];
	double base = 0, left = 0, brought = (double)INFINITY;
	int memory = machine_nearest_memory(b->j->s->machine, n);
	for (unsigned k = 0; k < b->nodes; k++) {
		if (k != n) base += (double)price[k];
		if (other[k] > 0) base += adds(b, n, k, other[k], false);
		if (own[k] > 0) left += adds(b, n, k, own[k], true);
	}
	for (unsigned k = 0; k < bundle->threads; k++)
		if (b->threads_on[n] + k >= b->j->cores[n]) base += (double)JOINT_CORE_SHARED;
	if (bundle->traffic > 0 && memory >= 0)
		brought = (double)(bundle->copy - b->there[i * b->nodes + (unsigned)memory]) + adds(b, n, (unsigned)memory, bundle->traffic, true);
	bool brings = brought < left;
	return (struct spot){ (int)n, brings ? memory : -1, base + (brings ? brought : left) };
}

static void add_traffic(struct build *b, unsigned from, unsigned n, float traffic, bool more)
{
	b->weight[n] += (double)(traffic * b->j->s->machine->latency_ns[from][n]);
	if (more) b->demand[n] += (double)traffic;
}

static bool put_down(struct build *b, struct bundle *bundle)
{
	unsigned i = bundle->number;
	struct spot best = { -1, -1, (double)INFINITY };
	for (unsigned n = 0; n < b->nodes; n++) {
		if (b->threads_on[n] + bundle->threads > b->most[n]) continue;
		struct spot spot = cost_on(b, i, n);
		if (best.node < 0 || spot.cost < best.cost * (1 - 1e-6)) best = spot;
	}
	if (best.node < 0) return false;
	unsigned n = (unsigned)best.node;
	for (unsigned k = 0; k < b->nodes; k++) {
		add_traffic(b, n, k, b->other[i * b->nodes + k], false);
		if (best.memory < 0) add_traffic(b, n, k, b->own[i * b->nodes + k], true);
	}
	if (best.memory >= 0) add_traffic(b, n, (unsigned)best.memory, bundle->traffic, true);
	b->threads_on[n] += bundle->threads;
	bundle->node = best.node;
	bundle->memory = best.memory;
	return true;
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
	for (int pass = 0; pass < (j->scarce ? 2 : 1); pass++) {
		for (unsigned n = 0; n < b->nodes; n++) b->most[n] = pass ? j->cap[n] : j->s->machine->node[n].n_cpus;
		for (unsigned i = 0; i < b->n; i++)
			if (b->order[i]->node < 0) put_down(b, b->order[i]);
	}
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
		put_all(&b);
	}
	free_build(&b);
	return ret;
}
