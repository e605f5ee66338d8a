/* Several threads send at once, each in a communicator of its own, while others come and go. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, MESSAGES = 500, N = 3, COMMS = 25 };

static int me, ranks;

static void *work(void *arg)
{
	MPI_Comm *comm = arg, made;
	int out[N] = { 0 }, in[N], next = (me + 1) % ranks, previous = (me + ranks - 1) % ranks;

	for (int i = 0; i < MESSAGES; i++) {
		MPI_Sendrecv(out, N, MPI_INT, next, 0, in, N, MPI_INT, previous, 0, *comm, MPI_STATUS_IGNORE);
		if (i % (MESSAGES / COMMS) == 0) {
			MPI_Comm_split(*comm, 0, i % 2 ? me : -me, &made);
			MPI_Sendrecv(out, 1, MPI_INT, 0, 0, in, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
			MPI_Comm_free(&made);
		}
	}
	return NULL;
}

static int write_expected(void)
{
	const char *name = getenv("EXPECTED");
	FILE *file = name == NULL ? NULL : fopen(name, "w");
	int next = (me + 1) % ranks;
	long self[2] = { THREADS * COMMS * (long)sizeof(int), THREADS * COMMS };
	long sent[2] = { THREADS * MESSAGES * (long)(N * sizeof(int)), THREADS * MESSAGES };

	for (int rank = 0; file != NULL && rank < ranks; rank++) {
		if (rank == me)
			fprintf(file, "%d %ld %ld\n", rank, self[0], self[1]);
		else if (rank == next)
			fprintf(file, "%d %ld %ld\n", rank, sent[0], sent[1]);
	}
	return file == NULL || fclose(file) != 0;
}

int main(int argc, char **argv)
{
	MPI_Comm comms[THREADS];
	pthread_t threads[THREADS];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided < MPI_THREAD_MULTIPLE)
		return 77;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		MPI_Comm_free(&comms[i]);
	MPI_Finalize();
	return write_expected();
}
