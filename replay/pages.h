/* Where pages would lie if another policy had moved them: by what the record says of each page, but for what the recorded session moved,
 * and by what was moved here. Kept by block of 512 pages. */
#ifndef NSCHED_REPLAY_PAGES_H
#define NSCHED_REPLAY_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "pure/machine.h"

enum { PAGES_BLOCKS = 1 << 18 };   /* most blocks: half a terabyte that was looked at; more is not known */

struct pages_block;

struct pages {
	struct pages_block **block;    /* a table by hash, twice as large as it has to be */
	unsigned n, room;
};

void pages_free(struct pages *pages);

/* The record says where the page was found: a node, or -errno. -ENOMEM. */
int pages_found(struct pages *pages, uint64_t page, int node);

/* Where the recorded session has it now: a node, or -errno. */
int pages_then(const struct pages *pages, uint64_t page);

/* The recorded session told the page to move, and that is what it said: from now on where it was found says nothing of it here. */
void pages_moved_there(struct pages *pages, uint64_t page, int node);

/* Where it would be: a node, or -errno. Of a page that was not looked at, the nearest of its block is taken. */
int pages_where(const struct pages *pages, uint64_t page);

/* Moves it here. Where it is then, or -errno. */
int pages_move(struct pages *pages, uint64_t page, int node);

#endif
