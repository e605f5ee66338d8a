#include "mpi_peers.h"

#include <stdlib.h>

#include "mpi_library.h"

static struct {
	MPI_Group group;
	bool known;
} job;

static void release(void *value)
{
	struct peers *peers = value;

	free(peers->world);
	free(peers->neighbour);
	free(peers);
}

struct handles peers_known = { .release = release };

void peers_start(MPI_Group group)
{
	job.group = group;
	job.known = true;
}

/* ---- whom messages go to ------------------------------------------------------------------------ */

static bool translate(MPI_Group group, int ranks, int32_t *world)
{
	int *own = malloc((size_t)ranks * sizeof(*own));
	bool translated = false;

	for (int i = 0; own != NULL && i < ranks; i++)
		own[i] = i;
	if (own != NULL)
		translated = library.Group_translate_ranks(group, ranks, own, job.group, world) == MPI_SUCCESS;
	free(own);
	for (int i = 0; translated && i < ranks; i++)
		if (world[i] < 0) /* MPI_UNDEFINED: not in the job */
			world[i] = MATRIX_OUTSIDE;
	return translated;
}

/* Most communicators are the job, or its rows and columns: then no table is kept. */
static void simplify(struct peers *peers)
{
	int32_t *world = peers->world;
	int stride = peers->ranks > 1 ? world[1] - world[0] : 0;

	for (int i = 0; i < peers->ranks; i++)
		if (world[i] != world[0] + stride * i)
			return;
	peers->base = world[0];
	peers->stride = stride;
	free(world);
	peers->world = NULL;
}

static bool name_ranks(struct peers *peers, MPI_Group group)
{
	if (library.Group_size(group, &peers->ranks) != MPI_SUCCESS || peers->ranks < 1)
		return false;
	peers->base = MATRIX_OUTSIDE;
	if (!job.known)
		return true;
	peers->world = malloc((size_t)peers->ranks * sizeof(*peers->world));
	if (peers->world == NULL || !translate(group, peers->ranks, peers->world))
		return false;
	simplify(peers);
	return true;
}

/* ---- topologies --------------------------------------------------------------------------------- */

static bool neighbours_cart(MPI_Comm comm, struct peers *peers)
{
	int dims;

	if (library.Cartdim_get(comm, &dims) != MPI_SUCCESS || dims < 1)
		return false;
	peers->neighbour = malloc(2 * (size_t)dims * sizeof(*peers->neighbour));
	if (peers->neighbour == NULL)
		return false;
	/* In the standard's order: for each dimension the one before, then the one behind. */
	for (int i = 0; i < dims; i++)
		if (library.Cart_shift(comm, i, 1, &peers->neighbour[2 * i], &peers->neighbour[2 * i + 1]) != MPI_SUCCESS)
			return false;
	peers->out = 2 * dims;
	return true;
}

static bool neighbours_graph(MPI_Comm comm, struct peers *peers)
{
	int out;

	if (library.Graph_neighbors_count(comm, peers->me, &out) != MPI_SUCCESS || out < 1)
		return false;
	peers->neighbour = malloc((size_t)out * sizeof(*peers->neighbour));
	if (peers->neighbour == NULL || library.Graph_neighbors(comm, peers->me, out, peers->neighbour) != MPI_SUCCESS)
		return false;
	peers->out = out;
	return true;
}

static bool neighbours_dist_graph(MPI_Comm comm, struct peers *peers)
{
	int in, out, weighted, *all;

	if (library.Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS || out < 1)
		return false;
	peers->neighbour = malloc((size_t)out * sizeof(*peers->neighbour));
	/* sources and both lists of weights have to be taken, too */
	all = malloc((2 * (size_t)in + (size_t)out + 1) * sizeof(*all));
	bool told = peers->neighbour != NULL && all != NULL &&
		    library.Dist_graph_neighbors(comm, in, all, all + in, out, peers->neighbour, all + 2 * in) == MPI_SUCCESS;

	free(all);
	peers->out = told ? out : 0;
	return told;
}

static void find_neighbours(MPI_Comm comm, struct peers *peers)
{
	int kind;

	if (library.Topo_test(comm, &kind) != MPI_SUCCESS)
		return;
	if (kind == MPI_CART)
		neighbours_cart(comm, peers);
	else if (kind == MPI_GRAPH)
		neighbours_graph(comm, peers);
	else if (kind == MPI_DIST_GRAPH)
		neighbours_dist_graph(comm, peers);
}

/* ---- learning ----------------------------------------------------------------------------------- */

static struct peers *keep(uintptr_t handle, struct peers *peers, bool whole)
{
	if (whole)
		return handles_add(&peers_known, handle, peers);
	if (peers != NULL)
		release(peers);
	return NULL;
}

struct peers *peers_learn_comm(MPI_Comm comm)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	int inter = 0;
	MPI_Group group;
	bool whole = peers != NULL && library.Comm_test_inter(comm, &inter) == MPI_SUCCESS &&
		     library.Comm_rank(comm, &peers->me) == MPI_SUCCESS &&
		     (inter ? library.Comm_remote_group : library.Comm_group)(comm, &group) == MPI_SUCCESS;

	if (whole) {
		whole = name_ranks(peers, group);
		library.Group_free(&group);
	}
	if (whole) {
		peers->inter = inter;
		if (!inter)
			find_neighbours(comm, peers);
	}
	return keep((uintptr_t)comm, peers, whole);
}

struct peers *peers_learn_win(MPI_Win win)
{
	struct peers *peers = calloc(1, sizeof(*peers));
	MPI_Group group;
	bool whole = peers != NULL && library.Win_get_group(win, &group) == MPI_SUCCESS;

	if (whole) {
		whole = library.Group_rank(group, &peers->me) == MPI_SUCCESS && name_ranks(peers, group);
		library.Group_free(&group);
	}
	return keep((uintptr_t)win, peers, whole);
}
