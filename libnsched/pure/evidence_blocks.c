#include "pure/evidence_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/evidence_users.h"
#include "pure/pure.h"

enum { ROOM_FIRST = 256 };

static uint32_t slot_of(const struct blocks *b, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40) & (b->hash_size - 1);
}

static void hash_put(struct blocks *b, uint32_t first)
{
	uint32_t s = slot_of(b, b->chunk[first].page >> EVIDENCE_BLOCK_SHIFT);
	while (b->hash[s]) s = (s + 1) & (b->hash_size - 1);
	b->hash[s] = first;
}

static void hash_rebuild(struct blocks *b)
{
	memset(b->hash, 0, b->hash_size * sizeof *b->hash);
	for (uint32_t i = 0; i < b->n; i++) hash_put(b, b->order[i]);
}

static int grow_hash(struct blocks *b)
{
	uint32_t size = b->hash_size ? b->hash_size * 2 : ROOM_FIRST;
	uint32_t *hash = calloc(size, sizeof *hash), *order = realloc(b->order, size / 2 * sizeof *order);
	if (order) b->order = order;
	if (!hash || !order) {
		free(hash);
		return -ENOSPC;
	}
	free(b->hash);
	b->hash = hash;
	b->hash_size = size;
	hash_rebuild(b);
	return 0;
}

static int grow_chunks(struct blocks *b)
{
	uint32_t room = b->room ? b->room * 2 : ROOM_FIRST;
	if (room > b->most) room = b->most;
	if (room <= b->n_chunks) return -ENOSPC;
	struct evidence_chunk *c = realloc(b->chunk, room * sizeof *c);
	if (!c) return -ENOSPC;
	b->chunk = c;
	b->room = room;
	return 0;
}

static uint32_t new_chunk(struct blocks *b, uint64_t page, unsigned pages)
{
	uint32_t i = b->free_chunk;
	if (i) {
		b->free_chunk = b->chunk[i].next;
	} else {
		if (b->n_chunks >= b->room && grow_chunks(b)) return 0;
		i = b->n_chunks++;
	}
	memset(&b->chunk[i], 0, sizeof b->chunk[i]);
	b->chunk[i].page = page & ((1ull << (EVIDENCE_ADDRESS_BITS - EVIDENCE_PAGE_SHIFT)) - 1);
	b->chunk[i].pages = pages & 0x3ff;
	return i;
}

static void free_chunk(struct blocks *b, uint32_t i)
{
	memset(&b->chunk[i], 0, sizeof b->chunk[i]);
	b->chunk[i].next = b->free_chunk;
	b->free_chunk = i;
}

int blocks_init(struct blocks *b, unsigned max_chunks)
{
	memset(b, 0, sizeof *b);
	b->most = max_chunks + 1 < 2 ? 2 : max_chunks + 1;
	b->n_chunks = 1;
	if (grow_hash(b) || grow_chunks(b)) return -ENOMEM;
	memset(b->chunk, 0, sizeof *b->chunk);
	return 0;
}

void blocks_free(struct blocks *b)
{
	free(b->chunk);
	free(b->hash);
	free(b->order);
}

uint32_t blocks_find(const struct blocks *b, uint64_t page)
{
	uint64_t key = page >> EVIDENCE_BLOCK_SHIFT;
	for (uint32_t s = slot_of(b, key); b->hash[s]; s = (s + 1) & (b->hash_size - 1))
		if (b->chunk[b->hash[s]].page >> EVIDENCE_BLOCK_SHIFT == key) return b->hash[s];
	return 0;
}

uint32_t blocks_make(struct blocks *b, uint64_t page)
{
	uint32_t first = blocks_find(b, page);
	if (first) return first;
	if ((b->n + 1) * 2 > b->hash_size && grow_hash(b)) return 0;
	first = new_chunk(b, page >> EVIDENCE_BLOCK_SHIFT << EVIDENCE_BLOCK_SHIFT, EVIDENCE_BLOCK_PAGES);
	if (!first) return 0;
	b->order[b->n++] = first;
	b->order_stale = true;
	hash_put(b, first);
	return first;
}

uint32_t blocks_chunk(const struct blocks *b, uint32_t first, uint64_t page)
{
	uint32_t i = first;
	while (b->chunk[i].next && page >= b->chunk[i].page + b->chunk[i].pages) i = b->chunk[i].next;
	return i;
}

int64_t blocks_cut(struct blocks *b, uint32_t first, uint64_t page)
{
	uint32_t i = blocks_chunk(b, first, page);
	unsigned pages = b->chunk[i].pages, before = (unsigned)(page - b->chunk[i].page);
	if (before == 0) return i;
	if (before == pages) return b->chunk[i].next;
	uint32_t cut = new_chunk(b, page, pages - before);   /* may move b->chunk */
	if (!cut) return -ENOSPC;
	struct evidence_chunk *c = &b->chunk[i];
	users_share_out(c, &b->chunk[cut], pages - before, pages);
	c->pages = before & 0x3ff;
	b->chunk[cut].next = c->next;
	c->next = cut;
	return cut;
}

void blocks_join(struct blocks *b, uint32_t index)
{
	struct evidence_chunk *c = &b->chunk[index];
	uint32_t gone = c->next;
	users_merge(c, &b->chunk[gone]);
	c->pages = (c->pages + b->chunk[gone].pages) & 0x3ff;
	c->next = b->chunk[gone].next;
	free_chunk(b, gone);
}

void blocks_sweep(struct blocks *b, bool (*gone)(const struct blocks *, uint32_t))
{
	uint32_t kept = 0;
	for (uint32_t k = 0; k < b->n; k++) {
		uint32_t first = b->order[k];
		if (!gone(b, first)) {
			b->order[kept++] = first;
			continue;
		}
		for (uint32_t i = first, next; i; i = next) {
			next = b->chunk[i].next;
			free_chunk(b, i);
		}
	}
	b->n = kept;
	hash_rebuild(b);
}

static int by_page(const void *x, const void *y, void *chunks)
{
	const struct evidence_chunk *c = chunks;
	uint64_t p = c[*(const uint32_t *)x].page, q = c[*(const uint32_t *)y].page;
	return (p > q) - (p < q);
}

void blocks_sort(struct blocks *b)
{
	if (b->order_stale) qsort_r(b->order, b->n, sizeof *b->order, by_page, b->chunk);
	b->order_stale = false;
}
