#include "pure/touch.h"

#include "pure/pure.h"

/* Do the threads that use it run where they did? Else the chunk waits until it is seen who touches it from where. */
static bool users_stay(const struct draft *d, const struct situation_chunk *c)
{
	for (unsigned u = c->first_use; u < c->first_use + c->n_uses; u++) {
		unsigned t = d->s->use[u].thread;
		if (d->after.thread_node[t] != d->before.thread_node[t]) return false;
	}
	return true;
}

void touch_follow(struct draft *d, float most, const bool *leave, const char *why)
{
	for (unsigned c = 0; c < d->s->n_chunks; c++) {
		const struct situation_chunk *chunk = &d->s->chunk[c];
		float on[MACHINE_NODES];
		if (leave && leave[c]) continue;
		int here = chunk->where[0].node, to = situation_toucher(d->s, chunk, on);
		if (!draft_may_chunk(d, c) || here < 0 || to < 0 || to != chunk->last || !users_stay(d, chunk)) continue;
		if (!(on[to] > most * situation_traffic(d->s, chunk)) || estimate_share(&d->before, c, (unsigned)to) >= 1) continue;
		if (here == to || on[to] > on[here]) draft_chunk(d, c, (unsigned)to, why);
	}
}

double touch_remote(const struct estimate *e)
{
	unsigned nodes = e->situation->machine->n_nodes;
	double remote = 0;
	for (unsigned t = 0; t < e->situation->n_threads; t++) {
		int node = e->thread_node[t], memory = node < 0 ? -1 : machine_nearest_memory(e->situation->machine, (unsigned)node);
		for (unsigned n = 0; memory >= 0 && n < nodes; n++)
			if (memory != (int)n) remote += (double)e->reach[t * nodes + n];
	}
	return remote;
}

float touch_share(const struct estimate *e, unsigned thread, unsigned node)
{
	unsigned nodes = e->situation->machine->n_nodes;
	const float *reach = &e->reach[thread * nodes];
	float all = 0;
	for (unsigned n = 0; n < nodes; n++) all += reach[n];
	return all > 0 ? reach[node] / all : 0;
}
