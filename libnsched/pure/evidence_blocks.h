/* The blocks of the evidence and the chunks that each is cut into: where they are found, made and freed.
 * For the files of the evidence. Indices stay; pointers to chunks do not outlive a call that makes one. */
#ifndef NSCHED_EVIDENCE_BLOCKS_H
#define NSCHED_EVIDENCE_BLOCKS_H

#include <stdbool.h>

#include "pure/evidence.h"

struct blocks {
	struct evidence_chunk *chunk;  /* from index 1 on; 0 means none */
	uint32_t n_chunks, room, most;
	uint32_t free_chunk;           /* list through .next; 0: empty */
	uint32_t *hash, hash_size;     /* page >> EVIDENCE_BLOCK_SHIFT -> the block's first chunk */
	uint32_t *order;               /* first chunks, by address unless stale */
	uint32_t n;
	bool order_stale;
};

int blocks_init(struct blocks *blocks, unsigned max_chunks);
void blocks_free(struct blocks *blocks);

/* The first chunk of the block with `page`; 0 if it is not there, or, made, if there is no room. */
uint32_t blocks_find(const struct blocks *blocks, uint64_t page);
uint32_t blocks_make(struct blocks *blocks, uint64_t page);

/* The chunk with `page` of the block that begins with chunk `first`. */
uint32_t blocks_chunk(const struct blocks *blocks, uint32_t first, uint64_t page);

/* Sees to it that a chunk begins at `page`, which is inside the block of chunk `first` or right behind it: its
 * index (0 right behind the block), -ENOSPC. */
int64_t blocks_cut(struct blocks *blocks, uint32_t first, uint64_t page);

/* The chunk behind `index` becomes part of it, with what is known of it. */
void blocks_join(struct blocks *blocks, uint32_t index);

/* Drops the blocks for which `gone` says so. */
void blocks_sweep(struct blocks *blocks, bool (*gone)(const struct blocks *blocks, uint32_t first));

/* Sorts order[] by address. */
void blocks_sort(struct blocks *blocks);

#endif
