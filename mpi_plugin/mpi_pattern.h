/* How collective calls move data: for each rank, what it sends to whom. MPI does not tell how its library
 * does it; these are the usual ways, which keep the two things that a placement asks for: how much a
 * rank sends, and to how near a rank. They are charged to the sender, each rank for itself, without
 * asking the others.
 *
 *  to all from one, and back   binomial tree: both families' choice up to long messages, and for those a
 *  (bcast, reduce)             pipeline, which moves as much
 *  allreduce                   short: recursive doubling, since only the number of steps counts then;
 *                              long: a ring that reduces, then one that gathers, since bytes count
 *  gather, scatter             straight to and from the root: the data has to get there, and trees only
 *                              send it on the way through others
 *  allgather                   ring: each step passes a block to the next rank
 *  alltoall, reduce_scatter,   as asked for: each block straight to the rank that it is for
 *  neighbours
 *  scan                        to the next rank
 *
 * Ranks are those of the communicator. Knows nothing of MPI. */
#ifndef NSCHED_MPI_PATTERN_H
#define NSCHED_MPI_PATTERN_H

#include <stdint.h>

/* Up to this many bytes an allreduce is short: where Open MPI's fixed rules change, and between
 * MPICH's (2 KiB) and what vendors tune it to. */
enum { PATTERN_SHORT_BYTES = 10000 };

struct pattern_ranks {
	int me, ranks;
};

/* Called for each rank that something is sent to. */
typedef void pattern_send(void *arg, int to, uint64_t bytes, uint64_t messages);

void pattern_bcast(struct pattern_ranks ranks, int root, uint64_t bytes, pattern_send *send, void *arg);
void pattern_reduce(struct pattern_ranks ranks, int root, uint64_t bytes, pattern_send *send, void *arg);
void pattern_allreduce(struct pattern_ranks ranks, uint64_t bytes, pattern_send *send, void *arg);

/* `total_bytes` of all blocks, `next_bytes` of the block that the next rank brings itself. */
void pattern_ring(struct pattern_ranks ranks, uint64_t total_bytes, uint64_t next_bytes, pattern_send *send, void *arg);
void pattern_scan(struct pattern_ranks ranks, uint64_t bytes, pattern_send *send, void *arg);

/* The rank that comes next in a ring. */
static inline int pattern_next(struct pattern_ranks ranks)
{
	return ranks.me + 1 == ranks.ranks ? 0 : ranks.me + 1;
}

#endif
