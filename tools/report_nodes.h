/* Ranks onto the NUMA nodes of their machines by what they send to each other. */
#ifndef NSCHED_REPORT_NODES_H
#define NSCHED_REPORT_NODES_H

#include "libnsched/pure/cut.h"

/* What went between nodes if a machine's ranks, in their order, fill one node after the other; and as placed. */
struct nodes_cut { uint64_t before, after; };

/* place[rank]: which of its machine's ranks each one is to be, where they fill one node after the other, so that little goes
 * between nodes; of_rank[rank] is its machine, slots and nodes are of each machine. Where ranks do not divide by nodes, or it does not
 * help, the order of the ranks. 0 or -ENOMEM. */
int report_nodes(const struct cut_graph *graph, const unsigned *of_rank, const unsigned *slots, const unsigned *nodes, unsigned hosts,
                 unsigned *place, struct nodes_cut *cut);

#endif
