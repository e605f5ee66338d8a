#include "ring.h"

#include <stddef.h>

bool ring_claim(struct ring *ring, uint64_t cookie)
{
	if (atomic_load(&ring->cookie) != 0 || atomic_load(&ring->inside) != 0)
		return false;
	/* A handler that comes in from here on sees cookie 0 or, later, another's: it writes nothing. */
	atomic_store(&ring->head, 0);
	atomic_store(&ring->tail, 0);
	atomic_store(&ring->lost, 0);
	atomic_store(&ring->cookie, cookie);
	return true;
}

void ring_retire(struct ring *ring)
{
	atomic_store(&ring->cookie, 0);
}

struct ring_sample *ring_enter(struct ring *ring, uint64_t cookie)
{
	uint32_t head;

	atomic_fetch_add(&ring->inside, 1);
	if (atomic_load(&ring->cookie) != cookie)
		return NULL;
	head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	if (head - atomic_load_explicit(&ring->tail, memory_order_acquire) >= RING_SLOTS) {
		atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
		return NULL;
	}
	return &ring->slot[head % RING_SLOTS];
}

void ring_leave(struct ring *ring, const struct ring_sample *filled)
{
	if (filled)
		atomic_fetch_add_explicit(&ring->head, 1, memory_order_release);
	atomic_fetch_sub(&ring->inside, 1);
}

const struct ring_sample *ring_oldest(const struct ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	return atomic_load_explicit(&ring->head, memory_order_acquire) == tail ? NULL : &ring->slot[tail % RING_SLOTS];
}

void ring_next(struct ring *ring)
{
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);

	atomic_store_explicit(&ring->tail, tail + 1, memory_order_release); /* nobody else writes it */
}

uint32_t ring_count(const struct ring *ring)
{
	return atomic_load_explicit(&ring->head, memory_order_acquire) - atomic_load_explicit(&ring->tail, memory_order_relaxed);
}

uint32_t ring_take_lost(struct ring *ring)
{
	return atomic_exchange_explicit(&ring->lost, 0, memory_order_relaxed);
}
