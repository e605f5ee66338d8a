/* What the files of the evidence share. */
#ifndef NSCHED_EVIDENCE_INSIDE_H
#define NSCHED_EVIDENCE_INSIDE_H

#include "pure/evidence.h"
#include "pure/evidence_blocks.h"
#include "pure/evidence_seen.h"
#include "pure/segments.h"

enum {
	RECENT_LINES = 128,      /* lines of a thread that are taken to be in its cache */
	HOT_KEPT = 128,          /* accesses of a thread by which its hot places are told: half a second at 250 Hz */
	HOT_PLACES = 512,        /* a power of two */
	LEARN_MOST = 4096,       /* accesses looked at in one step by evidence_learn, the newest: half a millisecond at the worst */
	LEARN_BLOCKS = 64,       /* blocks that it cuts in one step; others wait for the next */
};

/* Where a thread's last accesses went, by pieces of memory far smaller than a cache, and how many of them to each: the hashes of
 * so few pieces hardly ever meet in a place. */
struct hot {
	uint16_t place[HOT_KEPT];      /* of the last accesses, in a ring */
	uint8_t count[HOT_PLACES];
	uint16_t n, next;
	uint16_t pieces;               /* places with a count */
};

struct evidence {
	struct blocks blocks;
	struct seen_ring seen;
	uint32_t (*recent)[RECENT_LINES];
	struct hot *hot;               /* per thread */
	float *carry;                  /* per thread: weight too small for a tick yet */
	unsigned max_threads, unclear; /* blocks marked unclear, about */
	double window_ns;
	uint64_t since_halved_ns, dropped, halvings;
	uint32_t learn[LEARN_MOST];    /* accesses, packed so that they sort by block and page */
	uint32_t learn_room[LEARN_MOST];  /* while they are sorted */
	uint32_t next_block;           /* in order[], where evidence_learn looks for unclear ones first */
	struct seen block_seen[LEARN_MOST];
};

#endif
