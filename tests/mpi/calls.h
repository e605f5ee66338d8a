/* The calls that calls.c makes, in two files: what both share. */
#ifndef NSCHED_TEST_CALLS_H
#define NSCHED_TEST_CALLS_H

#include <mpi.h>

enum { MOST = 16, N = 24, TAG = 5 }; /* ranks; integers in a message */

extern int me, ranks, right, left;
extern int out[MOST * N], in[MOST * N];

/* One message of so many bytes from this rank to another, is expected in its row. */
void note(int rank, unsigned long bytes);

static inline unsigned long ints(int n)
{
	return (unsigned long)n * sizeof(int);
}

/* Everyone sends to the next one of a communicator in which the job's ranks stand in the order `job`. */
void around(MPI_Comm comm, const int *job);

/* Those that say who gets what; those whose way only the library knows. */
void all_exact(void);
void all_patterns(void);

#endif
