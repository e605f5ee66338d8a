/* Calls of all ranks together, among neighbours, and one-sided. */
#include "calls.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

static void note_all(unsigned long bytes)
{
	for (int rank = 0; rank < ranks; rank++)
		if (rank != me)
			note(rank, bytes);
}

/* ---- collectives that say who gets what ------------------------------------------------------------- */

static int counts[MOST], at[MOST], same[MOST], same_at[MOST];
static MPI_Datatype types[MOST];

static void prepare_counts(void)
{
	for (int i = 0; i < ranks; i++) {
		counts[i] = me + i + 1; /* what rank a sends to b is what b expects of a */
		at[i] = i * N;
		same[i] = 2;
		same_at[i] = 2 * i;
		types[i] = MPI_INT;
	}
}

static void note_counts(void)
{
	for (int i = 0; i < ranks; i++)
		if (i != me)
			note(i, ints(counts[i]));
}

/* The same three times: at once, begun, and prepared (with two starts), where the library has that. */
#define BEGUN(call)                               \
	do {                                          \
		MPI_Request request;                      \
		call;                                     \
		MPI_Wait(&request, MPI_STATUS_IGNORE);    \
	} while (0)
#if MPI_VERSION >= 4
#define STARTED(call)                                 \
	do {                                              \
		MPI_Request request;                          \
		call;                                         \
		for (int starts = 0; starts < 2; starts++) {  \
			MPI_Start(&request);                      \
			MPI_Wait(&request, MPI_STATUS_IGNORE);    \
		}                                             \
		MPI_Request_free(&request);                   \
	} while (0)
enum { TIMES = 4 };
#else
#define STARTED(call) ((void)0)
enum { TIMES = 2 };
#endif
#define WORLD MPI_COMM_WORLD
#define OPEN(...) __VA_ARGS__
#define EACH(name, iname, args)                           \
	MPI_##name(OPEN args);                                \
	BEGUN(MPI_##iname(OPEN args, &request));              \
	STARTED(MPI_##name##_init(OPEN args, MPI_INFO_NULL, &request))

static void blocks(void)
{
	int byte_at[MOST];

	EACH(Alltoall, Ialltoall, (out, 2, MPI_INT, in, 2, MPI_INT, WORLD));
	EACH(Alltoallv, Ialltoallv, (out, counts, at, MPI_INT, in, counts, at, MPI_INT, WORLD));
	for (int i = 0; i < ranks; i++)
		byte_at[i] = at[i] * (int)sizeof(int);
	EACH(Alltoallw, Ialltoallw, (out, counts, byte_at, types, in, counts, byte_at, types, WORLD));
	EACH(Reduce_scatter, Ireduce_scatter, (out, in, same, MPI_INT, MPI_SUM, WORLD));
	EACH(Reduce_scatter_block, Ireduce_scatter_block, (out, in, 3, MPI_INT, MPI_SUM, WORLD));
	for (int i = 0; i < TIMES; i++) {
		note_all(ints(2));
		note_counts();
		note_counts();
		note_all(ints(2));
		note_all(ints(3));
	}
	MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 4, MPI_INT, WORLD);
	note_all(ints(4));
	MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, at, MPI_INT, WORLD);
	note_counts();
}

static void roots(void)
{
	int root = ranks - 1, rcounts[MOST];
	void *block = me == root ? MPI_IN_PLACE : out;

	for (int i = 0; i < ranks; i++)
		rcounts[i] = i + 1;
	EACH(Gather, Igather, (out, 3, MPI_INT, in, 3, MPI_INT, root, WORLD));
	EACH(Gatherv, Igatherv, (out, me + 1, MPI_INT, in, rcounts, at, MPI_INT, root, WORLD));
	EACH(Scatter, Iscatter, (out, 2, MPI_INT, in, 2, MPI_INT, root, WORLD));
	EACH(Scatterv, Iscatterv, (out, rcounts, at, MPI_INT, in, me + 1, MPI_INT, root, WORLD));
	for (int i = 0; i < TIMES; i++) {
		if (me != root) {
			note(root, ints(3));
			note(root, ints(me + 1));
			continue;
		}
		note_all(ints(2));
		for (int rank = 0; rank < root; rank++)
			note(rank, ints(rank + 1));
	}
	MPI_Gather(block, 1, MPI_INT, in, 1, MPI_INT, root, WORLD);
	if (me != root)
		note(root, ints(1));
}

/* ---- neighbours --------------------------------------------------------------------------------- */

static void note_neighbours(int both, int up, int down)
{
	for (int i = 0; i < TIMES; i++) {
		note(up, ints(both));
		note(down, ints(both));
	}
}

static void ask_neighbours(MPI_Comm comm, int up, int down)
{
	int n[2] = { 2, 2 }, d[2] = { 0, N };
	MPI_Aint bytes_at[2] = { 0, N * sizeof(int) };
	MPI_Datatype type[2] = { MPI_INT, MPI_INT };

	EACH(Neighbor_allgather, Ineighbor_allgather, (out, 1, MPI_INT, in, 1, MPI_INT, comm));
	EACH(Neighbor_allgatherv, Ineighbor_allgatherv, (out, 2, MPI_INT, in, n, d, MPI_INT, comm));
	EACH(Neighbor_alltoall, Ineighbor_alltoall, (out, 3, MPI_INT, in, 3, MPI_INT, comm));
	EACH(Neighbor_alltoallv, Ineighbor_alltoallv, (out, n, d, MPI_INT, in, n, d, MPI_INT, comm));
	EACH(Neighbor_alltoallw, Ineighbor_alltoallw, (out, n, bytes_at, type, in, n, bytes_at, type, comm));
	note_neighbours(1, up, down);
	note_neighbours(2, up, down);
	note_neighbours(3, up, down);
	note_neighbours(2, up, down);
	note_neighbours(2, up, down);
}

static void topologies(void)
{
	int size[1] = { ranks }, periodic[1] = { 1 }, keep[1] = { 1 }, index[MOST], edges[2 * MOST], both[2] = { left, right };
	MPI_Comm ring, part;

	MPI_Cart_create(WORLD, 1, size, periodic, 1, &ring);
	ask_neighbours(ring, left, right);
	MPI_Cart_sub(ring, keep, &part);
	MPI_Comm_free(&part);
	MPI_Comm_free(&ring);
	for (int i = 0; i < ranks; i++) {
		index[i] = 2 * (i + 1);
		edges[2 * i] = (i + ranks - 1) % ranks;
		edges[2 * i + 1] = (i + 1) % ranks;
	}
	MPI_Graph_create(WORLD, ranks, index, edges, 0, &ring);
	ask_neighbours(ring, left, right);
	MPI_Comm_free(&ring);
	MPI_Dist_graph_create_adjacent(WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
	ask_neighbours(ring, left, right);
	MPI_Comm_free(&ring);
	int degree = 2;
	MPI_Dist_graph_create(WORLD, 1, &me, &degree, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
	MPI_Comm_free(&ring);
}

/* ---- one-sided ---------------------------------------------------------------------------------- */

static void one_sided(void)
{
	static int memory[MOST * N];
	int compare = 0, value = 1;
	MPI_Win win;
	MPI_Request request;

	MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(out, 1, MPI_INT, right, 0, 1, MPI_INT, win);
	MPI_Get(in, 2, MPI_INT, right, 8, 2, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Accumulate(out, 3, MPI_INT, right, 0, 3, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Get_accumulate(out, 4, MPI_INT, in, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Fetch_and_op(&value, in, MPI_INT, right, 0, MPI_SUM, win);
	MPI_Win_fence(0, win);
	MPI_Compare_and_swap(&value, &compare, in, MPI_INT, right, 0, win);
	MPI_Win_fence(0, win);
	MPI_Win_lock_all(0, win);
	MPI_Rput(out, 1, MPI_INT, right, 0, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Rget(in, 1, MPI_INT, right, 8, 1, MPI_INT, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Raccumulate(out, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Rget_accumulate(out, 1, MPI_INT, in, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, win, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	for (int i = 1; i <= 4; i++)
		note(right, ints(i));
	for (int i = 0; i < 6; i++)
		note(right, ints(1));
}

/* ---- files: libraries do them with messages of their own --------------------------------------------- */

static void files(void)
{
	const char *name = getenv("EXPECTED"); /* it, and then something, is a name that is ours to use */
	char file_name[4096] = "";
	MPI_File file;
	MPI_Request request;
	MPI_Datatype column;

	if (me == 0 && name != NULL)
		snprintf(file_name, sizeof(file_name), "%s.file", name);
	MPI_Bcast(file_name, sizeof(file_name), MPI_CHAR, 0, WORLD);
	MPI_File_open(WORLD, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	MPI_Type_vector(4, 1, ranks, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_File_set_view(file, me * (MPI_Offset)sizeof(int), MPI_INT, column, "native", MPI_INFO_NULL);
	MPI_File_write_all(file, out, 8, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_iwrite_all(file, out, 8, MPI_INT, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_File_sync(file);
	MPI_File_read_at_all(file, 0, in, 8, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_read_at(file, 0, in, 2, MPI_INT, MPI_STATUS_IGNORE);
	MPI_File_write_at_all_begin(file, 0, out, 4, MPI_INT);
	MPI_File_write_at_all_end(file, out, MPI_STATUS_IGNORE);
	MPI_File_close(&file);
	MPI_Type_free(&column);
}

/* ---- what only newer libraries have ------------------------------------------------------------------ */

static void version_4(void)
{
#if MPI_VERSION >= 4
	MPI_Request request, other;
	MPI_Count large[MOST];
	MPI_Aint large_at[MOST];
	MPI_Comm made;
	int flag, job[MOST];

	MPI_Isendrecv(out, 1, MPI_INT, right, TAG, in, 1, MPI_INT, left, TAG, WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Isendrecv_replace(out, 2, MPI_INT, right, TAG, left, TAG, WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Sendrecv_c(out, 3, MPI_INT, right, TAG, in, 3, MPI_INT, left, TAG, WORLD, MPI_STATUS_IGNORE);
	MPI_Irecv_c(in, 4, MPI_INT, left, TAG, WORLD, &request);
	MPI_Send_c(out, 4, MPI_INT, right, TAG, WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	for (int i = 1; i <= 4; i++)
		note(right, ints(i));
	for (int i = 0; i < ranks; i++) {
		large[i] = counts[i];
		large_at[i] = at[i];
		job[i] = i;
	}
	MPI_Alltoallv_c(out, large, large_at, MPI_INT, in, large, large_at, MPI_INT, WORLD);
	note_counts();
	MPI_Barrier_init(WORLD, MPI_INFO_NULL, &request);
	MPI_Start(&request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Request_free(&request);
	MPI_Comm_idup_with_info(WORLD, MPI_INFO_NULL, &made, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	around(made, job);
	MPI_Comm_free(&made);
	MPI_Psend_init(out, 2, 5, MPI_INT, right, TAG, WORLD, MPI_INFO_NULL, &request);
	MPI_Precv_init(in, 2, 5, MPI_INT, left, TAG, WORLD, MPI_INFO_NULL, &other);
	MPI_Start(&other);
	MPI_Start(&request);
	MPI_Pready_range(0, 1, request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Parrived(other, 0, &flag);
	MPI_Wait(&other, MPI_STATUS_IGNORE);
	note(right, ints(10));
	MPI_Request_free(&request);
	MPI_Request_free(&other);
#endif
}

void all_exact(void)
{
	prepare_counts();
	blocks();
	roots();
	topologies();
	one_sided();
	version_4();
}

void all_patterns(void)
{
	prepare_counts();
	files();
	EACH(Bcast, Ibcast, (out, N, MPI_INT, 0, WORLD));
	EACH(Reduce, Ireduce, (out, in, N, MPI_INT, MPI_SUM, 0, WORLD));
	EACH(Allreduce, Iallreduce, (out, in, N, MPI_INT, MPI_SUM, WORLD));
	EACH(Scan, Iscan, (out, in, N, MPI_INT, MPI_SUM, WORLD));
	EACH(Exscan, Iexscan, (out, in, N, MPI_INT, MPI_SUM, WORLD));
	EACH(Allgather, Iallgather, (out, 2, MPI_INT, in, 2, MPI_INT, WORLD));
	EACH(Allgatherv, Iallgatherv, (out, 2, MPI_INT, in, same, same_at, MPI_INT, WORLD));
	BEGUN(MPI_Ibarrier(WORLD, &request));
}
