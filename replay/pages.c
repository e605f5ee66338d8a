#include "pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SHIFT = 9, PAGES = 1 << SHIFT, ROOM_FIRST = 64, UNKNOWN = -1, ABSENT = -2 };

struct pages_block {
	uint64_t number;
	int8_t found[PAGES];       /* node, UNKNOWN or ABSENT */
	int8_t moved[PAGES];       /* node that it was moved to here, or UNKNOWN */
	int8_t then[PAGES];        /* node, as the recorded session saw and moved it, UNKNOWN or ABSENT */
	bool there[PAGES];         /* the recorded session has moved it */
	bool stuck[PAGES];         /* it did not let itself be moved there */
};

void pages_free(struct pages *p)
{
	for (unsigned i = 0; i < p->room; i++) free(p->block[i]);
	free(p->block);
	memset(p, 0, sizeof *p);
}

static struct pages_block **slot(const struct pages *p, uint64_t number)
{
	unsigned i = (unsigned)(number * 0x9e3779b97f4a7c15ull >> 32) & (p->room - 1);
	while (p->block[i] && p->block[i]->number != number) i = (i + 1) & (p->room - 1);
	return &p->block[i];
}

static int grow(struct pages *p)
{
	struct pages larger = { .room = p->room ? 2 * p->room : ROOM_FIRST, .n = p->n };
	if (2 * (p->n + 1) <= p->room) return 0;
	if (p->n >= PAGES_BLOCKS || !(larger.block = calloc(larger.room, sizeof(*larger.block)))) return -ENOMEM;
	for (unsigned i = 0; i < p->room; i++)
		if (p->block[i]) *slot(&larger, p->block[i]->number) = p->block[i];
	free(p->block);
	*p = larger;
	return 0;
}

static struct pages_block *find(const struct pages *p, uint64_t page)
{
	return p->room ? *slot(p, page >> SHIFT) : NULL;
}

static struct pages_block *make(struct pages *p, uint64_t page)
{
	struct pages_block *b = find(p, page);
	if (b || grow(p) || !(b = calloc(1, sizeof *b))) return b;
	b->number = page >> SHIFT;
	memset(b->found, UNKNOWN, sizeof b->found);
	memset(b->moved, UNKNOWN, sizeof b->moved);
	memset(b->then, UNKNOWN, sizeof b->then);
	*slot(p, b->number) = b;
	p->n++;
	return b;
}

int pages_found(struct pages *p, uint64_t page, int node)
{
	struct pages_block *b = make(p, page);
	unsigned i = page % PAGES;
	if (!b) return -ENOMEM;
	b->then[i] = (int8_t)(node >= 0 && node < MACHINE_NODES ? node : ABSENT);
	if (!b->there[i]) b->found[i] = b->then[i];
	return 0;
}

void pages_moved_there(struct pages *p, uint64_t page, int node)
{
	struct pages_block *b = find(p, page);
	if (!b) return;
	if (node >= 0) b->then[page % PAGES] = (int8_t)node;
	b->there[page % PAGES] |= node >= 0;
	b->stuck[page % PAGES] = node < 0;
}

/* The nearest that is known; in front of one behind it. */
static int near_by(const int8_t node[PAGES], unsigned i)
{
	for (unsigned far = 0; far < PAGES; far++) {
		if (i >= far && node[i - far] != UNKNOWN) return node[i - far];
		if (i + far < PAGES && node[i + far] != UNKNOWN) return node[i + far];
	}
	return UNKNOWN;
}

int pages_where(const struct pages *p, uint64_t page)
{
	const struct pages_block *b = find(p, page);
	int node = b ? b->moved[page % PAGES] : UNKNOWN;
	if (b && node < 0) node = near_by(b->found, page % PAGES);
	return node < 0 ? -ENOENT : node;
}

int pages_then(const struct pages *p, uint64_t page)
{
	const struct pages_block *b = find(p, page);
	int node = b ? near_by(b->then, page % PAGES) : UNKNOWN;
	return node < 0 ? -ENOENT : node;
}

int pages_move(struct pages *p, uint64_t page, int node)
{
	struct pages_block *b = find(p, page);
	if (pages_where(p, page) < 0) return -ENOENT;
	if (b->stuck[page % PAGES]) return -EBUSY;
	b->moved[page % PAGES] = (int8_t)node;
	return node;
}
