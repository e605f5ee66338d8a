/* Makes every call that the plugin wraps, and writes down what it sends: into the file that EXPECTED names,
 * lines "rank bytes messages". How often it makes each call is counted by the auditor, not here. With
 * "patterns" the calls whose way through the job only the library knows; those send what they send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, N = 24, TAG = 5 }; /* ranks; integers in a message */

static int me, ranks, right, left;
static struct {
	unsigned long bytes, messages;
} expected[MOST];
static int out[MOST * N], in[MOST * N];

static void note(int rank, unsigned long bytes)
{
	expected[rank].bytes += bytes;
	expected[rank].messages++;
}

static void note_all(unsigned long bytes)
{
	for (int rank = 0; rank < ranks; rank++)
		if (rank != me)
			note(rank, bytes);
}

static unsigned long ints(int n)
{
	return (unsigned long)n * sizeof(int);
}

/* ---- point to point ----------------------------------------------------------------------------- */

static MPI_Request receive(int n)
{
	MPI_Request request;

	MPI_Irecv(in, n, MPI_INT, left, TAG, MPI_COMM_WORLD, &request);
	MPI_Barrier(MPI_COMM_WORLD); /* a ready send may come from here on */
	return request;
}

static void send_each_way(void)
{
	static char buffer[4 * (sizeof(out) + MPI_BSEND_OVERHEAD)];
	int size;
	void *old;

	MPI_Buffer_attach(buffer, sizeof(buffer));
#define BOTH_WAYS(now, begun, n)                                             \
	do {                                                                     \
		MPI_Request received = receive(n), sending;                          \
		now(out, n, MPI_INT, right, TAG, MPI_COMM_WORLD);                    \
		MPI_Wait(&received, MPI_STATUS_IGNORE);                              \
		received = receive(n);                                               \
		begun(out, n, MPI_INT, right, TAG, MPI_COMM_WORLD, &sending);        \
		MPI_Wait(&sending, MPI_STATUS_IGNORE);                               \
		MPI_Wait(&received, MPI_STATUS_IGNORE);                              \
		note(right, ints(n));                                                \
		note(right, ints(n));                                                \
	} while (0)
	BOTH_WAYS(MPI_Send, MPI_Isend, 1);
	BOTH_WAYS(MPI_Bsend, MPI_Ibsend, 2);
	BOTH_WAYS(MPI_Ssend, MPI_Issend, 3);
	BOTH_WAYS(MPI_Rsend, MPI_Irsend, 4);
	MPI_Buffer_detach(&old, &size);
}

static void send_prepared(void)
{
	static char buffer[4 * (sizeof(out) + MPI_BSEND_OVERHEAD)];
	MPI_Request request[2];
	int size;
	void *old;

	MPI_Buffer_attach(buffer, sizeof(buffer));
#define PREPARED(init, n)                                                            \
	do {                                                                             \
		MPI_Recv_init(in, n, MPI_INT, left, TAG, MPI_COMM_WORLD, &request[0]);       \
		init(out, n, MPI_INT, right, TAG, MPI_COMM_WORLD, &request[1]);              \
		for (int i = 0; i < 3; i++) {                                                \
			MPI_Start(&request[0]);                                                  \
			MPI_Barrier(MPI_COMM_WORLD);                                             \
			MPI_Start(&request[1]);                                                  \
			MPI_Waitall(2, request, MPI_STATUSES_IGNORE);                            \
			note(right, ints(n));                                                    \
		}                                                                            \
		MPI_Request_free(&request[0]);                                               \
		MPI_Request_free(&request[1]);                                               \
	} while (0)
	PREPARED(MPI_Send_init, 5);
	PREPARED(MPI_Bsend_init, 6);
	PREPARED(MPI_Ssend_init, 7);
	PREPARED(MPI_Rsend_init, 8);
	MPI_Buffer_detach(&old, &size);

	MPI_Recv_init(in, N, MPI_INT, left, TAG, MPI_COMM_WORLD, &request[0]);
	MPI_Send_init(out, N, MPI_INT, right, TAG, MPI_COMM_WORLD, &request[1]);
	MPI_Startall(2, request);
	MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
	note(right, ints(N));
	MPI_Request_free(&request[0]);
	MPI_Request_free(&request[1]);
}

static void exchange(void)
{
	MPI_Datatype column;
	MPI_Message message;
	MPI_Request request;
	int flag = 0;

	MPI_Sendrecv(out, 9, MPI_INT, right, TAG, in, 9, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	note(right, ints(9));
	MPI_Sendrecv_replace(out, 10, MPI_INT, right, TAG, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	note(right, ints(10));
	MPI_Sendrecv(out, 9, MPI_INT, MPI_PROC_NULL, TAG, in, 9, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(out, 9, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);

	MPI_Isend(out, 11, MPI_INT, right, TAG, MPI_COMM_WORLD, &request);
	MPI_Mprobe(left, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	MPI_Mrecv(in, 11, MPI_INT, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	note(right, ints(11));
	MPI_Isend(out, 12, MPI_INT, right, TAG, MPI_COMM_WORLD, &request);
	while (!flag)
		MPI_Improbe(left, TAG, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Imrecv(in, 12, MPI_INT, &message, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	note(right, ints(12));

	/* a type with holes: what is sent counts, not what it spans */
	MPI_Type_vector(4, 1, 5, MPI_INT, &column);
	MPI_Type_commit(&column);
	MPI_Isend(out, 1, column, right, TAG, MPI_COMM_WORLD, &request);
	MPI_Recv(in, 4, MPI_INT, left, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	note(right, ints(4));
	MPI_Type_free(&column);
}

/* ---- communicators ------------------------------------------------------------------------------ */

/* Everyone sends to the next in a communicator in which the job's ranks stand in another order. */
static void around(MPI_Comm comm, const int *job)
{
	int own, n;

	MPI_Comm_rank(comm, &own);
	MPI_Comm_size(comm, &n);
	MPI_Sendrecv(out, 3, MPI_INT, (own + 1) % n, TAG, in, 3, MPI_INT, (own + n - 1) % n, TAG, comm, MPI_STATUS_IGNORE);
	note(job[(own + 1) % n], ints(3));
}

static void translate(MPI_Comm comm, int *job)
{
	MPI_Group group, world;
	int own[MOST];

	for (int i = 0; i < ranks; i++)
		own[i] = i;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_group(comm, &group);
	MPI_Group_translate_ranks(group, ranks, own, world, job);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
}

/* Freed handles are used again for the next communicator, in which the same rank is another one of the job. */
static void reuse(void)
{
	for (int turn = 0; turn < 6; turn++) {
		MPI_Comm made;
		int job[MOST], key = turn % 2 ? -me : (me * 7 + turn) % ranks;

		MPI_Comm_split(MPI_COMM_WORLD, 0, key, &made);
		translate(made, job);
		around(made, job);
		if (turn % 3 == 2)
			MPI_Comm_disconnect(&made);
		else
			MPI_Comm_free(&made);
	}
}

static void duplicates(void)
{
	MPI_Comm made;
	MPI_Group group, part;
	MPI_Request request;
	int job[MOST], backwards[MOST];

	for (int i = 0; i < ranks; i++) {
		job[i] = i;
		backwards[i] = ranks - 1 - i;
	}
	MPI_Comm_dup(MPI_COMM_WORLD, &made);
	around(made, job);
	MPI_Comm_free(&made);
	MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &made);
	around(made, job);
	MPI_Comm_free(&made);
	MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	around(made, job);
	MPI_Comm_free(&made);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Group_incl(group, ranks, backwards, &part);
	MPI_Comm_create(MPI_COMM_WORLD, part, &made);
	around(made, backwards);
	MPI_Comm_free(&made);
	MPI_Comm_create_group(MPI_COMM_WORLD, part, TAG, &made);
	around(made, backwards);
	MPI_Comm_free(&made);
	MPI_Group_free(&part);
	MPI_Group_free(&group);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
	around(made, job);
	MPI_Comm_free(&made);
}

/* Two groups: ranks in calls are the other side's. */
static void two_groups(void)
{
	MPI_Comm half, between, whole;
	int side = me % 2, there = side ? (ranks + 1) / 2 : ranks / 2, own;
	MPI_Request request;

	MPI_Comm_split(MPI_COMM_WORLD, side, me, &half);
	MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, TAG, &between);
	MPI_Comm_rank(half, &own);
	if (own < there && own < ranks / 2) { /* pairs */
		MPI_Isend(out, 2, MPI_INT, own, TAG, between, &request);
		MPI_Recv(in, 2, MPI_INT, own, TAG, between, MPI_STATUS_IGNORE);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		note(2 * own + (1 - side), ints(2));
	}
	MPI_Intercomm_merge(between, side, &whole);
	MPI_Comm_free(&whole);
	MPI_Comm_free(&between);
	MPI_Comm_free(&half);
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

static void exact(void)
{
	send_each_way();
	send_prepared();
	exchange();
	reuse();
	duplicates();
	two_groups();
	blocks();
	roots();
	topologies();
	one_sided();
	version_4();
}

static void patterns(void)
{
	EACH(Bcast, Ibcast, (out, N, MPI_INT, 0, WORLD));
	EACH(Reduce, Ireduce, (out, in, N, MPI_INT, MPI_SUM, 0, WORLD));
	EACH(Allreduce, Iallreduce, (out, in, N, MPI_INT, MPI_SUM, WORLD));
	EACH(Scan, Iscan, (out, in, N, MPI_INT, MPI_SUM, WORLD));
	EACH(Exscan, Iexscan, (out, in, N, MPI_INT, MPI_SUM, WORLD));
	EACH(Allgather, Iallgather, (out, 2, MPI_INT, in, 2, MPI_INT, WORLD));
	EACH(Allgatherv, Iallgatherv, (out, 2, MPI_INT, in, same, same_at, MPI_INT, WORLD));
	BEGUN(MPI_Ibarrier(WORLD, &request));
}

static int write_expected(void)
{
	const char *name = getenv("EXPECTED");
	FILE *file = name == NULL ? NULL : fopen(name, "w");

	for (int i = 0; file != NULL && i < ranks; i++)
		if (expected[i].messages > 0)
			fprintf(file, "%d %lu %lu\n", i, expected[i].bytes, expected[i].messages);
	return file == NULL || fclose(file) != 0;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	right = (me + 1) % ranks;
	left = (me + ranks - 1) % ranks;
	prepare_counts();
	if (argc > 1 && strcmp(argv[1], "patterns") == 0)
		patterns();
	else
		exact();
	MPI_Finalize();
	return write_expected();
}
