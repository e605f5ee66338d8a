/* Simulated memory: regions of pages, each page on a node or not there yet, and windows, the parts of regions that
 * threads use, of which the pages per node are kept up to date. Knows nodes only as numbers. */
#ifndef NSCHED_SIM_MEMORY_H
#define NSCHED_SIM_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "pure/machine.h"

enum { MEMORY_ABSENT = 0xff, MEMORY_PAGE_SHIFT = 12, MEMORY_PAGE = 1 << MEMORY_PAGE_SHIFT };

struct piece {
	uint64_t page;            /* number of its first page */
	uint32_t pages;           /* 0: it is gone */
	uint8_t *node;            /* of each page, or MEMORY_ABSENT */
	struct window *windows;
};

struct window {
	struct window *next;
	struct piece *region;
	uint32_t first, count;    /* pages, inside the region */
	uint32_t present;         /* of them, there */
	uint32_t version;         /* counts changes */
	uint32_t on[];            /* present pages on each node */
};

struct memory {
	const struct machine *machine;
	struct piece **region;   /* by ascending page */
	unsigned n, room, dead;
	uint64_t next_page;
	int64_t free_pages[MACHINE_NODES];
	uint64_t moved_pages;
};

void memory_init(struct memory *memory, const struct machine *machine);
void memory_free(struct memory *memory);

/* A region of so many pages, none there yet; NULL without memory. */
struct piece *memory_add(struct memory *memory, uint32_t pages);

/* It is gone, with its windows; `region` is not to be used any more. */
void memory_remove(struct memory *memory, struct piece *region);

/* The window of these pages, made if there is none; NULL without memory. */
struct window *memory_window(const struct memory *memory, struct piece *region, uint32_t first, uint32_t count);

/* Pages of the region that were absent come to be on `node`, or where there is room. How many. */
uint32_t memory_touch(struct memory *memory, struct piece *region, uint32_t first, uint32_t count, unsigned node);

/* The node of a page; -1: not there yet, -2: no such page. */
int memory_node(const struct memory *memory, uint64_t page);

/* Moves neighbouring pages; `status` says where each is then, -ENOENT: not there, -ENOMEM: the node is full. */
void memory_move(struct memory *memory, uint64_t page, uint32_t n, unsigned to, int *status);

#endif
