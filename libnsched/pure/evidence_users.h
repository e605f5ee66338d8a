/* The users of one chunk of the evidence: who is let in, and what is remembered of them. For the files of the
 * evidence; nothing here knows of blocks. */
#ifndef NSCHED_EVIDENCE_USERS_H
#define NSCHED_EVIDENCE_USERS_H

#include <stdbool.h>

#include "pure/evidence.h"

enum { WEIGHT_MOST = 0xffff };

/* Adds to a weight, which stays at WEIGHT_MOST. */
void users_add_ticks(uint16_t *weight, unsigned ticks);

/* An access. `ticks` go to how much; to who go `most` of them at the most, so that a few samples of a long
 * period do not push out all that is remembered. */
void users_add(struct evidence_chunk *chunk, unsigned thread, unsigned ticks, unsigned most);

/* User number `u` is forgotten; the last one takes its place. */
void users_drop(struct evidence_chunk *chunk, unsigned u);

/* Nobody is known to use it any more; how much is kept. */
void users_clear(struct evidence_chunk *chunk);

/* All weights are halved; users without any are dropped. */
void users_halve(struct evidence_chunk *chunk);

/* Has `thread` the most weight? */
bool users_is_main(const struct evidence_chunk *chunk, unsigned thread);

/* Takes `pages` pages' part of all weights out of `whole` (which has `of` pages) and puts it into `part`, which
 * is empty. */
void users_share_out(struct evidence_chunk *whole, struct evidence_chunk *part, unsigned pages, unsigned of);

/* Puts all weights of `from` on those of `into`. */
void users_merge(struct evidence_chunk *into, const struct evidence_chunk *from);

#endif
