/* Regions, pages and windows. Touches nothing but its own arrays. */
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_PAGE = 0x7f0000010,  /* not at the start of a huge page: most arrays aren't */
	GAP_PAGES = 16,            /* between two regions */
	DEAD_MOST = 1024,          /* regions that are gone and still listed */
};

void memory_init(struct memory *m, const struct machine *machine)
{
	memset(m, 0, sizeof *m);
	m->machine = machine;
	m->next_page = FIRST_PAGE;
	for (unsigned n = 0; n < machine->n_nodes; n++) m->free_pages[n] = (int64_t)(machine->node[n].memory_bytes >> MEMORY_PAGE_SHIFT);
}

static void free_region(struct piece *r)
{
	for (struct window *w = r->windows; w;) {
		struct window *next = w->next;
		free(w);
		w = next;
	}
	free(r->node);
	free(r);
}

void memory_free(struct memory *m)
{
	for (unsigned i = 0; i < m->n; i++) free_region(m->region[i]);
	free(m->region);
	m->region = NULL;
	m->n = m->room = 0;
}

static void bury(struct memory *m)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < m->n; i++) {
		if (m->region[i]->pages) m->region[kept++] = m->region[i];
		else free_region(m->region[i]);
	}
	m->n = kept;
	m->dead = 0;
}

struct piece *memory_add(struct memory *m, uint32_t pages)
{
	if (m->dead > DEAD_MOST) bury(m);
	if (m->n == m->room) {
		unsigned room = m->room ? m->room * 2 : 64;
		struct piece **grown = realloc(m->region, room * sizeof(*grown));
		if (!grown) return NULL;
		m->region = grown;
		m->room = room;
	}
	struct piece *r = calloc(1, sizeof *r);
	if (!r || !(r->node = malloc(pages))) {
		free(r);
		return NULL;
	}
	memset(r->node, MEMORY_ABSENT, pages);
	r->page = m->next_page;
	r->pages = pages;
	m->next_page += pages + GAP_PAGES;
	m->region[m->n++] = r;
	return r;
}

void memory_remove(struct memory *m, struct piece *r)
{
	for (uint32_t i = 0; i < r->pages; i++)
		if (r->node[i] != MEMORY_ABSENT) m->free_pages[r->node[i]]++;
	r->pages = 0;
	m->dead++;
}

struct window *memory_window(const struct memory *m, struct piece *r, uint32_t first, uint32_t count)
{
	for (struct window *w = r->windows; w; w = w->next)
		if (w->first == first && w->count == count) return w;
	struct window *w = calloc(1, sizeof *w + m->machine->n_nodes * sizeof w->on[0]);
	if (!w) return NULL;
	w->region = r;
	w->first = first;
	w->count = count;
	for (uint32_t i = first; i < first + count; i++)
		if (r->node[i] != MEMORY_ABSENT) {
			w->on[r->node[i]]++;
			w->present++;
		}
	w->next = r->windows;
	r->windows = w;
	return w;
}

static void changed(struct piece *r, uint32_t at, int from, int to)
{
	for (struct window *w = r->windows; w; w = w->next) {
		if (at - w->first >= w->count) continue;
		if (from >= 0) w->on[from]--;
		else w->present++;
		w->on[to]++;
		w->version++;
	}
}

/* The node itself if it has room, else the nearest that has, else the node itself: memory is never out. */
static unsigned with_room(const struct memory *m, unsigned node)
{
	const struct machine *k = m->machine;
	int best = -1;
	if (m->free_pages[node] > 0) return node;
	for (unsigned n = 0; n < k->n_nodes; n++)
		if (m->free_pages[n] > 0 && (best < 0 || k->latency_ns[node][n] < k->latency_ns[node][best])) best = (int)n;
	return best < 0 ? node : (unsigned)best;
}

uint32_t memory_touch(struct memory *m, struct piece *r, uint32_t first, uint32_t count, unsigned node)
{
	uint32_t made = 0;
	for (uint32_t i = first; i < first + count && i < r->pages; i++) {
		if (r->node[i] != MEMORY_ABSENT) continue;
		unsigned n = with_room(m, node);
		r->node[i] = (uint8_t)n;
		m->free_pages[n]--;
		changed(r, i, -1, (int)n);
		made++;
	}
	return made;
}

static struct piece *find(const struct memory *m, uint64_t page)
{
	unsigned low = 0, high = m->n;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (m->region[middle]->page <= page) low = middle + 1;
		else high = middle;
	}
	struct piece *r = low ? m->region[low - 1] : NULL;
	return r && page - r->page < r->pages ? r : NULL;
}

int memory_node(const struct memory *m, uint64_t page)
{
	const struct piece *r = find(m, page);
	if (!r) return -2;
	uint8_t node = r->node[page - r->page];
	return node == MEMORY_ABSENT ? -1 : node;
}

static int move_one(struct memory *m, struct piece *r, uint32_t at, unsigned to)
{
	uint8_t from = r->node[at];
	if (from == MEMORY_ABSENT) return -ENOENT;
	if (from == to) return (int)to;
	if (m->free_pages[to] <= 0) return -ENOMEM;
	m->free_pages[from]++;
	m->free_pages[to]--;
	m->moved_pages++;
	r->node[at] = (uint8_t)to;
	changed(r, at, from, (int)to);
	return (int)to;
}

void memory_move(struct memory *m, uint64_t page, uint32_t n, unsigned to, int *status)
{
	struct piece *r = NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (!r || page + i - r->page >= r->pages) r = find(m, page + i);
		status[i] = r ? move_one(m, r, (uint32_t)(page + i - r->page), to) : -ENOENT;
	}
}
