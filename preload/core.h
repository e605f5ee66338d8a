/* The core, opened at run time from the folder that this code's own library lies in: for libraries that are
 * preloaded into every process and may need nothing but libc until there is something to do. */
#ifndef NSCHED_PRELOAD_CORE_H
#define NSCHED_PRELOAD_CORE_H

#include "nsched.h"

/* The core's calls, bound at run time; the header's declarations give their types. */
struct core {
	__typeof__(&nsched_config_create) config_create;
	__typeof__(&nsched_config_environment) config_environment;
	__typeof__(&nsched_config_destroy) config_destroy;
	__typeof__(&nsched_open) open;
	__typeof__(&nsched_start) start;
	__typeof__(&nsched_close) close;
	/* for the MPI plugin alone; NULL in an older core */
	__typeof__(&nsched_exchange_source) exchange_source;
	__typeof__(&nsched_masks_changed) masks_changed;
};

/* Whether this process has a choice of NUMA nodes; looked up without the core. */
int core_worthwhile(void);

/* Loads the core and opens the process's scheduler with the environment's options. 1: it is open;
 * 0: not, and said why if the option `verbose` is on. */
int core_open(struct core *core, nsched_t **handle);

/* Whether somebody has loaded it already. */
int core_loaded(void);

/* The variable `name`, which the launcher set for the process that it started itself. That process's
 * children inherit it, but what it says is not about them: NULL. */
const char *core_launch_variable(const char *name);

int core_verbose(void);

/* A line on standard error. */
void core_complain(const char *what, const char *detail);

#endif
