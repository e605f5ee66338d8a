/* What differs between the two families of MPI libraries, whose binary interfaces do not agree: this
 * plugin is built once for each. The only file that includes mpi.h. */
#ifndef NSCHED_MPI_FAMILY_H
#define NSCHED_MPI_FAMILY_H

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
#include <stdint.h>

/* A wrapper may find itself in a program of the other family (`nsched run` cannot always know) and must
 * then hand every argument on as it came. Handles are pointers in one family and ints in the other; an
 * int parameter would lose half of a pointer. So MPICH's wrappers take handles as whole words, of which
 * the real call looks at the lower half. (Counts, ranks and addresses are the same in both.) */
#ifdef OPEN_MPI
#define FAMILY_NAME "Open MPI"
#define FAMILY_MARK "ompi_mpi_comm_world" /* a symbol that every library of this family has, since mpi.h refers to it, */
#define FAMILY_FOREIGN "MPIR_Dup_fn"      /* and one of the other's */
typedef MPI_Comm wide_comm;
typedef MPI_Datatype wide_type;
typedef MPI_Op wide_op;
typedef MPI_Info wide_info;
typedef MPI_Group wide_group;
typedef MPI_Win wide_win;
typedef MPI_Errhandler wide_errhandler;
#define FAMILY_WORLD ((MPI_Comm)next_variable(FAMILY_MARK)) /* not there before the library is loaded */
#define FAMILY_MPI4 0 /* what its mpi.h declares of the standard's version 4 */
#elif defined(MPICH_VERSION) || defined(MPICH_NAME) || defined(I_MPI_VERSION)
#define FAMILY_NAME "MPICH"
#define FAMILY_MARK "MPIR_Dup_fn"
#define FAMILY_FOREIGN "ompi_mpi_comm_world"
typedef uintptr_t wide_comm;
typedef uintptr_t wide_type;
typedef uintptr_t wide_op;
typedef uintptr_t wide_info;
typedef uintptr_t wide_group;
typedef uintptr_t wide_win;
typedef uintptr_t wide_errhandler;
#define FAMILY_WORLD MPI_COMM_WORLD
#define FAMILY_MPI4 (MPI_VERSION >= 4)
#else
#error "this mpi.h is neither Open MPI's nor MPICH's"
#endif

#endif
