/* Nodes for whole processes. The policy moves threads one by one, and what a process's threads have in
 * common is seldom in its evidence; where it does not matter to the estimate, they belong together. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/estimate.h"
#include "pure/team.h"

#include "pure/pure.h"

struct homes {
	const struct situation *s;
	const struct team_origin *origin;
	bool anew;                      /* nobody is settled */
	int16_t *home;
	unsigned room[MACHINE_NODES];   /* threads that a node still takes */
};

struct process {
	unsigned first, n;              /* its threads, side by side in the situation */
	bool known;                     /* something is: memory that it uses, or whom it talks to */
	bool settled;                   /* every thread has its place beside the others, or nothing is known of it yet */
};

static bool has_place(const struct situation_thread *t)
{
	return t->bound || t->fixed || t->node < 0;
}

static unsigned largest_node(const struct machine *m)
{
	unsigned most = 0;
	for (unsigned n = 0; n < m->n_nodes; n++)
		if (m->node[n].n_cpus > most) most = m->node[n].n_cpus;
	return most;
}

/* Its threads are on several nodes, though one would do for all of them: they came before it was known that there are others. */
static bool is_torn(const struct situation *s, const struct process *p)
{
	for (unsigned t = p->first + 1; t < p->first + p->n; t++)
		if (s->thread[t].node != s->thread[p->first].node && !s->thread[t].fixed) return p->n <= largest_node(s->machine);
	return false;
}

static void find_process(const struct homes *h, unsigned member, struct process *p)
{
	const struct situation *s = h->s;
	bool fixed = true;
	*p = (struct process){ .settled = true };
	for (unsigned t = 0; t < s->n_threads; t++) {
		if (h->origin[t].member != member) continue;
		if (!p->n++) p->first = t;
		p->settled &= has_place(&s->thread[t]);
		fixed &= s->thread[t].fixed;
		p->known |= s->thread[t].n_talks > 0;
	}
	for (unsigned u = 0; u < s->n_uses && !p->known; u++) p->known = s->use[u].thread >= p->first && s->use[u].thread < p->first + p->n;
	p->settled = fixed || (p->settled && !h->anew && !is_torn(s, p)) || !p->known;
}

/* What one of its threads costs on `node`, memory where it is; of those it talks to, those count that have a place. */
static float cost_on(const struct homes *h, const struct estimate *e, const struct process *p, unsigned node)
{
	const struct machine *m = h->s->machine;
	float sum = 0;
	for (unsigned t = p->first; t < p->first + p->n; t++) {
		const struct situation_thread *th = &h->s->thread[t];
		for (unsigned n = 0; n < m->n_nodes; n++) sum += e->reach[t * m->n_nodes + n] * m->latency_ns[node][n];
		for (unsigned k = th->first_talk; k < th->first_talk + th->n_talks; k++) {
			int there = h->home[h->s->talk[k].other];
			sum += h->s->talk[k].rate * m->latency_ns[node][there < 0 ? node : (unsigned)there];
		}
	}
	return sum;
}

static unsigned threads_on(const struct homes *h, const struct process *p, unsigned node)
{
	unsigned n = 0;
	for (unsigned t = p->first; t < p->first + p->n; t++) n += h->s->thread[t].node == (int)node;
	return n;
}

/* The node that takes all of it and costs least; where that is alike, where most of it is already, then where most room is. -1: none. */
static int best_home(const struct homes *h, const struct estimate *e, const struct process *p)
{
	const float alike = 0.99f;
	int best = -1;
	float least = INFINITY;
	for (unsigned n = 0; n < h->s->machine->n_nodes; n++) {
		if (h->room[n] < p->n) continue;
		float cost = cost_on(h, e, p, n);
		bool less = cost < alike * least, same = !less && cost * alike <= least;
		unsigned here = threads_on(h, p, n), there = best < 0 ? 0 : threads_on(h, p, (unsigned)best);
		if (!less && !(same && (best < 0 || here > there || (here == there && h->room[n] > h->room[best])))) continue;
		if (cost < least) least = cost;
		best = (int)n;
	}
	return best;
}

/* Too large for any node: as few nodes as possible, those with most room. */
static void spread(struct homes *h, const struct process *p)
{
	unsigned at = p->first, end = p->first + p->n;
	while (at < end) {
		unsigned most = 0;
		for (unsigned n = 1; n < h->s->machine->n_nodes; n++)
			if (h->room[n] > h->room[most]) most = n;
		if (!h->room[most]) break;
		for (; at < end && h->room[most]; at++, h->room[most]--) h->home[at] = (int16_t)most;
	}
	for (; at < end; at++) h->home[at] = h->s->thread[at].node;   /* more threads than CPUs */
}

static void settle(struct homes *h, const struct process *p)
{
	for (unsigned t = p->first; t < p->first + p->n; t++) {
		int node = h->home[t] = h->s->thread[t].node;
		if (node >= 0 && h->room[node]) h->room[node]--;
	}
}

static void set_rooms(struct homes *h)
{
	const struct machine *m = h->s->machine;
	for (unsigned n = 0; n < m->n_nodes; n++) {
		unsigned cpus = m->node[n].n_cpus, threads = h->s->n_threads;
		h->room[n] = threads <= m->n_cpus ? cpus : (threads * cpus + m->n_cpus - 1) / m->n_cpus;
	}
}

static void place(struct homes *h, const struct estimate *e, const struct process *p)
{
	int node = best_home(h, e, p);
	if (node < 0) {
		spread(h, p);
		return;
	}
	for (unsigned t = p->first; t < p->first + p->n; t++) h->home[t] = (int16_t)node;
	h->room[node] -= p->n;
}

static void mark_whole(const struct homes *h, const struct process *p, bool *whole)
{
	for (unsigned t = p->first; t < p->first + p->n; t++) {
		whole[t] = p->known && p->n > 1 && h->home[p->first] >= 0;
		if (h->home[t] != h->home[p->first] || h->s->thread[t].fixed) whole[p->first] = false;
	}
	for (unsigned t = p->first + 1; t < p->first + p->n; t++) whole[t] = whole[p->first];
}

/* The largest first: the small ones find room between them. */
static void place_all(struct homes *h, const struct estimate *e, struct process *process, unsigned members)
{
	unsigned size = 0, next = 0;
	for (unsigned i = 0; i < members; i++) {
		find_process(h, i, &process[i]);
		if (process[i].settled) settle(h, &process[i]);
		else if (process[i].n > size) size = process[i].n;
	}
	for (; size; size = next) {
		next = 0;
		for (unsigned i = 0; i < members; i++) {
			if (process[i].settled) continue;
			if (process[i].n == size) place(h, e, &process[i]);
			else if (process[i].n < size && process[i].n > next) next = process[i].n;
		}
	}
}

int team_homes(const struct situation *s, const struct team_origin *origin, unsigned members, bool anew, int16_t *home, bool *whole)
{
	struct homes h = { .s = s, .origin = origin, .home = home, .anew = anew };
	struct process *process = malloc((members + 1) * sizeof *process);
	struct estimate e;
	if (!process || estimate_init(&e, s)) {
		free(process);
		return -ENOMEM;
	}
	for (unsigned t = 0; t < s->n_threads; t++) home[t] = -1;
	set_rooms(&h);
	place_all(&h, &e, process, members);
	estimate_free(&e);
	for (unsigned t = 0; t < s->n_threads; t++)
		if (s->thread[t].fixed || s->thread[t].node < 0) home[t] = s->thread[t].node;
	for (unsigned i = 0; i < members; i++) mark_whole(&h, &process[i], whole);
	free(process);
	return 0;
}
