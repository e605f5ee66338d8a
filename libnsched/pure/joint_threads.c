#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/joint.h"
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

struct transport {
	struct joint *j;
	unsigned nodes;
	float *cost;             /* [thread * nodes + node] */
	struct edge *edge;       /* [from * nodes + to] */
	int16_t *on;             /* of each thread that may be moved: its node, else -1 */
	float noise;
	bool moved;
};

/* latency[k][n]: to memory of k from CPUs of n. Most threads use memory of few nodes. */
static void add_costs(const struct transport *t, unsigned thread, float latency[][MACHINE_NODES], const float *stretch)
{
	const float *reach = &t->j->e.reach[thread * t->nodes];
	float cost[MACHINE_NODES] = { 0 };
	for (unsigned k = 0; k < t->nodes; k++) {
		float price = reach[k] * stretch[k];
		if (!(price > 0)) continue;
		for (unsigned n = 0; n < t->nodes; n += 4)
			for (unsigned i = n; i < n + 4; i++) cost[i] += price * latency[k][i];
	}
	for (unsigned n = 0; n < t->nodes; n++) t->cost[thread * t->nodes + n] = cost[n];
}

static void find_costs(struct transport *t)
{
	const struct joint *j = t->j;
	float stretch[MACHINE_NODES], latency[MACHINE_NODES][MACHINE_NODES];
	double all = 0;
	for (unsigned k = 0; k < t->nodes; k++) {
		stretch[k] = 1e9f * estimate_stretch(&j->e, k, 0);
		memset(latency[k], 0, sizeof latency[k]);
		for (unsigned n = 0; n < t->nodes; n++) latency[k][n] = j->s->machine->latency_ns[n][k];
	}
	for (unsigned i = 0; i < j->s->n_threads; i++) {
		float *cost = &t->cost[i * t->nodes];
		t->on[i] = joint_may_thread(j, i) ? j->e.thread_node[i] : (int16_t)-1;
		add_costs(t, i, latency, stretch);
		if (j->e.thread_node[i] >= 0) all += (double)cost[j->e.thread_node[i]];
		for (unsigned n = 0; n < t->nodes; n++)
			if (j->s->thread[i].node != (int)n) cost[n] += j->thread_price[i];
	}
	t->noise = (float)(NOISE * all) + 1;
}

/* The edges that leave a node. */
static void find_edges(struct transport *t, unsigned from)
{
	struct edge *edge = &t->edge[from * t->nodes];
	for (unsigned n = 0; n < t->nodes; n++) edge[n] = (struct edge){ -1, INFINITY };
	for (unsigned i = 0; i < t->j->s->n_threads; i++) {
		if (t->on[i] != (int)from) continue;
		const float *cost = &t->cost[i * t->nodes];
		for (unsigned n = 0; n < t->nodes; n++)
			if (cost[n] - cost[from] < edge[n].change) edge[n] = (struct edge){ (int)i, cost[n] - cost[from] };
	}
}

static void go(struct transport *t, unsigned from, unsigned to)
{
	unsigned thread = (unsigned)t->edge[from * t->nodes + to].thread;
	estimate_move_thread(&t->j->e, thread, to);
	t->on[thread] = (int16_t)to;
	t->moved = true;
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
		for (unsigned b = 0; b < t->nodes; b++) {
			const struct edge *edge = &t->edge[a * t->nodes + b];
			if (edge->thread < 0 || !may_go(t, a, b, free)) continue;
			float change = edge->change + JOINT_CORE_SHARED * (float)joint_more_sharing(t->j, t->j->e.threads_on, (int)a, b);
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
	go(t, a, b);
	if (step.exchange) go(t, b, a);
	find_edges(t, a);
	find_edges(t, b);
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
	bool in_ring[MACHINE_NODES] = { false };
	if (at < 0) return false;
	do {
		go(t, (unsigned)back[n], (unsigned)n);
		in_ring[n] = true;
		n = back[n];
	} while (n != at);
	for (unsigned k = 0; k < t->nodes; k++)
		if (in_ring[k]) find_edges(t, k);
	return true;
}

int joint_threads(struct joint *j)
{
	unsigned nodes = j->s->machine->n_nodes, most = MOVES_EACH * j->s->n_threads;
	struct transport t = { .j = j, .nodes = nodes };
	if (!j->rules->threads || !j->s->n_threads) return 0;
	t.cost = malloc((size_t)j->s->n_threads * nodes * sizeof *t.cost);
	t.edge = malloc((size_t)nodes * nodes * sizeof *t.edge);
	t.on = malloc(j->s->n_threads * sizeof *t.on);
	int ret = t.cost && t.edge && t.on ? 0 : -ENOMEM;
	if (!ret) {
		find_costs(&t);
		for (unsigned n = 0; n < nodes; n++) find_edges(&t, n);
		for (unsigned k = 0; k < most && take(&t, best_move(&t, true)); k++);
		for (unsigned k = 0; k < most && (take(&t, best_exchange(&t, best_move(&t, false))) || take_ring(&t)); k++);
		ret = t.moved;
	}
	free(t.cost);
	free(t.edge);
	free(t.on);
	return ret;
}
