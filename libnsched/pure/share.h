/* Which CPUs each of several ranks gets of one machine. Numbers in, numbers out: every rank computes it
 * for all of them and comes to the same. */
#ifndef NSCHED_SHARE_H
#define NSCHED_SHARE_H

#include <stdint.h>

#include "pure/machine.h"

enum { SHARE_NOBODY = 0xffff };

enum share_verdict {
	SHARE_GIVEN,      /* owner[] says who gets what */
	SHARE_ALONE,      /* no two ranks have a CPU in common: what they were given is their share */
	SHARE_OVERLAP,    /* masks that overlap in part: somebody's decision, left alone */
	SHARE_CROWDED,    /* more ranks than CPUs: left alone */
};

/* Divides the CPUs of `machine` among `ranks` ranks, in their order: whole nodes each, if there are so
 * many, else whole last-level caches, else cores of one node, else CPUs of one node; the coarsest of these that
 * leaves a rank not much less than another would. All get the same number of cores; no two get the same
 * CPU. owner[cpu] is the rank, or SHARE_NOBODY. 0, -E2BIG: more ranks than CPUs; -ENOMEM. */
int share_divide(const struct machine *machine, unsigned ranks, uint16_t *owner);

/* The same for ranks that were given CPUs: masks[r * words] is rank r's, a set of MACHINE_CPUS bits. Ranks
 * with the same mask divide it among themselves. -ENOMEM, or enum share_verdict; owner[] is filled with
 * SHARE_GIVEN only, and without an entry for the ranks of a mask that is too small for them. */
int share_masks(const struct machine *machine, const uint64_t *masks, unsigned ranks, uint16_t *owner);

#endif
