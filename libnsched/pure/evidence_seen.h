/* The last accesses that were seen, as they were: who, which page, how much. Some for each thread, all in one
 * ring, the newest overwriting the oldest. For the files of the evidence. */
#ifndef NSCHED_EVIDENCE_SEEN_H
#define NSCHED_EVIDENCE_SEEN_H

#include <stdint.h>

enum { SEEN_EACH = 256 };  /* kept for each thread that was ever seen: 3 KiB, a second at 250 Hz */

struct seen_access {
	uint32_t page_low;
	uint16_t page_high;
	uint16_t thread;         /* EVIDENCE_NO_THREAD: forgotten */
	uint16_t ticks;
	uint16_t when;           /* in half-lives, wrapping */
};

struct seen_ring {
	struct seen_access *access;
	uint32_t size, n, next;  /* entries there are, of them filled, and the one to be written next */
	uint32_t threads, max_threads; /* one above the highest thread that was seen */
};

int seen_init(struct seen_ring *ring, unsigned max_threads);
void seen_free(struct seen_ring *ring);

/* `thread` is below max_threads. */
void seen_add(struct seen_ring *ring, unsigned thread, uint64_t page, unsigned ticks, unsigned when);
void seen_forget(struct seen_ring *ring, unsigned thread);

/* The access that came `back` before the newest, which is 0; NULL beyond the oldest. */
const struct seen_access *seen_at(const struct seen_ring *ring, uint32_t back);

uint64_t seen_page(const struct seen_access *access);

#endif
