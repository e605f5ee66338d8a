#include <math.h>
#include <string.h>

#include "pure/joint.h"
#include "pure/pure.h"

/* Between nodes that cost the same but for so much (of what the chunk costs), the one goes first whose memory is asked for
 * least: a chunk that all use has no better node, but the next one should not come to the same. */
#define ALIKE 1e-4

/* What latency alone costs, ns each second: a little less than that, since it is compared with differences of sums. */
#define LATENCY_ALONE (1e9 * (1 - 1e-9))

/* Nothing can be better for a chunk than to lie beside all of its users, on a node that serves all that it is asked for. */
static bool is_settled(const struct joint *j, unsigned c)
{
	const struct situation_chunk *chunk = &j->s->chunk[c];
	int node = j->e.chunk_node[c];
	if (node < 0 && chunk->where[0].share >= 1) node = chunk->where[0].node;
	if (node < 0 || estimate_is_full(&j->e, (unsigned)node)) return false;
	for (unsigned u = chunk->first_use; u < chunk->first_use + chunk->n_uses; u++)
		if (j->e.thread_node[j->s->use[u].thread] != node) return false;
	return true;
}

static double demand_part(const struct joint *j, unsigned n)
{
	return j->e.demand[n] / (double)j->s->machine->node[n].lines_per_ns;
}

/* What moving a chunk to a node takes of each second; nothing where all of it lay from the beginning. */
static double move_price(const struct joint *j, unsigned c, unsigned node)
{
	float copy = joint_copy(j, c, node);
	return copy > 0 ? (double)(copy + j->chunk_price[c]) : 0;
}

/* The latency of all accesses to a chunk as it lies: `latency` has what it is were all of it on a node. */
static float latency_here(const struct joint *j, unsigned c, const float *latency)
{
	const struct situation_chunk *chunk = &j->s->chunk[c];
	float sum = 0;
	if (j->e.chunk_node[c] >= 0) return latency[j->e.chunk_node[c]];
	for (unsigned k = 0; k < SITUATION_WHERE && chunk->where[k].node >= 0; k++) sum += chunk->where[k].share * latency[chunk->where[k].node];
	return sum;
}

/* Nodes with memory to which the users are nearer than this. How many. */
static unsigned find_nearer(const struct joint *j, const float *latency, float nearer, uint8_t *node)
{
	const struct machine *m = j->s->machine;
	unsigned found = 0;
	for (unsigned n = 0; n < m->n_nodes; n++)
		if (latency[n] < nearer && m->node[n].memory_bytes) node[found++] = (uint8_t)n;
	return found;
}

/* `own`: only where its own users are nearer. */
static bool place(struct joint *j, unsigned c, bool own)
{
	float latency[MACHINE_NODES];
	uint8_t node[MACHINE_NODES];
	estimate_latencies(&j->e, c, latency);
	float nearer = own ? (float)(1 - ALIKE) * latency_here(j, c, latency) : INFINITY;
	unsigned nodes = find_nearer(j, latency, nearer, node);
	if (!nodes) return false;
	double traffic = (double)situation_traffic(j->s, &j->s->chunk[c]), now = estimate_without(&j->e, c, traffic, latency);
	int here = j->e.chunk_node[c], best = -1;
	double least = now + (here >= 0 ? move_price(j, c, (unsigned)here) : 0), alike = ALIKE * now;
	for (unsigned k = 0; k < nodes; k++) {
		unsigned n = node[k];
		if ((int)n == here || LATENCY_ALONE * (double)latency[n] >= least + alike) continue;
		double cost = estimate_again(&j->e, c, n, traffic, latency[n]);
		if (!(cost < least + alike)) continue;
		cost += move_price(j, c, n);
		bool emptier = best >= 0 && cost < least + alike && demand_part(j, n) < demand_part(j, (unsigned)best) - ALIKE;
		if (!(cost < least - alike) && !emptier) continue;
		least = cost;
		best = (int)n;
	}
	if (best >= 0) estimate_move_chunk(&j->e, c, (unsigned)best);
	return best >= 0;
}

/* Have its users moved since chunks were looked at last? If not, no node has come nearer. */
static bool users_moved(const struct joint *j, unsigned c)
{
	const struct situation_chunk *chunk = &j->s->chunk[c];
	for (unsigned u = chunk->first_use; u < chunk->first_use + chunk->n_uses; u++)
		if (j->e.thread_node[j->s->use[u].thread] != j->seen[j->s->use[u].thread]) return true;
	return false;
}

/* Does some of it lie on a node that is asked for more than it serves? */
static bool is_on_full_node(const struct joint *j, unsigned c)
{
	const struct situation_chunk *chunk = &j->s->chunk[c];
	if (j->e.chunk_node[c] >= 0) return estimate_is_full(&j->e, (unsigned)j->e.chunk_node[c]);
	for (unsigned k = 0; k < SITUATION_WHERE && chunk->where[k].node >= 0; k++)
		if (estimate_is_full(&j->e, (unsigned)chunk->where[k].node)) return true;
	return false;
}

static bool place_all(struct joint *j, bool own)
{
	bool moved = false;
	for (unsigned c = 0; c < j->s->n_chunks; c++) {
		bool worth = own ? !j->looked || users_moved(j, c) : is_on_full_node(j, c);
		if (worth && joint_may_chunk(j, c) && !is_settled(j, c) && place(j, c, own)) moved = true;
	}
	return moved;
}

static bool is_any_full(const struct joint *j)
{
	for (unsigned n = 0; n < j->s->machine->n_nodes; n++)
		if (estimate_is_full(&j->e, n)) return true;
	return false;
}

/* First to nearer users: that makes room on full nodes, too. Only then is what has no better place moved off those. */
bool joint_memory(struct joint *j)
{
	size_t bytes = j->s->n_threads * sizeof *j->seen;
	bool moved = (!j->looked || memcmp(j->seen, j->e.thread_node, bytes)) && place_all(j, true);
	moved = (is_any_full(j) && place_all(j, false)) || moved;
	memcpy(j->seen, j->e.thread_node, bytes);
	j->looked = true;
	return moved;
}
