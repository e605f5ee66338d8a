/* The users of one chunk of the evidence: who is let in, what is remembered of them, and whether they use
 * different parts. For evidence.c, which keeps the chunks; nothing here knows of the tree. */
#ifndef NSCHED_EVIDENCE_USERS_H
#define NSCHED_EVIDENCE_USERS_H

#include <stdbool.h>

#include "pure/evidence.h"

enum {
	MEAN_UNITS = 128,        /* of a mean, to a page */
	WEIGHT_MOST = 0xffff,
};

/* Adds to a weight, which stays at WEIGHT_MOST. */
void users_add_ticks(uint16_t *weight, unsigned ticks);

/* An access at `mean` (in MEAN_UNITS from the chunk's start). `ticks` go to how much; to who go `most` of
 * them at the most, so that a few samples of a long period do not push out all that is remembered. */
void users_add(struct evidence_chunk *chunk, unsigned thread, unsigned mean, unsigned ticks, unsigned most);

/* User number `u` is forgotten; the last one takes its place. */
void users_drop(struct evidence_chunk *chunk, unsigned u);

/* All weights are halved; users without any are dropped. */
void users_halve(struct evidence_chunk *chunk);

/* Are there two that use different parts of it, so that it should be halved? */
bool users_apart(const struct evidence_chunk *chunk);

/* The users of a chunk into its two halves, which are empty. */
void users_hand_down(const struct evidence_chunk *chunk, struct evidence_chunk half[2]);

#endif
