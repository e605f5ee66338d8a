/* Makes every call that the plugin wraps, and writes down what it sends: into the file that EXPECTED names,
 * lines "rank bytes messages". How often it makes each call is counted by the auditor, not here. With
 * "messages" plain messages alone; with "patterns" the collectives whose way through
 * the job only the library knows, of which nothing is written down. */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int me, ranks, right, left;
int out[MOST * N], in[MOST * N];
static struct {
	unsigned long bytes, messages;
} expected[MOST];

void note(int rank, unsigned long bytes)
{
	expected[rank].bytes += bytes;
	expected[rank].messages++;
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

void around(MPI_Comm comm, const int *job)
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

static void point_to_point(void)
{
	send_each_way();
	send_prepared();
	exchange();
	reuse();
	duplicates();
	two_groups();
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
	if (argc > 1 && strcmp(argv[1], "patterns") == 0)
		all_patterns();
	else if (argc > 1 && strcmp(argv[1], "messages") == 0)
		exchange();
	else {
		point_to_point();
		all_exact();
	}
	MPI_Finalize();
	return write_expected();
}
