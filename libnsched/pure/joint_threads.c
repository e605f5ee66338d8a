#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/joint.h"
#include "pure/rows.h"
#include "pure/pure.h"

/* Threads on nodes with room for so many each: for memory as it lies, each thread costs so much on each node, and neither
 * cost depends on the others. That is a transport problem, and is solved as one: nodes are the points of a graph, the
 * edge from a to b is the thread on a that gains most by going to b, and every ring of edges whose sum is below zero
 * is an exchange that pays; a way that ends where there is room is one, too. When there is none left, nothing better
 * exists. Single moves and exchanges of two are tried first, since they are found at once. */

enum { MOVES_EACH = 4 };   /* most moves for each thread: a bound, which nothing that was tried comes near */

#define NOISE 1e-6         /* of all cost: what sums of floats differ by is no gain */

struct edge {
	int thread;
	float change;
};

/* Threads of one node that may be moved: each knows the next and the one before, -1: none. */
struct link {
	int next, before;
};

struct transport {
	struct joint *j;
	unsigned nodes, row;
	float *cost;             /* [thread * row + node] */
	struct edge *edge;       /* [from * nodes + to] */
	struct link *link;       /* of each thread */
	int first[MACHINE_NODES];/* of each node's threads */
	float noise;
	bool moved;
};

/* latency[k][n]: to memory of k from CPUs of n. */
static void add_costs(const struct transport *t, unsigned thread, float latency[][MACHINE_NODES], const float *stretch)
{
	const float *reach = &t->j->e.reach[thread * t->nodes];
	float *cost = &t->cost[thread * t->row];
	memset(cost, 0, t->row * sizeof *cost);
	for (unsigned k = 0; k < t->nodes; k++) {
		float price = reach[k] * stretch[k];
		if (!(price > 0)) continue;   /* most threads use memory of few nodes */
		rows_add(cost, latency[k], price, t->nodes);
	}
}

/* A thread among those of a node, and out of them. */
static void enter(struct transport *t, unsigned thread, unsigned node)
{
	int next = t->first[node];
	t->link[thread] = (struct link){ next, -1 };
	if (next >= 0) t->link[next].before = (int)thread;
	t->first[node] = (int)thread;
}

static void leave(struct transport *t, unsigned thread, unsigned node)
{
	struct link link = t->link[thread];
	if (link.before >= 0) t->link[link.before].next = link.next;
	else t->first[node] = link.next;
	if (link.next >= 0) t->link[link.next].before = link.before;
}

static void find_costs(struct transport *t)
{
	const struct joint *j = t->j;
	float stretch[MACHINE_NODES], latency[MACHINE_NODES][MACHINE_NODES];
	double all = 0;
	for (unsigned k = 0; k < t->nodes; k++) {
		t->first[k] = -1;
		stretch[k] = 1e9f * estimate_stretch(&j->e, k, 0);
		memset(latency[k], 0, sizeof latency[k]);
		for (unsigned n = 0; n < t->nodes; n++) latency[k][n] = j->s->machine->latency_ns[n][k];
	}
	for (unsigned i = 0; i < j->s->n_threads; i++) {
		float *cost = &t->cost[i * t->row];
		int home = j->s->thread[i].node;
		add_costs(t, i, latency, stretch);
		if (j->e.thread_node[i] >= 0) all += (double)cost[j->e.thread_node[i]];
		float at_home = home >= 0 ? cost[home] : 0;
		rows_add_one(cost, j->thread_price[i], t->nodes);
		if (home >= 0) cost[home] = at_home;
		if (joint_may_thread(j, i)) enter(t, i, (unsigned)j->e.thread_node[i]);
	}
	t->noise = (float)(NOISE * all) + 1;
}

/* The thread instead, if it gains more by it. Of equals the lowest. */
static inline void prefer(struct edge *edge, int thread, float change)
{
	if (change < edge->change || (change <= edge->change && thread < edge->thread)) *edge = (struct edge){ thread, change };
}

/* A thread as the one to take from a node, to each other. */
static inline void offer(const struct transport *t, struct edge *edge, unsigned from, unsigned thread)
{
	const float *cost = &t->cost[thread * t->row];
	for (unsigned n = 0; n < t->nodes; n++) prefer(&edge[n], (int)thread, cost[n] - cost[from]);
}

/* The edges that leave a node. */
static void find_edges(struct transport *t, unsigned from)
{
	struct edge *edge = &t->edge[from * t->nodes];
	for (unsigned n = 0; n < t->nodes; n++) edge[n] = (struct edge){ -1, INFINITY };
	for (int i = t->first[from]; i >= 0; i = t->link[i].next) offer(t, edge, from, (unsigned)i);
}

/* One edge. */
static void find_edge(struct transport *t, unsigned from, unsigned to)
{
	struct edge best = { -1, INFINITY };
	for (int i = t->first[from]; i >= 0; i = t->link[i].next) {
		const float *cost = &t->cost[(unsigned)i * t->row];
		prefer(&best, i, cost[to] - cost[from]);
	}
	t->edge[from * t->nodes + to] = best;
}

/* A thread goes. Of the edges that leave where it was, those are found anew that it was; to find one by one pays for
 * a few of them. */
static void go(struct transport *t, unsigned thread, unsigned from, unsigned to)
{
	unsigned lost[MACHINE_NODES], n_lost = 0;
	estimate_move_thread(&t->j->e, thread, to);
	leave(t, thread, from);
	enter(t, thread, to);
	for (unsigned n = 0; n < t->nodes; n++)
		if (t->edge[from * t->nodes + n].thread == (int)thread) lost[n_lost++] = n;
	if (n_lost > t->nodes / 4) find_edges(t, from);
	else
		for (unsigned k = 0; k < n_lost; k++) find_edge(t, from, lost[k]);
	offer(t, &t->edge[to * t->nodes], to, thread);
	t->moved = true;
}

static unsigned thread_of(const struct transport *t, unsigned from, unsigned to)
{
	return (unsigned)t->edge[from * t->nodes + to].thread;
}

/* ---- single moves ------------------------------------------------------------------------------------- */

static unsigned cpus(const struct transport *t, unsigned n)
{
	return t->j->s->machine->node[n].n_cpus;
}

static bool is_free(const struct transport *t)
{
	for (unsigned n = 0; n < t->nodes; n++)
		if (t->j->e.threads_on[n] < cpus(t, n)) return true;
	return false;
}

/* Must a thread leave, whatever it costs? */
static bool must_leave(const struct transport *t, unsigned n, bool free)
{
	unsigned on = t->j->e.threads_on[n];
	return on > t->j->cap[n] || (free && on > cpus(t, n));
}

/* No thread goes where it has to wait from where it has a CPU, or while there is one. */
static bool may_go(const struct transport *t, unsigned from, unsigned to, bool free)
{
	unsigned on = t->j->e.threads_on[to];
	if (from == to || on >= t->j->cap[to]) return false;
	return on < cpus(t, to) || (t->j->e.threads_on[from] > cpus(t, from) && !free);
}

/* The best single move; `relief`: off nodes that threads must leave. */
struct step { int from, to; float change; bool exchange; };

static float fullness(const struct transport *t, unsigned n)
{
	return (float)t->j->e.threads_on[n] / (float)cpus(t, n);
}

static struct step best_move(const struct transport *t, bool relief)
{
	struct step best = { -1, -1, relief ? INFINITY : -t->noise, false };
	bool free = is_free(t);
	for (unsigned a = 0; a < t->nodes; a++) {
		if (relief && !must_leave(t, a, free)) continue;
		const struct edge *edge = &t->edge[a * t->nodes];
		/* what going may end at best: most can't win even so */
		float ends = t->j->e.threads_on[a] > t->j->cores[a] ? JOINT_CORE_SHARED : 0;
		for (unsigned b = 0; b < t->nodes; b++) {
			if (edge[b].change - ends >= best.change + t->noise || edge[b].thread < 0 || !may_go(t, a, b, free)) continue;
			float change = edge[b].change + JOINT_CORE_SHARED * (float)joint_more_sharing(t->j, t->j->e.threads_on, (int)a, b);
			bool alike = best.from >= 0 && change < best.change + t->noise && fullness(t, b) < fullness(t, (unsigned)best.to);
			if (change < best.change - (best.from >= 0 ? t->noise : 0) || alike) best = (struct step){ (int)a, (int)b, change, false };
		}
	}
	return best;
}

static struct step best_exchange(const struct transport *t, struct step best)
{
	for (unsigned a = 0; a < t->nodes; a++)
		for (unsigned b = 0; b < a; b++) {
			float change = t->edge[a * t->nodes + b].change + t->edge[b * t->nodes + a].change;
			if (change < best.change - t->noise) best = (struct step){ (int)a, (int)b, change, true };
		}
	return best;
}

static bool take(struct transport *t, struct step step)
{
	if (step.from < 0) return false;
	unsigned a = (unsigned)step.from, b = (unsigned)step.to;
	unsigned there = thread_of(t, a, b), back = step.exchange ? thread_of(t, b, a) : 0;
	go(t, there, a, b);
	if (step.exchange) go(t, back, b, a);
	return true;
}

/* ---- rings -------------------------------------------------------------------------------------------- */

/* The way that costs least to each node so far, and from where (after Bellman and Ford). Where a ring costs less than nothing there is
 * no end to it: after as many rounds as there are nodes, going back along the way runs into it. */
static int find_ring(const struct transport *t, int *back)
{
	float way[MACHINE_NODES] = { 0 };
	int last = -1;
	for (unsigned n = 0; n < t->nodes; n++) back[n] = -1;
	for (unsigned round = 0; round < t->nodes; round++) {
		last = -1;
		for (unsigned a = 0; a < t->nodes; a++)
			for (unsigned b = 0; b < t->nodes; b++) {
				const struct edge *edge = &t->edge[a * t->nodes + b];
				if (edge->thread < 0 || a == b || !(way[a] + edge->change < way[b] - t->noise)) continue;
				way[b] = way[a] + edge->change;
				back[b] = (int)a;
				last = (int)b;
			}
		if (last < 0) return -1;
	}
	for (unsigned k = 0; k < t->nodes; k++) last = back[last];
	return last;
}

static bool take_ring(struct transport *t)
{
	int back[MACHINE_NODES], at = find_ring(t, back), n = at;
	unsigned thread[MACHINE_NODES];
	if (at < 0) return false;
	do {
		thread[n] = thread_of(t, (unsigned)back[n], (unsigned)n);
		n = back[n];
	} while (n != at);
	do {
		go(t, thread[n], (unsigned)back[n], (unsigned)n);
		n = back[n];
	} while (n != at);
	return true;
}

int joint_threads(struct joint *j)
{
	unsigned nodes = j->s->machine->n_nodes, most = MOVES_EACH * j->s->n_threads;
	struct transport t = { .j = j, .nodes = nodes, .row = rows_end(nodes) };
	if (!j->rules->threads || !j->s->n_threads) return 0;
	t.cost = malloc((size_t)j->s->n_threads * t.row * sizeof *t.cost);
	t.edge = malloc((size_t)nodes * nodes * sizeof *t.edge);
	t.link = malloc(j->s->n_threads * sizeof *t.link);
	int ret = t.cost && t.edge && t.link ? 0 : -ENOMEM;
	if (!ret) {
		find_costs(&t);
		for (unsigned n = 0; n < nodes; n++) find_edges(&t, n);
		for (unsigned k = 0; k < most && take(&t, best_move(&t, true)); k++);
		for (unsigned k = 0; k < most && (take(&t, best_exchange(&t, best_move(&t, false))) || take_ring(&t)); k++);
		ret = t.moved;
	}
	free(t.cost);
	free(t.edge);
	free(t.link);
	return ret;
}
