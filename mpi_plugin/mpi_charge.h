/* What each call of the table sends, charged to this rank's row: called after the call has succeeded, with
 * its arguments. Each names what it needs; `comm` and `n` elements of `type` are as in the call. */
#ifndef NSCHED_MPI_CHARGE_H
#define NSCHED_MPI_CHARGE_H

#include <stdint.h>

#include "mpi_family.h"
#include "mpi_library.h"
#include "mpi_matrix.h"
#include "mpi_peers.h"
#include "mpi_record.h"

/* An array of counts: of int, or of MPI_Count in the calls for large ones. */
struct counts {
	const int *narrow;
	const MPI_Count *wide;
};

uint64_t charge_large_type(MPI_Datatype type);

static inline uint64_t charge_bytes(MPI_Count n, MPI_Datatype type)
{
	int size;

	if (library.Type_size(type, &size) != MPI_SUCCESS)
		return 0;
	return (uint64_t)n * (size >= 0 ? (uint64_t)size : charge_large_type(type));
}

/* Negative ranks are nobody, or any (where the call failed, nothing gets here). */
static inline void charge_peer(const struct peers *peers, int rank, uint64_t bytes, uint64_t messages)
{
	if (peers == NULL || rank < 0 || rank >= peers->ranks)
		return;
	int32_t world = peers_world(peers, rank);

	if (record_open != NULL)
		record_write(world, bytes, messages);
	else
		matrix_add(world, bytes, messages);
}

/* One message from this rank to `rank`. */
static inline void sent(MPI_Count n, MPI_Datatype type, int rank, MPI_Comm comm)
{
	if (rank >= 0)
		charge_peer(peers_of_comm(comm), rank, charge_bytes(n, type), 1);
}

/* One-sided traffic with `rank`, either way: it is charged to the one who asks for it. */
static inline void moved(MPI_Count n, MPI_Datatype type, int rank, MPI_Win win)
{
	if (rank >= 0)
		charge_peer(peers_of_win(win), rank, charge_bytes(n, type), 1);
}

/* Collectives. Where sendbuf may be MPI_IN_PLACE the receiving side says what is sent. */
void bcast(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm);
void reduce(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm);
void allreduce(MPI_Count n, MPI_Datatype type, MPI_Comm comm);
void scan(MPI_Count n, MPI_Datatype type, MPI_Comm comm);
void gather(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm);
void scatter(MPI_Count n, MPI_Datatype type, int root, MPI_Comm comm);
void scatterv(struct counts n, MPI_Datatype type, int root, MPI_Comm comm);
void allgather(const void *sendbuf, MPI_Count n, MPI_Datatype type, MPI_Count n_received, MPI_Datatype received, MPI_Comm comm);
void allgatherv(struct counts n_received, MPI_Datatype received, MPI_Comm comm);
void alltoall(const void *sendbuf, MPI_Count n, MPI_Datatype type, MPI_Count n_received, MPI_Datatype received, MPI_Comm comm);
void alltoallv(const void *sendbuf, struct counts n, MPI_Datatype type, struct counts n_received, MPI_Datatype received, MPI_Comm comm);
void alltoallw(const void *sendbuf, struct counts n, const MPI_Datatype *types, struct counts n_received,
               const MPI_Datatype *received, MPI_Comm comm);
void reduce_scatter(struct counts n, MPI_Datatype type, MPI_Comm comm);
void reduce_scatter_block(MPI_Count n, MPI_Datatype type, MPI_Comm comm);
void neighbours(MPI_Count n, MPI_Datatype type, MPI_Comm comm);
void neighbours_v(struct counts n, MPI_Datatype type, MPI_Comm comm);
void neighbours_w(struct counts n, const MPI_Datatype *types, MPI_Comm comm);

#endif
