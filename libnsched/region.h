/* Time per region, kept by each thread for itself: how often it went through a region, and how long a
 * timed one took, in the CPU's own ticks (a clock may be a system call). One in some is timed, since reading the
 * counter twice costs more than the rest. */
#ifndef NSCHED_REGION_H
#define NSCHED_REGION_H

#include <stdint.h>

enum {
	REGION_KEYS = 16,         /* regions kept for each thread; what comes later shares the last entry */
	REGION_TIMED_EVERY = 16,  /* one in this many is timed, once a region has been seen as often */
};

struct region {
	uintptr_t key;
	uint64_t count;           /* times entered */
	uint64_t timed;           /* of these, timed */
	uint64_t timed_ticks;     /* sum of the timed ones */
};

struct region_table {
	struct region region[REGION_KEYS];
	struct region *inside;    /* being timed */
	uint64_t begin;           /* in ticks */
};

void region_table_clear(struct region_table *table);

/* The calling thread's own table only. */
void region_begin(struct region_table *table, const void *key);
void region_end(struct region_table *table);

#endif
