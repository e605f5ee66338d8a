/* Time per region, kept by each thread for itself: how often it went through a region, how long a timed visit took,
 * in the CPU's own ticks (a clock may be a system call), and whether its loops came back to it. One visit in some is
 * timed where they are short, since reading the counter twice costs more than the rest. Written by the thread alone, and
 * emptied by the one that closes nsched, perhaps while the thread goes on; others may read at any time. So every word is atomic, in no order. */
#ifndef NSCHED_REGION_H
#define NSCHED_REGION_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	REGION_KEYS = 16,         /* regions kept for each thread; what comes later shares the last entry */
	REGION_TIMED_EVERY = 16,  /* one in this many is timed, once a region has been seen as often... */
	REGION_LONG_TICKS = 1000000, /* ...unless the last one timed was so long: about a third of a millisecond, a thousand times what timing takes */
};

struct region {
	_Atomic uintptr_t key;    /* code address with its lowest bit set; 0: free */
	_Atomic uint64_t count;   /* times entered */
	_Atomic uint64_t timed;   /* of these, timed */
	_Atomic uint64_t timed_ticks; /* sum of the timed ones */
	_Atomic uint64_t loops;   /* visits of which the first chunk of a loop is known, and that of the visit before */
	_Atomic uint64_t returned;/* of these, it was the same chunk */
	_Atomic uint64_t last_ticks; /* of the visit timed last */
	_Atomic uint64_t chunk_visit; /* visit in which a chunk was told last */
	_Atomic uint64_t chunk;   /* its first iteration */
};

struct region_table {
	_Atomic uint32_t used;    /* a bit for each entry that has a key */
	struct region region[REGION_KEYS];
	struct region *_Atomic current; /* the one entered last */
	struct region *_Atomic inside; /* being timed */
	_Atomic uint64_t begin;   /* in ticks */
};

void region_table_clear(struct region_table *table);

/* The calling thread's own table only. */
void region_begin(struct region_table *table, const void *key);
void region_end(struct region_table *table);
void region_chunk(struct region_table *table, uint64_t start);

/* A visit that was timed elsewhere. */
void region_visit(struct region_table *table, const void *key, uint64_t ticks);

#endif
