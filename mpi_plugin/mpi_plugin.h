/* What the wrappers and the rest of the plugin have in common: whether anything is counted, and the counts. */
#ifndef NSCHED_MPI_PLUGIN_H
#define NSCHED_MPI_PLUGIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi_family.h"

enum plugin_call {
#define CALL(name, params, args, before, after) PLUGIN_##name,
#include "mpi_calls.def"
	PLUGIN_CALLS
};

enum plugin_state {
	PLUGIN_UNDECIDED, /* MPI has not been used yet */
	PLUGIN_COUNTING,
	PLUGIN_OFF, /* nobody wants to know, or MPI is of the other family: calls pass through, in this process for good */
};

extern _Atomic int plugin_state;

/* MPI is in use for the first time: counting (true) or off, from now on. Another thread may be in it as well. */
bool plugin_decide(void);

/* MPI_Init or MPI_Init_thread is through: the job is known. */
void plugin_started(void);

/* The library may take away memory that it shares with other ranks: from now on, that is left alone. Waits for who
 * is just at it: some milliseconds, a second at the most. */
void plugin_ending(void);

/* The library may have bound threads, if it was allowed to reorder ranks. */
void plugin_reordered(int reorder);

void plugin_started_all(int n, const MPI_Request *requests);

#if FAMILY_MPI4
/* A session tells of the job too, and there may be nothing else. */
void plugin_session(MPI_Session session);
#endif

#endif
