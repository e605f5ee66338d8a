/* Which CPUs each rank of a machine gets, from what all have told when they met: numbers in, numbers out. Every rank
 * decides for all of them, and all alike. */
#ifndef NSCHED_RANKS_DECIDE_H
#define NSCHED_RANKS_DECIDE_H

#include "libnsched/pure/machine.h"
#include "libnsched/pure/share.h"
#include "libnsched/sys/board.h"

struct decision {
	int verdict;              /* enum share_verdict */
	uint16_t *owner;          /* rank of each CPU of the machine, or SHARE_NOBODY; with SHARE_GIVEN. To be freed */
	struct cpu_mask ceiling;  /* what the ranks may use together */
	unsigned jammed;          /* ranks that have fewer CPUs than they want threads, where more are to be had */
	int widened;              /* they get what the launcher may use */
};

/* 0 or -ENOMEM. */
int ranks_decide(const struct board_arrival *all, unsigned ranks, const struct machine *machine, struct decision *decision);

/* The CPUs of one rank. */
void ranks_share(const struct decision *decision, const struct machine *machine, unsigned rank, struct cpu_mask *share);

#endif
