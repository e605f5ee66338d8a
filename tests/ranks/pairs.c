/* Ranks that talk in pairs: rank r and r + D, for each D-th block of ranks, send each other messages of
 * 64 KiB; all take part in a small barrier now and then.
 *
 * usage: pairs MESSAGES D      says "rank R on HOST" for each rank */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 65536 };

int main(int argc, char **argv)
{
	static char out[BYTES], in[BYTES];
	char host[256] = "";
	int rank, ranks, messages = argc > 1 ? atoi(argv[1]) : 10, distance = argc > 2 ? atoi(argv[2]) : 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	gethostname(host, sizeof host - 1);
	int partner = rank / distance % 2 ? rank - distance : rank + distance;
	for (int i = 0; i < messages; i++) {
		if (partner < ranks)
			MPI_Sendrecv(out, BYTES, MPI_CHAR, partner, 0, in, BYTES, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (i % 10 == 0) MPI_Barrier(MPI_COMM_WORLD);
	}
	printf("rank %d on %s\n", rank, host);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
