#include "pure/cut.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "pure/pure.h"

enum { ROUNDS = 16 };   /* of exchanges: it comes to rest after two or three on all that was tried */

int cut_add(struct cut_graph *g, unsigned from, unsigned to, uint64_t bytes)
{
	if (from >= g->ranks || to >= g->ranks) return -EINVAL;
	if (from == to || !bytes) return 0;
	if (g->n_edges == g->room) {
		unsigned room = g->room ? 2 * g->room : 64;
		struct cut_edge *grown = realloc(g->edge, room * sizeof *grown);
		if (!grown) return -ENOMEM;
		g->edge = grown;
		g->room = room;
	}
	g->edge[g->n_edges++] = (struct cut_edge){ from < to ? from : to, from < to ? to : from, bytes };
	return 0;
}

static int order_of(const void *x, const void *y)
{
	const struct cut_edge *a = x, *b = y;
	if (a->a != b->a) return a->a < b->a ? -1 : 1;
	return a->b < b->b ? -1 : a->b > b->b;
}

void cut_finish(struct cut_graph *g)
{
	unsigned kept = 0;
	if (g->n_edges) qsort(g->edge, g->n_edges, sizeof *g->edge, order_of);
	for (unsigned i = 0; i < g->n_edges; i++) {
		if (kept && !order_of(&g->edge[kept - 1], &g->edge[i])) g->edge[kept - 1].bytes += g->edge[i].bytes;
		else g->edge[kept++] = g->edge[i];
	}
	g->n_edges = kept;
}

void cut_free(struct cut_graph *g)
{
	free(g->edge);
	*g = (struct cut_graph){ 0 };
}

uint64_t cut_bytes(const struct cut_graph *g, const unsigned *host)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < g->n_edges; i++)
		if (host[g->edge[i].a] != host[g->edge[i].b]) sum += g->edge[i].bytes;
	return sum;
}

uint64_t cut_all(const struct cut_graph *g)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < g->n_edges; i++) sum += g->edge[i].bytes;
	return sum;
}

/* ---- a placement that fits --------------------------------------------------------------------------------- */

struct fitting {
	const struct cut_graph *graph;
	const unsigned *slots;
	unsigned hosts;
	unsigned *host;
	unsigned *used;          /* ranks on each machine */
	double *talk;            /* [rank * hosts + host]: bytes with the ranks there */
};

static void count_talk(struct fitting *f)
{
	for (unsigned i = 0; i < f->graph->ranks * f->hosts; i++) f->talk[i] = 0;
	for (unsigned i = 0; i < f->graph->n_edges; i++) {
		const struct cut_edge *e = &f->graph->edge[i];
		f->talk[e->a * f->hosts + f->host[e->b]] += (double)e->bytes;
		f->talk[e->b * f->hosts + f->host[e->a]] += (double)e->bytes;
	}
}

static double gain_of(const struct fitting *f, unsigned rank, unsigned to)
{
	return f->talk[rank * f->hosts + to] - f->talk[rank * f->hosts + f->host[rank]];
}

static void move(struct fitting *f, unsigned rank, unsigned to)
{
	f->used[f->host[rank]]--;
	f->used[to]++;
	f->host[rank] = to;
	count_talk(f);
}

/* One rank from a machine with too many to one with room; false: there is none with too many. */
static bool move_surplus(struct fitting *f)
{
	unsigned best = f->graph->ranks, where = 0;
	for (unsigned r = 0; r < f->graph->ranks; r++)
		for (unsigned h = 0; f->used[f->host[r]] > f->slots[f->host[r]] && h < f->hosts; h++) {
			if (f->used[h] >= f->slots[h]) continue;
			if (best < f->graph->ranks && gain_of(f, r, h) <= gain_of(f, best, where)) continue;
			best = r;
			where = h;
		}
	if (best == f->graph->ranks) return false;
	move(f, best, where);
	return true;
}

static double between(const struct cut_graph *g, unsigned a, unsigned b)
{
	struct cut_edge key = { a < b ? a : b, a < b ? b : a, 0 };
	const struct cut_edge *e = g->n_edges ? bsearch(&key, g->edge, g->n_edges, sizeof key, order_of) : NULL;
	return e ? (double)e->bytes : 0;
}

/* The best exchange of two ranks, or move into a free slot; false: none gains. */
static bool exchange(struct fitting *f)
{
	double most = 0;
	unsigned a = 0, b = 0, to = 0;
	bool moves = false;
	for (unsigned r = 0; r < f->graph->ranks; r++) {
		for (unsigned h = 0; h < f->hosts; h++)
			if (f->used[h] < f->slots[h] && gain_of(f, r, h) > most) {
				most = gain_of(f, r, h);
				a = r;
				to = h;
				moves = true;
			}
		for (unsigned s = 0; s < r; s++) {
			if (f->host[r] == f->host[s]) continue;
			double gain = gain_of(f, r, f->host[s]) + gain_of(f, s, f->host[r]) - 2 * between(f->graph, r, s);
			if (!(gain > most)) continue;
			most = gain;
			a = r;
			b = s;
			moves = false;
		}
	}
	if (!(most > 0)) return false;
	unsigned from = f->host[a];
	move(f, a, moves ? to : f->host[b]);
	if (!moves) move(f, b, from);
	return true;
}

int cut_fit(const struct cut_graph *g, const unsigned *slots, unsigned hosts, unsigned *host)
{
	struct fitting f = { .graph = g, .slots = slots, .hosts = hosts, .host = host };
	f.used = calloc(hosts + 1, sizeof *f.used);
	f.talk = calloc((size_t)g->ranks * hosts + 1, sizeof *f.talk);
	int ret = f.used && f.talk ? 0 : -ENOMEM;
	if (!ret) {
		for (unsigned r = 0; r < g->ranks; r++) f.used[host[r]]++;
		count_talk(&f);
		while (move_surplus(&f))
			;
		for (unsigned i = 0; i < ROUNDS * g->ranks && exchange(&f); i++)
			;
	}
	free(f.used);
	free(f.talk);
	return ret;
}
