#include "pure/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

/* Partners kept for each thread: those it shares most with. A thread with more partners shares with all of them alike, and is
 * joined to them through the main users of what they share. */
enum { PARTNERS = 8 };

/* Two threads are of one group if so much of what either uses is shared between the two: less, such as the rim
 * that neighbours in a stencil share, must not join all threads to one chain. */
#define SHARED_LEAST 0.25f

/* Two that were put on one node already stay a group down to this: what samples show of a steady program differs by some hundredths from
 * look to look, and a group that comes and goes would move with it. */
#define SHARED_STAYS 0.15f

/* Two that were moved before become a group from more on each time, up to this. */
#define SHARED_AGAIN 0.6f

struct partner {
	int thread;
	float shared;
};

struct finder {
	const struct situation *s;
	struct partner (*partner)[PARTNERS];
	float *traffic;      /* of each thread, all of it */
	int *parent;         /* of the forest of groups: the root is the lowest thread */
};

/* The counters of a thread's frequent partners (after Misra and Gries): one that is not among them takes from all. */
static void add_shared(struct partner *p, int thread, float shared)
{
	int least = 0;
	for (int k = 0; k < PARTNERS; k++) {
		if (p[k].shared > 0 && p[k].thread == thread) {
			p[k].shared += shared;
			return;
		}
		if (p[k].shared < p[least].shared) least = k;
	}
	float taken = p[least].shared < shared ? p[least].shared : shared;
	for (int k = 0; k < PARTNERS; k++) p[k].shared -= taken;
	if (shared > taken) p[least] = (struct partner){ thread, shared - taken };
}

/* All users of a chunk share it with its main user. */
static void look_at_chunk(struct finder *f, const struct situation_chunk *c)
{
	const struct situation_use *use = situation_uses(f->s, c);
	unsigned main = 0;
	for (unsigned u = 0; u < c->n_uses; u++) {
		f->traffic[use[u].thread] += use[u].rate;
		if (use[u].rate > use[main].rate) main = u;
	}
	for (unsigned u = 0; u < c->n_uses; u++) {
		if (use[u].thread == use[main].thread) continue;
		add_shared(f->partner[use[u].thread], (int)use[main].thread, use[u].rate);
		add_shared(f->partner[use[main].thread], (int)use[u].thread, use[u].rate);
	}
}

static int root(int *parent, int t)
{
	while (parent[t] != t) t = parent[t] = parent[parent[t]];
	return t;
}

static float least_shared(const struct situation *s, int t, int other)
{
	const struct situation_thread *a = &s->thread[t], *b = &s->thread[other];
	if (a->bound && b->bound && a->node == b->node) return SHARED_STAYS;
	return situation_again(a->times > b->times ? a : b, SHARED_LEAST, SHARED_AGAIN);
}

static void join(struct finder *f)
{
	for (int t = 0; t < (int)f->s->n_threads; t++)
		for (int k = 0; k < PARTNERS; k++) {
			const struct partner *p = &f->partner[t][k];
			if (!(p->shared > 0) || !(p->shared >= least_shared(f->s, t, p->thread) * f->traffic[t])) continue;
			int a = root(f->parent, t), b = root(f->parent, p->thread);
			if (a < b) f->parent[b] = a;
			else f->parent[a] = b;
		}
}

static void number(struct groups *g, struct finder *f)
{
	unsigned threads = f->s->n_threads;
	for (unsigned t = 0; t < threads; t++) g->size[root(f->parent, (int)t)]++;
	for (unsigned t = 0; t < threads; t++) {
		int r = root(f->parent, (int)t);
		if (r != (int)t) g->of[t] = g->of[r];
		else g->of[t] = g->size[t] > 1 ? (int)g->n++ : GROUPS_NONE;
	}
	/* the sizes go to the front: a group's number is at most its root's */
	for (unsigned t = 0; t < threads; t++)
		if (f->parent[t] == (int)t && g->of[t] >= 0) g->size[g->of[t]] = g->size[t];
}

int groups_find(struct groups *g, const struct situation *s)
{
	size_t room = s->n_threads + 1;
	struct finder f = { s, calloc(room, sizeof *f.partner), calloc(room, sizeof *f.traffic), malloc(room * sizeof *f.parent) };
	*g = (struct groups){ malloc(room * sizeof *g->of), calloc(room, sizeof *g->size), 0 };
	int ret = f.partner && f.traffic && f.parent && g->of && g->size ? 0 : -ENOMEM;
	if (!ret) {
		for (unsigned t = 0; t < s->n_threads; t++) f.parent[t] = (int)t;
		for (unsigned c = 0; c < s->n_chunks; c++)
			if (s->chunk[c].n_uses > 1) look_at_chunk(&f, &s->chunk[c]);
			else if (s->chunk[c].n_uses) f.traffic[s->use[s->chunk[c].first_use].thread] += s->use[s->chunk[c].first_use].rate;
		join(&f);
		number(g, &f);
	}
	free(f.partner);
	free(f.traffic);
	free(f.parent);
	if (ret) groups_free(g);
	return ret;
}

void groups_free(struct groups *g)
{
	free(g->of);
	free(g->size);
	memset(g, 0, sizeof *g);
}
