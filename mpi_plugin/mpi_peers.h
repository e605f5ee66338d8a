/* Who the ranks of a communicator (or a window) are in the job: translated once, when its first message is
 * seen, and forgotten when it is freed. */
#ifndef NSCHED_MPI_PEERS_H
#define NSCHED_MPI_PEERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi_family.h"
#include "mpi_handles.h"
#include "mpi_matrix.h"
#include "mpi_pattern.h"

struct peers {
	int ranks;       /* that messages can be sent to: of the remote group, between two groups */
	int me;          /* own rank in the local group */
	bool inter;      /* between two groups: collectives are not charged, their ways are another matter */
	int base, stride;/* the job's rank of rank r is base + stride * r, as it is for most: no table then */
	int32_t *world;  /* else this one, with MATRIX_OUTSIDE for those who are not of the job; or NULL */
	int out;         /* neighbours that a neighbourhood collective sends to; 0: no topology */
	int *neighbour;  /* their ranks, negative: nobody */
};

extern struct handles peers_known;

/* The group of the job, to which ranks are translated; kept. Until it is called all is outside. */
void peers_start(MPI_Group job);

/* Slow ways: not seen before. NULL: no memory, or the library refused. */
struct peers *peers_learn_comm(MPI_Comm comm);
struct peers *peers_learn_win(MPI_Win win);

/* Before it is freed. */
#define peers_forget(handle) handles_remove(&peers_known, (uintptr_t)(handle))

static inline struct peers *peers_of_comm(MPI_Comm comm)
{
	struct peers *peers = handles_find(&peers_known, (uintptr_t)comm);

	return peers != NULL ? peers : peers_learn_comm(comm);
}

static inline struct peers *peers_of_win(MPI_Win win)
{
	struct peers *peers = handles_find(&peers_known, (uintptr_t)win);

	return peers != NULL ? peers : peers_learn_win(win);
}

/* The job's rank of `rank`, which must be one of the communicator's. */
static inline int32_t peers_world(const struct peers *peers, int rank)
{
	return peers->world != NULL ? peers->world[rank] : peers->base + peers->stride * rank;
}

static inline struct pattern_ranks peers_ranks(const struct peers *peers)
{
	return (struct pattern_ranks){ .me = peers->me, .ranks = peers->ranks };
}

#endif
