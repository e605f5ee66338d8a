#include "heap.h"

#include <stdlib.h>
#include <string.h>

enum { ARITY = 4 };  /* children of an entry: fewer misses than with two */

void heap_free(struct heap *h)
{
	free(h->entry);
	free(h->at);
	memset(h, 0, sizeof *h);
}

bool heap_room(struct heap *h, uint32_t ids)
{
	if (ids <= h->ids) return true;
	uint32_t room = ids < 64 ? 64 : ids + ids / 2;
	struct heap_entry *entry = realloc(h->entry, room * sizeof *entry);
	if (entry) h->entry = entry;
	uint32_t *at = realloc(h->at, room * sizeof *at);
	if (at) h->at = at;
	if (!entry || !at) return false;
	for (uint32_t i = h->ids; i < room; i++) at[i] = UINT32_MAX;
	h->ids = room;
	return true;
}

static bool before(struct heap_entry a, struct heap_entry b)
{
	return a.time < b.time || (a.time == b.time && a.id < b.id);
}

static void put(struct heap *h, uint32_t i, struct heap_entry e)
{
	h->entry[i] = e;
	h->at[e.id] = i;
}

static void up(struct heap *h, uint32_t i, struct heap_entry e)
{
	while (i && before(e, h->entry[(i - 1) / ARITY])) {
		put(h, i, h->entry[(i - 1) / ARITY]);
		i = (i - 1) / ARITY;
	}
	put(h, i, e);
}

static void down(struct heap *h, uint32_t i, struct heap_entry e)
{
	for (;;) {
		uint32_t first = i * ARITY + 1, least = i;
		struct heap_entry best = e;
		for (uint32_t c = first; c < first + ARITY && c < h->n; c++)
			if (before(h->entry[c], best)) best = h->entry[least = c];
		if (least == i) break;
		put(h, i, best);
		i = least;
	}
	put(h, i, e);
}

static void take_out(struct heap *h, uint32_t i)
{
	struct heap_entry last = h->entry[--h->n];
	h->at[h->entry[i].id] = UINT32_MAX;
	if (i == h->n) return;
	if (i && before(last, h->entry[(i - 1) / ARITY])) up(h, i, last);
	else down(h, i, last);
}

void heap_set(struct heap *h, uint32_t id, uint64_t time)
{
	uint32_t i = h->at[id];
	struct heap_entry e = { time, id };
	if (time == HEAP_NEVER) {
		if (i != UINT32_MAX) take_out(h, i);
		return;
	}
	if (i == UINT32_MAX) up(h, h->n++, e);
	else if (before(e, h->entry[i])) up(h, i, e);
	else down(h, i, e);
}
