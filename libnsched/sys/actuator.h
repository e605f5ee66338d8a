/* The hands: what reads and changes the CPUs of threads and the nodes of pages. Knows moves, never
 * policies. Every call may fail at any time; none prints, retries or gives up by itself. */
#ifndef NSCHED_ACTUATOR_H
#define NSCHED_ACTUATOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "pure/machine.h"

/* CPUs by the numbers of the operating system, as sched_setaffinity takes them. */
struct cpu_mask {
	uint64_t word[MACHINE_CPUS / 64];
};

static inline void mask_clear(struct cpu_mask *mask)
{
	memset(mask, 0, sizeof *mask);
}

static inline void mask_add(struct cpu_mask *mask, unsigned cpu_os)
{
	if (cpu_os < MACHINE_CPUS) mask->word[cpu_os / 64] |= 1ull << cpu_os % 64;
}

static inline bool mask_has(const struct cpu_mask *mask, unsigned cpu_os)
{
	return cpu_os < MACHINE_CPUS && (mask->word[cpu_os / 64] >> cpu_os % 64 & 1);
}

static inline bool mask_equal(const struct cpu_mask *a, const struct cpu_mask *b)
{
	return !memcmp(a, b, sizeof *a);
}

/* Is every CPU of `part` in `whole`? */
static inline bool mask_within(const struct cpu_mask *part, const struct cpu_mask *whole)
{
	for (unsigned i = 0; i < MACHINE_CPUS / 64; i++)
		if (part->word[i] & ~whole->word[i]) return false;
	return true;
}

struct actuator_ops {
	const char *name;

	/* CPUs that the thread may run on. 0 or -errno (-ESRCH: it is gone). Threads bind themselves from
	 * callbacks with these: one system call each, no lock, no memory. */
	int (*get_mask)(void *state, pid_t tid, struct cpu_mask *mask);
	int (*set_mask)(void *state, pid_t tid, const struct cpu_mask *mask);

	/* The node (number of the operating system) of each page, or a negative number where none is:
	 * -ENOENT not there, -EFAULT not mapped. Returns 0 or -errno for the whole call. */
	int (*locate)(void *state, const uint64_t *addr, unsigned n, int *node_os);

	/* Moves pages to a node; `status` says where each is then, or -errno: -EACCES mapped by others too,
	 * -EBUSY pinned, -ENOMEM the node is full, -ENOENT not there. Returns 0 or -errno. */
	int (*move)(void *state, const uint64_t *addr, unsigned n, unsigned node_os, int *status);

	/* 1 where the memory at `addr` has a policy that the program gave it (mbind, numactl); 0 where not,
	 * or where that can't be known. Does not touch the memory. */
	int (*has_policy)(void *state, uint64_t addr);
};

extern const struct actuator_ops actuator_linux; /* state: not used */
extern const struct actuator_ops actuator_dry;   /* reads as Linux does, moves nothing and says it did */

#endif
