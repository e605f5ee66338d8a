/* The real functions behind the wrappers, found at run time: this plugin is preloaded into programs that
 * know nothing of MPI as well, so it may not need an MPI library. */
#ifndef NSCHED_MPI_NEXT_H
#define NSCHED_MPI_NEXT_H

#include <stdbool.h>

/* What comes after this library under the symbol `name`: another tool's wrapper, or the MPI library's
 * function. NULL: there is none. Keeps errno; takes the dynamic linker's locks. */
void *next_find(const char *name);

/* The address of a variable of the MPI library's: the program's copy of it, if it has one, is the one in use. */
void *next_variable(const char *name);

/* Whether the process's MPI library is of the family that this plugin is for, and of no other. */
bool next_is_family(void);

#endif
