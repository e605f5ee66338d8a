#include "pure/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/rows.h"
#include "pure/pure.h"

#define PER_S 1e9f   /* a cost of 1 is a thread that does nothing but wait for memory: 1e9 ns each second */

/* A node is stretched from demand alone; a thread of unknown place is charged as if it were local,
 * so that nothing is gained or lost by it. */
float estimate_stretch(const struct estimate *e, unsigned node, float more)
{
	float u = ((float)e->demand[node] + more) / e->situation->machine->node[node].lines_per_ns;
	return u > 1 ? u : 1;
}

static float latency(const struct estimate *e, int from, unsigned to)
{
	const struct machine *m = e->situation->machine;
	return from < 0 ? m->latency_ns[to][to] : m->latency_ns[from][to];
}

float estimate_share(const struct estimate *e, unsigned chunk, unsigned node)
{
	if (e->chunk_node[chunk] >= 0) return e->chunk_node[chunk] == (int)node ? 1 : 0;
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	for (unsigned k = 0; k < SITUATION_WHERE; k++)
		if (c->where[k].node == (int)node) return c->where[k].share;
	return 0;
}

/* The chunk's `share` on a node, taken in (sign 1) or out (-1). */
static void add_share(struct estimate *e, const struct situation_chunk *c, unsigned node, float share)
{
	const struct situation *s = e->situation;
	unsigned nodes = s->machine->n_nodes;
	double demand = 0, weight = 0;
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++) {
		const struct situation_use *use = &s->use[u];
		float rate = share * use->rate;
		e->reach[use->thread * nodes + node] += rate;
		demand += (double)rate;
		weight += (double)(rate * latency(e, e->thread_node[use->thread], node));
	}
	e->demand[node] += demand;
	e->weight[node] += weight;
}

static void add_reach(struct estimate *e, unsigned chunk, float sign)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	if (e->chunk_node[chunk] >= 0) {
		add_share(e, c, (unsigned)e->chunk_node[chunk], sign);
		return;
	}
	for (unsigned k = 0; k < SITUATION_WHERE && c->where[k].node >= 0; k++)
		add_share(e, c, (unsigned)c->where[k].node, sign * c->where[k].share);
}

static int make_room(struct estimate *e)
{
	const struct situation *s = e->situation;
	e->thread_node = malloc((s->n_threads + 1) * sizeof *e->thread_node);
	e->chunk_node = malloc((s->n_chunks + 1) * sizeof *e->chunk_node);
	e->reach = calloc((size_t)(s->n_threads + 1) * s->machine->n_nodes, sizeof *e->reach);
	if (e->thread_node && e->chunk_node && e->reach) return 0;
	estimate_free(e);
	return -ENOMEM;
}

int estimate_init(struct estimate *e, const struct situation *s)
{
	memset(e, 0, sizeof *e);
	e->situation = s;
	if (make_room(e)) return -ENOMEM;
	for (unsigned n = 0; n < s->machine->n_nodes; n++) e->per_service[n] = 1 / (double)s->machine->node[n].lines_per_ns;
	for (unsigned t = 0; t < s->n_threads; t++) {
		e->thread_node[t] = s->thread[t].node;
		if (s->thread[t].node >= 0) e->threads_on[s->thread[t].node]++;
	}
	for (unsigned c = 0; c < s->n_chunks; c++) {
		e->chunk_node[c] = -1;
		add_reach(e, c, 1);
	}
	return 0;
}

int estimate_copy(struct estimate *copy, const struct estimate *e)
{
	const struct situation *s = e->situation;
	*copy = *e;
	if (make_room(copy)) return -ENOMEM;
	memcpy(copy->thread_node, e->thread_node, s->n_threads * sizeof *e->thread_node);
	memcpy(copy->chunk_node, e->chunk_node, s->n_chunks * sizeof *e->chunk_node);
	memcpy(copy->reach, e->reach, (size_t)s->n_threads * s->machine->n_nodes * sizeof *e->reach);
	return 0;
}

void estimate_free(struct estimate *e)
{
	free(e->thread_node);
	free(e->chunk_node);
	free(e->reach);
	memset(e, 0, sizeof *e);
}

/* accesses x latency of all users of a chunk, were it on `node`; stretch left out */
static float chunk_latency(const struct estimate *e, const struct situation_chunk *c, unsigned node)
{
	float sum = 0;
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++) {
		const struct situation_use *use = &e->situation->use[u];
		sum += use->rate * latency(e, e->thread_node[use->thread], node);
	}
	return sum;
}

/* The next node above `after` (-1: the first) that some of the chunk lies on, or -1; and how much of it. */
static int next_where(const struct situation_chunk *c, int after, float *share)
{
	int next = -1;
	for (unsigned k = 0; k < SITUATION_WHERE; k++) {
		int node = c->where[k].node;
		if (node <= after || (next >= 0 && node > next)) continue;
		next = node;
		*share = c->where[k].share;
	}
	return next;
}

float estimate_chunk(const struct estimate *e, unsigned chunk)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	float sum = 0, share = 0;
	int moved = e->chunk_node[chunk];
	if (moved >= 0) return PER_S * chunk_latency(e, c, (unsigned)moved) * estimate_stretch(e, (unsigned)moved, 0);
	for (int n = next_where(c, -1, &share); n >= 0; n = next_where(c, n, &share))
		sum += share * chunk_latency(e, c, (unsigned)n) * estimate_stretch(e, (unsigned)n, 0);
	return PER_S * sum;
}

float estimate_chunk_left(const struct estimate *e, unsigned chunk)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	float sum = 0;
	for (unsigned k = 0; k < SITUATION_WHERE && c->where[k].node >= 0; k++)
		sum += c->where[k].share * chunk_latency(e, c, (unsigned)c->where[k].node) * estimate_stretch(e, (unsigned)c->where[k].node, 0);
	return PER_S * sum;
}

float estimate_chunk_on(const struct estimate *e, unsigned chunk, unsigned node)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	float more = (1 - estimate_share(e, chunk, node)) * situation_traffic(e->situation, c);
	return PER_S * chunk_latency(e, c, node) * estimate_stretch(e, node, more);
}

/* accesses x latency of a thread that runs on `node` to those it talks to. */
static float talk_latency(const struct estimate *e, unsigned thread, int node)
{
	const struct situation_thread *t = &e->situation->thread[thread];
	float sum = 0;
	for (unsigned k = t->first_talk; k < t->first_talk + t->n_talks; k++) {
		const struct situation_talk *talk = &e->situation->talk[k];
		int there = e->thread_node[talk->other];
		sum += talk->rate * latency(e, node, there < 0 ? (unsigned)node : (unsigned)there);
	}
	return sum;
}

float estimate_thread_on(const struct estimate *e, unsigned thread, unsigned node)
{
	unsigned nodes = e->situation->machine->n_nodes;
	float sum = 0;
	for (unsigned n = 0; n < nodes; n++) {
		float reach = e->reach[thread * nodes + n];
		if (reach > 0) sum += reach * latency(e, (int)node, n) * estimate_stretch(e, n, 0);
	}
	return PER_S * (sum + talk_latency(e, thread, (int)node));
}

float estimate_thread(const struct estimate *e, unsigned thread)
{
	int node = e->thread_node[thread];
	return node < 0 ? 0 : estimate_thread_on(e, thread, (unsigned)node);
}

double estimate_talks(const struct estimate *e)
{
	double sum = 0;
	for (unsigned t = 0; e->situation->n_talks && t < e->situation->n_threads; t++)
		if (e->thread_node[t] >= 0) sum += (double)talk_latency(e, t, e->thread_node[t]);
	return (double)PER_S * sum;
}

double estimate_cost(const struct estimate *e)
{
	double sum = 0;
	for (unsigned n = 0; n < e->situation->machine->n_nodes; n++) sum += e->weight[n] * (double)estimate_stretch(e, n, 0);
	return (double)PER_S * sum + estimate_talks(e);
}

/* A node that is full at so many streams for each CPU stretches by streams / that. The mean of max(1, streams / full) over the
 * five is piecewise linear and convex: the highest of the lines that its pieces lie on. */
double estimate_likely(double u)
{
	static const struct { double slope, at_0; } line[] = { { 1.6, 0.8 }, { 2.4, 0.6 }, { 2.8, 0.4 }, { 3, 0.2 }, { 3.1, 0 } };
	double streams = (double)MACHINE_STREAMS * u, most = 1;
	if (streams <= 0.125) return 1;   /* the first line is at 1 there */
	for (unsigned i = 0; i < sizeof line / sizeof *line; i++) {
		double on = line[i].slope * streams + line[i].at_0;
		if (on > most) most = on;
	}
	return most;
}

double estimate_likely_cost(const struct estimate *e)
{
	double sum = 0;
	for (unsigned n = 0; n < e->situation->machine->n_nodes; n++) sum += e->weight[n] * estimate_likely(e->demand[n] * e->per_service[n]);
	return (double)PER_S * sum + estimate_talks(e);
}

void estimate_latencies(const struct estimate *e, unsigned chunk, float *latency)
{
	const struct machine *m = e->situation->machine;
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	memset(latency, 0, rows_end(m->n_nodes) * sizeof *latency);
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++) {
		const struct situation_use *use = &e->situation->use[u];
		int node = e->thread_node[use->thread];
		if (node < 0) {
			for (unsigned n = 0; n < m->n_nodes; n++) latency[n] += use->rate * m->latency_ns[n][n];
			continue;
		}
		rows_add(latency, m->latency_ns[node], use->rate, m->n_nodes);
	}
}

static double at_least_1(double u)
{
	return u > 1 ? u : 1;
}

/* What a node's memory costs less without `share` of the chunk. */
static double without_share(const struct estimate *e, unsigned n, double share, double traffic, double latency)
{
	double w = e->weight[n], d = e->demand[n], all = e->per_service[n];
	return w * at_least_1(d * all) - (w - share * latency) * at_least_1((d - share * traffic) * all);
}

double estimate_without(const struct estimate *e, unsigned chunk, double traffic, const float *latency)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	int moved = e->chunk_node[chunk];
	float share = 0;
	double less = 0;
	if (moved >= 0) return (double)PER_S * without_share(e, (unsigned)moved, 1, traffic, (double)latency[moved]);
	for (int n = next_where(c, -1, &share); n >= 0; n = next_where(c, n, &share))
		if (share > 0) less += without_share(e, (unsigned)n, (double)share, traffic, (double)latency[n]);
	return (double)PER_S * less;
}

double estimate_again(const struct estimate *e, unsigned chunk, unsigned n, double traffic, float latency)
{
	double share = (double)estimate_share(e, chunk, n), all = e->per_service[n];
	double w = e->weight[n] - share * (double)latency, d = e->demand[n] - share * traffic;
	if (!e->situation->machine->node[n].memory_bytes) return (double)INFINITY;
	return (double)PER_S * ((w + (double)latency) * at_least_1((d + traffic) * all) - w * at_least_1(d * all));
}

bool estimate_is_full(const struct estimate *e, unsigned node)
{
	return e->demand[node] * e->per_service[node] > 1;
}

/* All of a chunk from one node to another: as add_share of both, in one go. */
static void move_all(struct estimate *e, const struct situation_chunk *c, unsigned from, unsigned to)
{
	const struct situation *s = e->situation;
	unsigned nodes = s->machine->n_nodes;
	double demand = 0, less = 0, more = 0;
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++) {
		uint32_t t = s->use[u].thread;
		float rate = s->use[u].rate;
		int on = e->thread_node[t];
		e->reach[t * nodes + from] -= rate;
		e->reach[t * nodes + to] += rate;
		demand += (double)rate;
		less += (double)(rate * latency(e, on, from));
		more += (double)(rate * latency(e, on, to));
	}
	e->demand[from] -= demand;
	e->weight[from] -= less;
	e->demand[to] += demand;
	e->weight[to] += more;
}

void estimate_move_chunk(struct estimate *e, unsigned chunk, unsigned node)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	int from = e->chunk_node[chunk] < 0 && c->where[0].share >= 1 ? c->where[0].node : e->chunk_node[chunk];
	if (from < 0) add_reach(e, chunk, -1);
	e->chunk_node[chunk] = (int16_t)node;
	if (from < 0) add_reach(e, chunk, 1);
	else move_all(e, c, (unsigned)from, node);
}

void estimate_move_thread(struct estimate *e, unsigned thread, unsigned node)
{
	unsigned nodes = e->situation->machine->n_nodes;
	int from = e->thread_node[thread];
	for (unsigned n = 0; n < nodes; n++) {
		float reach = e->reach[thread * nodes + n];
		e->weight[n] += (double)(reach * (latency(e, (int)node, n) - latency(e, from, n)));
	}
	if (from >= 0) e->threads_on[from]--;
	e->thread_node[thread] = (int16_t)node;
	e->threads_on[node]++;
}
