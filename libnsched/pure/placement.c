#include "pure/placement.h"

#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

void placement_free(struct placement *placement)
{
	free(placement->entry);
	memset(placement, 0, sizeof *placement);
}

static int grow(struct placement *placement, unsigned index)
{
	unsigned room = placement->room ? placement->room : 256;
	while (room <= index) room *= 2;
	struct placement_entry *entry = realloc(placement->entry, room * sizeof *entry);
	if (!entry) return -1;
	memset(entry + placement->room, 0, (room - placement->room) * sizeof *entry);
	placement->entry = entry;
	placement->room = room;
	return 0;
}

static uint32_t key_of(const struct evidence_chunk *chunk)
{
	return (uint32_t)chunk->page ^ (uint32_t)chunk->pages << 22;
}

struct placement_entry *placement_entry(struct placement *placement, unsigned index, const struct evidence_chunk *chunk)
{
	if (index >= placement->room && grow(placement, index)) return NULL;
	struct placement_entry *entry = &placement->entry[index];
	uint32_t key = key_of(chunk);
	if (entry->key != key) {
		memset(entry, 0, sizeof *entry);
		entry->key = key;
	}
	return entry;
}

/* The node with the most pages among those not taken yet. */
static int most_pages(const unsigned *pages, unsigned n_nodes, const struct placement_entry *entry, unsigned taken)
{
	int most = -1;
	for (unsigned n = 0; n < n_nodes; n++) {
		bool had = false;
		for (unsigned k = 0; k < taken; k++) had |= entry->where[k].node == n;
		if (!had && pages[n] && (most < 0 || pages[n] > pages[most])) most = (int)n;
	}
	return most;
}

void placement_fill(struct placement_entry *entry, const unsigned *pages, unsigned n_nodes, uint64_t now_ms)
{
	unsigned total = 0;
	for (unsigned n = 0; n < n_nodes; n++) total += pages[n];
	memset(entry->where, 0, sizeof entry->where);
	entry->looked = placement_time(now_ms);
	entry->flags = (uint8_t)((entry->flags | PLACEMENT_KNOWN) & ~PLACEMENT_ABSENT);
	if (!total) entry->flags |= PLACEMENT_ABSENT;
	for (unsigned k = 0; k < PLACEMENT_NODES; k++) {
		int n = most_pages(pages, n_nodes, entry, k);
		if (n < 0) break;
		entry->where[k].node = (uint8_t)n;
		unsigned share = (pages[n] * PLACEMENT_WHOLE + total / 2) / total;
		entry->where[k].share = (uint8_t)(share ? share : 1);
	}
}

float placement_share(const struct placement_entry *entry, unsigned node)
{
	for (unsigned k = 0; k < PLACEMENT_NODES; k++)
		if (entry->where[k].share && entry->where[k].node == node) return (float)entry->where[k].share / PLACEMENT_WHOLE;
	return 0;
}

unsigned placement_age_ms(uint16_t then, uint64_t now_ms)
{
	return (unsigned)(uint16_t)(placement_time(now_ms) - then) * PLACEMENT_TIME_MS;
}

uint16_t placement_time(uint64_t now_ms)
{
	return (uint16_t)(now_ms / PLACEMENT_TIME_MS);
}
