/* Samples from a signal handler to the helper thread: one producer (the handler in one thread), one
 * consumer, no locks, no system call.
 *
 * A timer's signal may still be queued when its timer is deleted, and a thread may be descheduled in
 * the middle of the handler for any time. So rings are never freed: they are claimed and retired,
 * each time with another cookie. The handler announces itself (inside), then looks at the cookie: a
 * late signal carries an old one and writes nothing; and no ring is claimed anew while a handler is
 * inside. Both sides use sequentially consistent order, so one of them sees the other. */
#ifndef NSCHED_RING_H
#define NSCHED_RING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "regs.h"

enum { RING_SLOTS = 64 }; /* a power of two; 256 ms of samples at 250 Hz */

struct ring_sample {
	struct regs regs;
	uint32_t periods; /* timer periods that it stands for, 1 or more */
};

struct ring {
	_Atomic uint64_t cookie; /* of its owner; 0: retired */
	_Atomic uint32_t inside; /* handlers between enter and leave */
	_Atomic uint32_t head;   /* written by the producer */
	_Atomic uint32_t tail;   /* written by the consumer */
	_Atomic uint32_t lost;   /* samples that found it full */
	struct ring_sample slot[RING_SLOTS];
};

/* Takes a retired ring, empty, for an owner; false if it has one or a handler is still inside.
 * One thread at a time. */
bool ring_claim(struct ring *ring, uint64_t cookie);
void ring_retire(struct ring *ring);

/* The handler's side, async-signal-safe. A place to fill, or NULL if the cookie is old or the ring is
 * full; ring_leave follows in either case. */
struct ring_sample *ring_enter(struct ring *ring, uint64_t cookie);
void ring_leave(struct ring *ring, const struct ring_sample *filled);

/* The consumer's side: the oldest sample, NULL if there is none. It stays what it is until ring_next gives its place back: nothing
 * is copied, and of one that is not wanted only a line is read. */
const struct ring_sample *ring_oldest(const struct ring *ring);
void ring_next(struct ring *ring);

/* How many there are to take. */
uint32_t ring_count(const struct ring *ring);

/* Samples lost since the last call. */
uint32_t ring_take_lost(struct ring *ring);

#endif
