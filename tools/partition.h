/* Ranks onto machines by what they send to each other: the only file that includes scotch.h. */
#ifndef NSCHED_PARTITION_H
#define NSCHED_PARTITION_H

#include "libnsched/pure/cut.h"

/* A machine for each rank, so that little goes between machines and machine h gets about slots[h] ranks
 * (cut_fit makes it exactly so). 0; -ENOSYS: built without Scotch; -EINVAL: Scotch refused; -ENOMEM. */
int partition(const struct cut_graph *graph, const unsigned *slots, unsigned hosts, unsigned *host);

#endif
