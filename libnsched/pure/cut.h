/* Ranks on machines: what has to go over the network. */
#ifndef NSCHED_CUT_H
#define NSCHED_CUT_H

#include <stdint.h>

struct cut_edge {
	uint32_t a, b;       /* ranks, a < b */
	uint64_t bytes;      /* both ways */
};

struct cut_graph {
	unsigned ranks;
	struct cut_edge *edge;   /* sorted, each pair once, once cut_finish was called */
	unsigned n_edges, room;
};

/* Adds what `from` sent to `to`; what a rank sends to itself is nothing. 0; -EINVAL: no such rank; -ENOMEM. */
int cut_add(struct cut_graph *graph, unsigned from, unsigned to, uint64_t bytes);
void cut_finish(struct cut_graph *graph);
void cut_free(struct cut_graph *graph);

/* Bytes between ranks on different machines; host[rank] is a rank's machine. */
uint64_t cut_bytes(const struct cut_graph *graph, const unsigned *host);
uint64_t cut_all(const struct cut_graph *graph);

/* Makes of a placement one in which machine h has slots[h] ranks at the most: those move that lose least
 * by it; then pairs change places for as long as that gains. The slots must do for all ranks. 0 or -ENOMEM. */
int cut_fit(const struct cut_graph *graph, const unsigned *slots, unsigned hosts, unsigned *host);

#endif
