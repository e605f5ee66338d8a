#include "config.h"

#include "partition.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef HAVE_SCOTCH
#include <scotch.h>

enum { SEED = 1, WEIGHT_MOST = 1 << 20 };

/* Scotch's graph: for each rank the list of those that it talks to, with weights. */
struct lists {
	SCOTCH_Num *first, *other, *weight, *part, *slots;
	SCOTCH_Num n;
};

static int fill(const struct cut_graph *graph, struct lists *l)
{
	uint64_t most = 1;

	for (unsigned i = 0; i < graph->n_edges; i++)
		most = graph->edge[i].bytes > most ? graph->edge[i].bytes : most;
	for (unsigned i = 0; i < graph->n_edges; i++) {
		l->first[graph->edge[i].a + 1]++;
		l->first[graph->edge[i].b + 1]++;
	}
	for (unsigned r = 0; r < graph->ranks; r++)
		l->first[r + 1] += l->first[r];
	SCOTCH_Num *next = calloc(graph->ranks + 1, sizeof(*next));

	if (next == NULL)
		return -ENOMEM;
	for (unsigned r = 0; r < graph->ranks; r++)
		next[r] = l->first[r];
	for (unsigned i = 0; i < graph->n_edges; i++) {
		const struct cut_edge *e = &graph->edge[i];
		/* into what a number of Scotch's can hold, sums included; never 0 */
		SCOTCH_Num weight = (SCOTCH_Num)((double)e->bytes * WEIGHT_MOST / (double)most / graph->ranks) + 1;

		l->weight[next[e->a]] = l->weight[next[e->b]] = weight;
		l->other[next[e->a]++] = (SCOTCH_Num)e->b;
		l->other[next[e->b]++] = (SCOTCH_Num)e->a;
	}
	free(next);
	return 0;
}

static int map(const struct cut_graph *graph, unsigned hosts, struct lists *l)
{
	SCOTCH_Graph g;
	SCOTCH_Arch arch;
	SCOTCH_Strat strategy;
	int failed = SCOTCH_graphInit(&g) || SCOTCH_archInit(&arch) || SCOTCH_stratInit(&strategy);

	if (failed)
		return -ENOMEM;
	SCOTCH_randomSeed(SEED); /* the same answer each time */
	failed = SCOTCH_graphBuild(&g, 0, (SCOTCH_Num)graph->ranks, l->first, NULL, NULL, NULL, 2 * (SCOTCH_Num)graph->n_edges,
	                           l->other, l->weight) ||
	         SCOTCH_graphCheck(&g) || SCOTCH_archCmpltw(&arch, (SCOTCH_Num)hosts, l->slots) ||
	         SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, (SCOTCH_Num)hosts, 0.01) ||
	         SCOTCH_graphMap(&g, &arch, &strategy, l->part);
	SCOTCH_stratExit(&strategy);
	SCOTCH_archExit(&arch);
	SCOTCH_graphExit(&g);
	return failed ? -EINVAL : 0;
}

int partition(const struct cut_graph *graph, const unsigned *slots, unsigned hosts, unsigned *host)
{
	struct lists l = { 0 };
	size_t edges = 2 * (size_t)graph->n_edges + 1;

	l.first = calloc(graph->ranks + 1, sizeof(*l.first));
	l.other = calloc(edges, sizeof(*l.other));
	l.weight = calloc(edges, sizeof(*l.weight));
	l.part = calloc(graph->ranks, sizeof(*l.part));
	l.slots = calloc(hosts, sizeof(*l.slots));
	int result = l.first && l.other && l.weight && l.part && l.slots ? 0 : -ENOMEM;

	for (unsigned h = 0; result == 0 && h < hosts; h++)
		l.slots[h] = (SCOTCH_Num)slots[h];
	if (result == 0)
		result = fill(graph, &l);
	if (result == 0)
		result = map(graph, hosts, &l);
	for (unsigned r = 0; result == 0 && r < graph->ranks; r++)
		host[r] = (unsigned)l.part[r];
	free(l.first);
	free(l.other);
	free(l.weight);
	free(l.part);
	free(l.slots);
	return result;
}

#else

int partition(const struct cut_graph *graph, const unsigned *slots, unsigned hosts, unsigned *host)
{
	(void)graph;
	(void)slots;
	(void)hosts;
	(void)host;
	return -ENOSYS;
}

#endif
