/* Where chunks lie: for each chunk of the evidence (by the same index) the nodes that hold most of its
 * pages, and what is remembered of moving it. 16 bytes a chunk. */
#ifndef NSCHED_PLACEMENT_H
#define NSCHED_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "pure/evidence.h"

enum {
	PLACEMENT_NODES = 3,      /* nodes kept for each chunk; the rest of its pages counts as where the first one's are not */
	PLACEMENT_TIME_MS = 100,  /* unit of the times below */
	PLACEMENT_WHOLE = 255,    /* share of a node that holds all of the chunk's pages */
};

enum placement_flag {
	PLACEMENT_KNOWN = 1,      /* where[] is filled */
	PLACEMENT_FIXED = 2,      /* refused to move in a way that lasts: shared, pinned, a policy of the program's own */
	PLACEMENT_MOVED = 4,      /* has been moved by us, or was told to */
	PLACEMENT_ABSENT = 8,     /* no page was there when we looked */
};

struct placement_entry {
	uint32_t key;             /* which chunk the entry is of: its first page and its length */
	uint16_t looked;          /* when where[] was filled, in PLACEMENT_TIME_MS, wrapping */
	uint16_t moved;           /* when it was moved last */
	struct {
		uint8_t node, share;  /* share of the present pages, of PLACEMENT_WHOLE */
	} where[PLACEMENT_NODES];
	uint8_t flags;
};

struct placement {
	struct placement_entry *entry;
	unsigned room;
};

void placement_free(struct placement *placement);

/* The entry of chunk `index`, which is `chunk`; a new one if the index meant another chunk before.
 * NULL without memory. */
struct placement_entry *placement_entry(struct placement *placement, unsigned index, const struct evidence_chunk *chunk);

/* Fills where[] from pages counted per node, at `now_ms`. No page at all: PLACEMENT_ABSENT. */
void placement_fill(struct placement_entry *entry, const unsigned *pages, unsigned n_nodes, uint64_t now_ms);

/* The share of the chunk's pages on `node`, 0 to 1. */
float placement_share(const struct placement_entry *entry, unsigned node);

/* Time since it was looked at, or moved, in ms (no more than 6553 s, then it wraps). */
unsigned placement_age_ms(uint16_t then, uint64_t now_ms);
uint16_t placement_time(uint64_t now_ms);

#endif
