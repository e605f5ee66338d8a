/* Sets of CPUs, as the kernel takes them. */
#ifndef NSCHED_CPUMASK_H
#define NSCHED_CPUMASK_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

#endif
