/* Threads that share memory, found from who uses what. */
#ifndef NSCHED_GROUPS_H
#define NSCHED_GROUPS_H

#include "pure/situation.h"

enum { GROUPS_NONE = -1 };

struct groups {
	int *of;          /* of each thread: its group, or GROUPS_NONE: what it uses is mostly its own */
	unsigned *size;   /* of each group: its threads; they are numbered by their first thread */
	unsigned n;
};

/* Time grows with the uses, and with threads x log threads. 0 or -ENOMEM, and then there is nothing to free. */
int groups_find(struct groups *groups, const struct situation *situation);
void groups_free(struct groups *groups);

#endif
