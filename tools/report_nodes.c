#include "report_nodes.h"

#include <errno.h>
#include <stdlib.h>

#include "partition.h"

struct inside {
	const struct cut_graph *graph;   /* of all ranks */
	unsigned n, nodes, width;        /* ranks of this machine; width: on each of its nodes */
	unsigned *rank;                  /* of each of them its number in the job, */
	unsigned *local;                 /* and of each of the job's its number here, or n */
	unsigned *node, *slots;
};

static int collect(struct inside *in, struct cut_graph *own)
{
	int ret = 0;

	own->ranks = in->n;
	for (unsigned i = 0; ret == 0 && i < in->graph->n_edges; i++) {
		const struct cut_edge *edge = &in->graph->edge[i];

		if (in->local[edge->a] < in->n && in->local[edge->b] < in->n)
			ret = cut_add(own, in->local[edge->a], in->local[edge->b], edge->bytes);
	}
	cut_finish(own);
	return ret;
}

/* in->node[]: which node each of the machine's ranks should have. */
static int choose(struct inside *in, struct nodes_cut *cut)
{
	struct cut_graph own = { 0 };
	int ret = collect(in, &own);
	uint64_t before, after;

	for (unsigned k = 0; k < in->n; k++)
		in->node[k] = k / in->width;
	before = after = ret == 0 ? cut_bytes(&own, in->node) : 0;
	if (before > 0 && partition(&own, in->slots, in->nodes, in->node) == 0 && cut_fit(&own, in->slots, in->nodes, in->node) == 0)
		after = cut_bytes(&own, in->node);
	if (after >= before)
		for (unsigned k = 0; k < in->n; k++)
			in->node[k] = k / in->width;
	cut->before += before;
	cut->after += after < before ? after : before;
	cut_free(&own);
	return ret;
}

static int place_host(struct inside *in, unsigned *place, struct nodes_cut *cut)
{
	unsigned next = 0;
	int ret = 0;

	for (unsigned k = 0; k < in->n; k++)
		place[in->rank[k]] = k;
	if (in->nodes < 2 || in->n % in->nodes != 0 || in->n == in->nodes)
		return 0;
	in->width = in->n / in->nodes;
	for (unsigned n = 0; n < in->nodes; n++)
		in->slots[n] = in->width;
	ret = choose(in, cut);
	for (unsigned n = 0; ret == 0 && n < in->nodes; n++)
		for (unsigned k = 0; k < in->n; k++)
			if (in->node[k] == n)
				place[in->rank[k]] = next++;
	return ret;
}

int report_nodes(const struct cut_graph *graph, const unsigned *of_rank, const unsigned *slots, const unsigned *nodes, unsigned hosts,
                 unsigned *place, struct nodes_cut *cut)
{
	struct inside in = { .graph = graph };
	int ret = -ENOMEM;

	*cut = (struct nodes_cut){ 0 };
	in.rank = calloc(graph->ranks + 1, sizeof(*in.rank));
	in.local = calloc(graph->ranks + 1, sizeof(*in.local));
	in.node = calloc(graph->ranks + 1, sizeof(*in.node));
	in.slots = calloc(graph->ranks + 1, sizeof(*in.slots));
	if (in.rank != NULL && in.local != NULL && in.node != NULL && in.slots != NULL)
		ret = 0;
	for (unsigned h = 0; ret == 0 && h < hosts; h++) {
		in.n = 0;
		in.nodes = nodes[h];
		for (unsigned r = 0; r < graph->ranks; r++)
			if (of_rank[r] == h)
				in.rank[in.n++] = r;
		for (unsigned r = 0; r < graph->ranks; r++)
			in.local[r] = in.n;
		for (unsigned k = 0; k < in.n; k++)
			in.local[in.rank[k]] = k;
		ret = in.n == slots[h] ? place_host(&in, place, cut) : -EINVAL;
	}
	free(in.rank);
	free(in.local);
	free(in.node);
	free(in.slots);
	return ret;
}
