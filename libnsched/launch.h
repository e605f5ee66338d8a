/* What `nsched run` told this process; docs/environment.md has the variables. All of it is about the
 * process that the launcher became. Its children inherit the variables, but have masks of their own
 * (an MPI launcher's ranks, say), so to them only the report's name applies. */
#ifndef NSCHED_LAUNCH_H
#define NSCHED_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

enum launch_role {
	LAUNCH_NONE,  /* no launcher */
	LAUNCH_FIRST, /* the process that `nsched run` became */
	LAUNCH_CHILD, /* started by that one, or by one of its children */
};

enum launch_role launch_role(void);

/* Is this a rank of an MPI job, as far as its environment says? */
bool launch_is_rank(void);

/* Is it the first rank on its machine, or none: the one that does what is to be done once a machine? */
bool launch_is_first_here(void);

/* getenv, as pure/launchers.h wants it: an environment that needs no telling which. */
const char *launch_variable(const void *unused, const char *name);

/* The CPUs that the process was given ("0-3,8"), before a runtime narrowed its mask: libgomp's
 * constructor binds the initial thread to one place if OMP_PROC_BIND is set. NULL if not known. */
const char *launch_cpus(void);

/* The file that this process's report goes to, from the option `report`: children put their process
 * number before the extension, so as not to overwrite each other's. Returns its length, or -ENOSPC.
 * "-" and "" stay as they are. */
int launch_report_file(const char *report, char *file, size_t bytes);

#endif
