#include "pure/estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

#define PER_S 1e9f   /* a cost of 1 is a thread that does nothing but wait for memory: 1e9 ns each second */

/* A node is stretched from demand alone; a thread of unknown place is charged as if it were local,
 * so that nothing is gained or lost by it. */
float estimate_stretch(const struct estimate *e, unsigned node, float more)
{
	float u = (e->demand[node] + more) / e->situation->machine->node[node].lines_per_ns;
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

static void add_reach(struct estimate *e, unsigned chunk, float sign)
{
	const struct situation *s = e->situation;
	const struct situation_chunk *c = &s->chunk[chunk];
	for (unsigned n = 0; n < s->machine->n_nodes; n++) {
		float share = sign * estimate_share(e, chunk, n);
		if (!(share > 0) && !(share < 0)) continue;
		for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++) {
			e->reach[s->use[u].thread * s->machine->n_nodes + n] += share * s->use[u].rate;
			e->demand[n] += share * s->use[u].rate;
		}
	}
}

int estimate_init(struct estimate *e, const struct situation *s)
{
	memset(e, 0, sizeof *e);
	e->situation = s;
	e->thread_node = malloc((s->n_threads + 1) * sizeof *e->thread_node);
	e->chunk_node = malloc((s->n_chunks + 1) * sizeof *e->chunk_node);
	e->reach = calloc((s->n_threads + 1) * s->machine->n_nodes, sizeof *e->reach);
	if (!e->thread_node || !e->chunk_node || !e->reach) {
		estimate_free(e);
		return -ENOMEM;
	}
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

float estimate_chunk(const struct estimate *e, unsigned chunk)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	float sum = 0;
	for (unsigned n = 0; n < e->situation->machine->n_nodes; n++) {
		float share = estimate_share(e, chunk, n);
		if (share > 0) sum += share * chunk_latency(e, c, n) * estimate_stretch(e, n, 0);
	}
	return PER_S * sum;
}

float estimate_chunk_on(const struct estimate *e, unsigned chunk, unsigned node)
{
	const struct situation_chunk *c = &e->situation->chunk[chunk];
	float more = (1 - estimate_share(e, chunk, node)) * situation_traffic(e->situation, c);
	return PER_S * chunk_latency(e, c, node) * estimate_stretch(e, node, more);
}

float estimate_thread_on(const struct estimate *e, unsigned thread, unsigned node)
{
	unsigned nodes = e->situation->machine->n_nodes;
	float sum = 0;
	for (unsigned n = 0; n < nodes; n++) {
		float reach = e->reach[thread * nodes + n];
		if (reach > 0) sum += reach * latency(e, (int)node, n) * estimate_stretch(e, n, 0);
	}
	const struct situation_thread *t = &e->situation->thread[thread];
	for (unsigned k = t->first_talk; k < t->first_talk + t->n_talks; k++) {
		int there = e->thread_node[e->situation->talk[k].other];
		sum += e->situation->talk[k].rate * latency(e, (int)node, there < 0 ? node : (unsigned)there);
	}
	return PER_S * sum;
}

float estimate_thread(const struct estimate *e, unsigned thread)
{
	int node = e->thread_node[thread];
	return node < 0 ? 0 : estimate_thread_on(e, thread, (unsigned)node);
}

double estimate_cost(const struct estimate *e)
{
	double sum = 0;
	for (unsigned t = 0; t < e->situation->n_threads; t++) sum += (double)estimate_thread(e, t);
	return sum;
}

void estimate_move_chunk(struct estimate *e, unsigned chunk, unsigned node)
{
	add_reach(e, chunk, -1);
	e->chunk_node[chunk] = (int16_t)node;
	add_reach(e, chunk, 1);
}

void estimate_move_thread(struct estimate *e, unsigned thread, unsigned node)
{
	if (e->thread_node[thread] >= 0) e->threads_on[e->thread_node[thread]]--;
	e->thread_node[thread] = (int16_t)node;
	e->threads_on[node]++;
}
