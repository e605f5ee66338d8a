#include "mpi_pattern.h"

/* The place of this rank in a tree whose root has place 0. */
static int place_of(struct pattern_ranks ranks, int root)
{
	return ranks.me >= root ? ranks.me - root : ranks.me - root + ranks.ranks;
}

static int rank_at(struct pattern_ranks ranks, int root, int place)
{
	return place < ranks.ranks - root ? place + root : place - (ranks.ranks - root);
}

/* In a binomial tree a place's parent lacks its lowest bit; its children have one more bit below that. */
void pattern_bcast(struct pattern_ranks ranks, int root, uint64_t bytes, pattern_send *send, void *arg)
{
	int place = place_of(ranks, root);

	for (int bit = 1; bit < ranks.ranks - place && !(place & bit); bit <<= 1)
		send(arg, rank_at(ranks, root, place + bit), bytes, 1);
}

void pattern_reduce(struct pattern_ranks ranks, int root, uint64_t bytes, pattern_send *send, void *arg)
{
	int place = place_of(ranks, root);

	if (place > 0)
		send(arg, rank_at(ranks, root, place & (place - 1)), bytes, 1);
}

/* Recursive doubling, for any number of ranks: those beyond the largest power of two hand their share
 * to a partner first, and get the result from it at the end. */
static void doubling(struct pattern_ranks ranks, uint64_t bytes, pattern_send *send, void *arg)
{
	int power = 1;

	while (power <= ranks.ranks / 2)
		power *= 2;
	int beyond = ranks.ranks - power; /* pairs among the first 2 * beyond ranks: the even one stands back */

	if (ranks.me < 2 * beyond) {
		send(arg, ranks.me ^ 1, bytes, 1);
		if (ranks.me % 2 == 0)
			return;
	}
	int place = ranks.me < 2 * beyond ? ranks.me / 2 : ranks.me - beyond;

	for (int bit = 1; bit < power; bit <<= 1) {
		int other = place ^ bit;

		send(arg, other < beyond ? 2 * other + 1 : other + beyond, bytes, 1);
	}
}

void pattern_allreduce(struct pattern_ranks ranks, uint64_t bytes, pattern_send *send, void *arg)
{
	uint64_t steps = 2 * (uint64_t)(ranks.ranks - 1);

	if (ranks.ranks < 2)
		return;
	if (bytes <= PATTERN_SHORT_BYTES)
		doubling(ranks, bytes, send, arg);
	else
		send(arg, pattern_next(ranks), steps * bytes / (uint64_t)ranks.ranks, steps);
}

void pattern_ring(struct pattern_ranks ranks, uint64_t total_bytes, uint64_t next_bytes, pattern_send *send, void *arg)
{
	if (ranks.ranks > 1)
		send(arg, pattern_next(ranks), total_bytes - next_bytes, (uint64_t)(ranks.ranks - 1));
}

void pattern_scan(struct pattern_ranks ranks, uint64_t bytes, pattern_send *send, void *arg)
{
	if (ranks.me + 1 < ranks.ranks)
		send(arg, ranks.me + 1, bytes, 1);
}
