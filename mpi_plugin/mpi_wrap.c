/* The wrappers: what mpi_calls.def lists, under both of each call's symbols.
 *
 * Why both MPI_X and PMPI_X: of one library the Fortran calls end in the C function MPI_X, of the other in
 * PMPI_X, and tools between the program and the library call PMPI_X themselves. Whoever comes first on
 * the way in counts; what is called inside of that passes through (`entered`). Each symbol goes on to the
 * next library that has the same one, so that no tool behind us is left out. */
#include <stdatomic.h>
#include <stdbool.h>

#include "mpi_charge.h"
#include "mpi_family.h"
#include "mpi_next.h"
#include "mpi_plugin.h"
#include "mpi_record.h"
#include "nsched.h"

/* Where on its stack this thread went into an MPI call of the program, NULL: it is in none. A call from
 * deeper down is one within that call. One from higher up is not: then the first never came back (a C++
 * exception or a longjmp left it). */
static __thread const char *entered;

/* First the table against mpi.h: another parameter there, and this is an error. */
#define COMM MPI_Comm
#define TYPE MPI_Datatype
#define OP MPI_Op
#define INFO MPI_Info
#define GROUP MPI_Group
#define WIN MPI_Win
#define ERRHANDLER MPI_Errhandler
#define CALL(name, params, args, before, after) \
	int MPI_##name params;                      \
	int PMPI_##name params;
#include "mpi_calls.def"

/* Counted when it is entered: it may be the last one (MPI_Abort's relatives, or a kill). What it sends is
 * charged when it has succeeded. */
#define WRAPPER(symbol, name, params, args, before, after)                                     \
	NSCHED_API int wrapped_##symbol params __asm__(#symbol);                                   \
	int wrapped_##symbol params                                                                \
	{                                                                                          \
		static int(*_Atomic found) params;                                                     \
		int(*next) params = atomic_load_explicit(&found, memory_order_relaxed);                \
		int state = atomic_load_explicit(&plugin_state, memory_order_acquire), returned;       \
		const char *here = __builtin_frame_address(0);                                         \
                                                                                               \
		if (__builtin_expect(next == NULL, 0)) {                                               \
			next = (__typeof__(next))next_find(#symbol);                                       \
			if (next == NULL)                                                                  \
				return MPI_ERR_OTHER;                                                          \
			atomic_store_explicit(&found, next, memory_order_relaxed);                         \
		}                                                                                      \
		if (state == PLUGIN_OFF || here < entered)                                             \
			return next args;                                                                  \
		if (__builtin_expect(state == PLUGIN_COUNTING, 1)) {                                   \
			matrix_called(PLUGIN_##name);                                                   \
			before;                                                                            \
		}                                                                                      \
		entered = here;                                                                        \
		returned = next args;                                                                  \
		entered = NULL;                                                                        \
		if (__builtin_expect(returned != MPI_SUCCESS, 0))                                      \
			return returned;                                                                   \
		if (__builtin_expect(state != PLUGIN_COUNTING, 0)) {                                   \
			if (!plugin_decide())                                                              \
				return returned;                                                               \
			matrix_called(PLUGIN_##name);                                                   \
		}                                                                                      \
		after;                                                                                 \
		return returned;                                                                       \
	}

#define COMM wide_comm
#define TYPE wide_type
#define OP wide_op
#define INFO wide_info
#define GROUP wide_group
#define WIN wide_win
#define ERRHANDLER wide_errhandler
#define CALL(name, params, args, before, after)              \
	WRAPPER(MPI_##name, name, params, args, before, after)   \
	WRAPPER(PMPI_##name, name, params, args, before, after)
#include "mpi_calls.def"
