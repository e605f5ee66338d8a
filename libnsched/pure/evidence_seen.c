#include "pure/evidence_seen.h"

#include <errno.h>
#include <stdlib.h>

#include "pure/evidence.h"
#include "pure/pure.h"

enum { THREADS_FIRST = 8 };

int seen_init(struct seen_ring *ring, unsigned max_threads)
{
	unsigned threads = max_threads < THREADS_FIRST ? max_threads : THREADS_FIRST;
	*ring = (struct seen_ring){ .max_threads = max_threads, .size = (threads ? threads : 1) * SEEN_EACH };
	ring->access = calloc(ring->size, sizeof *ring->access);
	return ring->access ? 0 : -ENOMEM;
}

void seen_free(struct seen_ring *ring)
{
	free(ring->access);
}

/* Only when it is full and about to begin anew, so that nothing has to be put in order. */
static void grow(struct seen_ring *ring)
{
	uint32_t wanted = ring->threads * SEEN_EACH;
	if (wanted <= ring->size) return;
	struct seen_access *access = realloc(ring->access, wanted * sizeof *access);
	if (!access) return;
	ring->access = access;
	ring->next = ring->size;
	ring->size = wanted;
}

void seen_add(struct seen_ring *ring, unsigned thread, uint64_t page, unsigned ticks, unsigned when)
{
	if (thread >= ring->threads) ring->threads = thread + 1;
	if (ring->next == ring->size) {
		ring->next = 0;
		grow(ring);
	}
	ring->access[ring->next++] = (struct seen_access){ .page_low = (uint32_t)page, .page_high = (uint16_t)(page >> 32), .thread = (uint16_t)thread,
	                                                   .ticks = (uint16_t)ticks, .when = (uint16_t)when };
	if (ring->n < ring->next) ring->n = ring->next;
}

void seen_forget(struct seen_ring *ring, unsigned thread)
{
	for (uint32_t i = 0; i < ring->n; i++)
		if (ring->access[i].thread == thread) ring->access[i].thread = EVIDENCE_NO_THREAD;
}

const struct seen_access *seen_at(const struct seen_ring *ring, uint32_t back)
{
	if (back >= ring->n) return NULL;
	return &ring->access[back < ring->next ? ring->next - 1 - back : ring->next + ring->n - 1 - back];
}

uint64_t seen_page(const struct seen_access *access)
{
	return (uint64_t)access->page_high << 32 | access->page_low;
}
