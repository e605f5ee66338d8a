/* Ranks that talk in pairs, r with r + D for each D-th block of ranks, in messages of 64 KiB and nothing else, for so many seconds; the
 * timing model of the emulated machine is on after MPI_Init only. Each says how many messages it sent in the last third, and
 * on which node it was then:
 *
 *   rank 3: node 1, messages 812 in 10.0 s
 *
 * usage: talk SECONDS D */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

enum { BYTES = 65536 };

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static char out[BYTES], in[BYTES];
	double seconds = argc > 1 ? atof(argv[1]) : 3, begin, last = 0;
	int rank, ranks, distance = argc > 2 ? atoi(argv[2]) : 1;
	long messages = 0, before = 0;
	unsigned cpu, node;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int partner = rank / distance % 2 ? rank - distance : rank + distance;
	if (partner >= ranks) partner = MPI_PROC_NULL;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) NUMABOX_ON();
	begin = now_s();
	/* both of a pair stop after the same message: the first byte says when */
	for (out[0] = 1; out[0];) {
		double now = now_s();
		for (int i = 1; i < BYTES; i += 64) out[i]++;
		out[0] = rank > partner || now < begin + seconds;
		MPI_Sendrecv(out, BYTES, MPI_CHAR, partner, 0, in, BYTES, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank > partner) out[0] = in[0];
		messages++;
		if (last == 0 && now >= begin + seconds * 2 / 3) {
			last = now;
			before = messages;
			if (rank == 0) NUMABOX_LAP();
		}
	}
	double end = now_s();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0) NUMABOX_OFF();
	if (syscall(SYS_getcpu, &cpu, &node, NULL)) node = 99;
	printf("rank %d: node %u, messages %ld in %.1f s\n", rank, node, messages - before, end - last);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
