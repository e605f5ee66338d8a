/* What happens when: a heap of times, one for each number, that can be changed. Equal times go by number, so that the
 * order is always the same. */
#ifndef NSCHED_SIM_HEAP_H
#define NSCHED_SIM_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_NEVER UINT64_MAX

struct heap_entry {
	uint64_t time;
	uint32_t id;
};

struct heap {
	struct heap_entry *entry;
	uint32_t *at;            /* where each id is in entry[], UINT32_MAX: not there */
	uint32_t n, ids;
};

void heap_free(struct heap *heap);

/* Ids below `ids` are allowed from now on. False without memory. */
bool heap_room(struct heap *heap, uint32_t ids);

/* The time of `id` is `time` now; HEAP_NEVER takes it out. */
void heap_set(struct heap *heap, uint32_t id, uint64_t time);

/* The time of the first; HEAP_NEVER where there is none. */
static inline uint64_t heap_time(const struct heap *heap)
{
	return heap->n ? heap->entry[0].time : HEAP_NEVER;
}

#endif
