#include "mpi_charge.h"

#include <stddef.h>

/* The size of one that is too large for an int. */
uint64_t charge_large_type(MPI_Datatype type)
{
	MPI_Count size;

	return library.Type_size_x(type, &size) == MPI_SUCCESS && size > 0 ? (uint64_t)size : 0;
}

static MPI_Count at(struct counts counts, int i)
{
	return counts.wide != NULL ? counts.wide[i] : counts.narrow[i];
}

/* NULL where collectives are not charged. */
static const struct peers *within(MPI_Comm comm)
{
	const struct peers *peers = peers_of_comm(comm);

	return peers == NULL || peers->inter ? NULL : peers;
}

static void send(void *arg, int to, uint64_t bytes, uint64_t messages)
{
	charge_peer(arg, to, bytes, messages);
}

/* A block straight to everybody but oneself: n[rank] elements of types[rank], or all of *types where `step` is 0. */
static void to_each(const struct peers *peers, struct counts n, const MPI_Datatype *types, int step)
{
	uint64_t same = step == 0 ? charge_bytes(1, *types) : 0;

	for (int rank = 0; rank < peers->ranks; rank++) {
		if (rank == peers->me || at(n, rank) <= 0)
			continue;
		charge_peer(peers, rank, (uint64_t)at(n, rank) * (step == 0 ? same : charge_bytes(1, types[rank])), 1);
	}
}

static void same_to_each(const struct peers *peers, uint64_t bytes)
{
	for (int rank = 0; rank < peers->ranks; rank++)
		if (rank != peers->me)
			charge_peer(peers, rank, bytes, 1);
}

/* ---- one with all ------------------------------------------------------------------------------- */

void bcast(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL)
		pattern_bcast(peers_ranks(peers), root, charge_bytes(n, type), send, (void *)peers);
}

void reduce(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL)
		pattern_reduce(peers_ranks(peers), root, charge_bytes(n, type), send, (void *)peers);
}

void gather(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL && peers->me != root)
		charge_peer(peers, root, charge_bytes(n, type), 1);
}

void scatter(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL && peers->me == root)
		same_to_each(peers, charge_bytes(n, type));
}

void scatterv(struct counts n, MPI_Datatype type, int root, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL && peers->me == root)
		to_each(peers, n, &type, 0);
}

/* ---- all with all ------------------------------------------------------------------------------- */

void allreduce(MPI_Count n, MPI_Datatype type, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL)
		pattern_allreduce(peers_ranks(peers), charge_bytes(n, type), send, (void *)peers);
}

void scan(MPI_Count n, MPI_Datatype type, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL)
		pattern_scan(peers_ranks(peers), charge_bytes(n, type), send, (void *)peers);
}

void allgather(const void *sendbuf, MPI_Count n, MPI_Datatype type, MPI_Count n_received, MPI_Datatype received, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers == NULL)
		return;
	uint64_t block = sendbuf == MPI_IN_PLACE ? charge_bytes(n_received, received) : charge_bytes(n, type);

	pattern_ring(peers_ranks(peers), block * (uint64_t)peers->ranks, block, send, (void *)peers);
}

void allgatherv(struct counts n_received, MPI_Datatype received, MPI_Comm comm)
{
	const struct peers *peers = within(comm);
	uint64_t elements = 0;

	if (peers == NULL)
		return;
	uint64_t size = charge_bytes(1, received);

	for (int rank = 0; rank < peers->ranks; rank++)
		elements += (uint64_t)at(n_received, rank);
	pattern_ring(peers_ranks(peers), elements * size, (uint64_t)at(n_received, pattern_next(peers_ranks(peers))) * size, send,
	             (void *)peers);
}

void alltoall(const void *sendbuf, MPI_Count n, MPI_Datatype type, MPI_Count n_received, MPI_Datatype received, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL)
		same_to_each(peers, sendbuf == MPI_IN_PLACE ? charge_bytes(n_received, received) : charge_bytes(n, type));
}

void alltoallv(const void *sendbuf, struct counts n, MPI_Datatype type, struct counts n_received, MPI_Datatype received, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL && sendbuf == MPI_IN_PLACE)
		to_each(peers, n_received, &received, 0);
	else if (peers != NULL)
		to_each(peers, n, &type, 0);
}

void alltoallw(const void *sendbuf, struct counts n, const MPI_Datatype *types, struct counts n_received,
               const MPI_Datatype *received, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL && sendbuf == MPI_IN_PLACE)
		to_each(peers, n_received, received, 1);
	else if (peers != NULL)
		to_each(peers, n, types, 1);
}

void reduce_scatter(struct counts n, MPI_Datatype type, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL)
		to_each(peers, n, &type, 0);
}

void reduce_scatter_block(MPI_Count n, MPI_Datatype type, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	if (peers != NULL)
		same_to_each(peers, charge_bytes(n, type));
}

/* ---- neighbours --------------------------------------------------------------------------------- */

void neighbours(MPI_Count n, MPI_Datatype type, MPI_Comm comm)
{
	const struct peers *peers = within(comm);
	uint64_t bytes = peers != NULL ? charge_bytes(n, type) : 0;

	for (int i = 0; peers != NULL && i < peers->out; i++)
		charge_peer(peers, peers->neighbour[i], bytes, 1);
}

void neighbours_v(struct counts n, MPI_Datatype type, MPI_Comm comm)
{
	const struct peers *peers = within(comm);
	uint64_t size = peers != NULL ? charge_bytes(1, type) : 0;

	for (int i = 0; peers != NULL && i < peers->out; i++)
		charge_peer(peers, peers->neighbour[i], (uint64_t)at(n, i) * size, 1);
}

void neighbours_w(struct counts n, const MPI_Datatype *types, MPI_Comm comm)
{
	const struct peers *peers = within(comm);

	for (int i = 0; peers != NULL && i < peers->out; i++)
		charge_peer(peers, peers->neighbour[i], charge_bytes(at(n, i), types[i]), 1);
}
