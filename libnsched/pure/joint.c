#include "pure/joint.h"

#include "pure/pure.h"

bool joint_may_thread(const struct joint *j, unsigned t)
{
	return j->rules->threads && !j->s->thread[t].fixed && j->e.thread_node[t] >= 0;
}

bool joint_may_chunk(const struct joint *j, unsigned c)
{
	return j->rules->pages && !j->s->chunk[c].fixed;
}

float joint_copy(const struct joint *j, unsigned chunk, unsigned node)
{
	const struct situation_chunk *c = &j->s->chunk[chunk];
	return (1 - estimate_share(j->before, chunk, node)) * c->stands * (float)c->pages * j->s->page_move_ns * j->per_s;
}

int joint_more_sharing(const struct joint *j, const unsigned *threads_on, int from, unsigned to)
{
	return (threads_on[to] >= j->cores[to]) - (from >= 0 && threads_on[from] > j->cores[from]);
}

unsigned joint_sharing(const unsigned *cores, const unsigned *threads_on, unsigned nodes)
{
	unsigned sharing = 0;
	for (unsigned n = 0; n < nodes; n++)
		if (threads_on[n] > cores[n]) sharing += threads_on[n] - cores[n];
	return sharing;
}

double joint_prices(const struct joint *j)
{
	double sum = (double)JOINT_CORE_SHARED * joint_sharing(j->cores, j->e.threads_on, j->s->machine->n_nodes);
	for (unsigned t = 0; t < j->s->n_threads; t++)
		if (j->e.thread_node[t] != j->before->thread_node[t]) sum += (double)j->thread_price[t];
	for (unsigned c = 0; c < j->s->n_chunks; c++) {
		float copy = j->e.chunk_node[c] < 0 ? 0 : joint_copy(j, c, (unsigned)j->e.chunk_node[c]);
		if (copy > 0) sum += (double)(copy + j->chunk_price[c]);
	}
	return sum;
}
