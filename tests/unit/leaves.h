/* The evidence as it is seen from outside: its leaves, and what holds of them always. */
#ifndef TESTS_UNIT_LEAVES_H
#define TESTS_UNIT_LEAVES_H

#include "made.h"
#include "pure/evidence.h"

#define SAMPLE_NS 4e6f           /* at 250 Hz */
#define HALF_LIFE 2000000000ull
#define BASE 0x7f1234400000ull   /* a multiple of 2 MiB */

enum { CHUNKS = 4096, THREADS = 64, TOP_PAGES = EVIDENCE_BLOCK_PAGES, PAGE = 1 << EVIDENCE_PAGE_SHIFT, TOP = TOP_PAGES * PAGE };

struct leaf {
	uint64_t page, pages;
	unsigned index, n_users, weight[THREADS];
};

struct leaves {
	unsigned n;
	struct leaf leaf[CHUNKS];
};

/* Holds until the next call. */
const struct leaves *leaves_look(struct evidence *evidence);

/* The leaf that holds the address; one of no pages if it has no users. */
const struct leaf *leaves_at(const struct leaves *leaves, uint64_t addr);

/* The chunks of a block lie side by side and cover it, users are threads with weight and each is there once, the
 * walk ascends and finds every chunk with users. */
void leaves_check(struct evidence *evidence, unsigned threads);

struct evidence *leaves_made(unsigned chunks);

/* All of the time was watched. */
void leaves_age(struct evidence *evidence, uint64_t ns);

/* A sample of the thread somewhere in the range. */
void leaves_touch(struct evidence *evidence, struct dice *dice, unsigned thread, uint64_t from, uint64_t bytes);

#endif
