/* Which thread uses which part of a block of memory, from the last accesses to it that were seen.
 *
 * A decision tree over one dimension, the page, with the threads as classes (Breiman, Friedman, Olshen,
 * Stone, Classification and Regression Trees, 1984: the Gini gain): the accesses, sorted by page, are cut
 * where that tells threads apart best, and each side again, as long as it tells them apart for certain.
 * Threads that share a part are not told apart by any cut, and it stays one segment. */
#ifndef NSCHED_SEGMENTS_H
#define NSCHED_SEGMENTS_H

#include <stdint.h>

enum {
	SEGMENTS_MOST = 64,      /* more are not told apart in one block */
	SEGMENT_CLASSES = 64,    /* threads told apart in one block; if there are more, some count as one */
};

/* One access that was seen. */
struct seen {
	uint16_t page;           /* in the block */
	uint16_t thread;
	uint16_t ticks;          /* its weight */
	uint16_t class;          /* of its thread, numbered by segments_find */
};

/* Accesses first..end-1 are one segment. */
struct segment {
	uint32_t first, end;
};

/* Cuts `n` accesses, sorted by page, into segments by ascending page; one page is never in two. Returns their
 * number, 0 only if n is 0. */
unsigned segments_find(struct seen *seen, unsigned n, struct segment segment[SEGMENTS_MOST]);

#endif
