/* The hands: what reads and changes the CPUs of threads and the nodes of pages. Knows moves, never
 * policies. Every call may fail at any time; none prints, retries or gives up by itself. */
#ifndef NSCHED_ACTUATOR_H
#define NSCHED_ACTUATOR_H

#include <stdint.h>
#include <sys/types.h>

#include "sys/cpumask.h"

struct actuator_ops {
	const char *name;

	/* CPUs that the thread may run on. 0 or -errno (-ESRCH: it is gone). Threads bind themselves from
	 * callbacks with these: one system call each, no lock, no memory. */
	int (*get_mask)(void *state, pid_t tid, struct cpu_mask *mask);
	int (*set_mask)(void *state, pid_t tid, const struct cpu_mask *mask);

	/* The node (number of the operating system) of each page, or a negative number where none is:
	 * -ENOENT not there, -EFAULT not mapped. Returns 0 or -errno for the whole call. */
	int (*locate)(void *state, const uint64_t *addr, unsigned n, int *node_os);

	/* Moves pages, each to a node of its own; `status` says where each is then, or -errno: -EACCES mapped by others
	 * too, -EBUSY pinned, -ENOMEM the node is full, -ENOENT not there. Returns 0, or -errno for the whole call:
	 * some may have moved then (-ENODEV, -EACCES: one of the nodes may not be used). */
	int (*move)(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status);

	/* 1 where the memory at `addr` has a policy that the program gave it (mbind, numactl); 0 where not,
	 * or where that can't be known. Does not touch the memory. */
	int (*has_policy)(void *state, uint64_t addr);

	/* Makes single pages of the huge page that holds `addr`, if one does: move_pages takes a huge page
	 * as a whole, wherever in it the address lies. NULL: there are none. */
	void (*split)(void *state, uint64_t addr);
};

extern const struct actuator_ops actuator_linux; /* state: not used */
extern const struct actuator_ops actuator_dry;   /* reads as Linux does, moves nothing and says it did */

#endif
