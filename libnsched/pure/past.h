/* What policies know of the looks before: written into each situation, so that a policy is a function of
 * the situation alone, and a snapshot has all that a decision depended on. */
#ifndef NSCHED_PAST_H
#define NSCHED_PAST_H

#include <stdbool.h>

#include "pure/situation.h"

struct past_chunk {
	uint64_t page;
	uint32_t pages;
	int16_t node;                  /* situation_toucher */
};

struct past_thread {
	int16_t home, node;            /* where it was bound to first, and to last: 1 above the node; 0: none */
	uint8_t times;                 /* situation_thread's */
	uint32_t quiet_ms;             /* since it was moved, or one of those times was forgotten */
};

struct past {
	uint32_t steps;
	struct situation_past node[MACHINE_NODES];
	struct past_thread *thread;    /* by number */
	unsigned room_threads;
	struct past_chunk *chunk;      /* of the last look, by ascending page */
	unsigned n_chunks, room_chunks;
};

/* Another look, `passed_ns` after the last: fills what the situation says of the past, and remembers this one.
 * `touches`: who used the chunks is remembered, too. 0 or -ENOMEM. */
int past_look(struct past *past, struct situation *situation, uint64_t passed_ns, bool touches);

/* The thread is gone, its number may be used anew. */
void past_forget_thread(struct past *past, unsigned number);
void past_free(struct past *past);

#endif
