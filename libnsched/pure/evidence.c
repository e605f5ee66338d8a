#include "pure/evidence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pure/evidence_inside.h"
#include "pure/evidence_users.h"
#include "pure/pure.h"

enum {
	SAMPLE_TICKS = 16,       /* what one sample says at the most of who uses a chunk: a sample at 250 Hz */
	CACHED_SHARE = 8,        /* an access to what the thread has in its cache counts for one in so many */
	HOT_SHIFT = 6,           /* log2 pages of a piece: 256 KiB, so that a buffer in a second-level cache is one or a few */
	HOT_TIMES = 6,           /* a piece is hot that draws so many times what the thread's pieces do in the mean: chance
	                          * makes 3 of that, and a buffer of 1 MiB that takes half of the time comes to 8 */
	HOT_LEAST = 32,          /* nothing is said of a thread before so many accesses */
	RANGE_TICKS = 160,       /* what one look at a range that the program spoke of says of it */
	FORGET_HALF_LIVES = 16,  /* who used a chunk is halved, too, once in so many half-lives: half a minute by default */
	LINE_SHIFT = 6,
	SHARED_TICKS = 80,       /* two users of a chunk would have been told apart, had they parts of their own, by 5 samples of the lesser */
	SHARED_PART = 4,         /* one with less than so small a part of the main user's weight does not matter */
	DENSE = 4,               /* so many accesses seen for each block, and the borders inside matter and can be found */
	DENSE_UNTIL = 256,       /* how much memory there is, is not known before so many accesses */
};

int evidence_init(struct evidence **evidence, unsigned max_chunks, unsigned max_threads)
{
	*evidence = NULL;
	if (max_threads > EVIDENCE_THREADS) return -EINVAL;
	struct evidence *e = calloc(1, sizeof *e);
	*evidence = e;
	if (!e) return -ENOMEM;
	e->max_threads = max_threads;
	e->recent = calloc(max_threads, sizeof *e->recent);
	e->carry = calloc(max_threads, sizeof *e->carry);
	e->hot = calloc(max_threads, sizeof *e->hot);
	if (e->recent && e->carry && e->hot && !seen_init(&e->seen, max_threads) && !blocks_init(&e->blocks, max_chunks)) return 0;
	evidence_free(e);
	*evidence = NULL;
	return -ENOMEM;
}

void evidence_free(struct evidence *e)
{
	if (!e) return;
	blocks_free(&e->blocks);
	seen_free(&e->seen);
	free(e->recent);
	free(e->hot);
	free(e->carry);
	free(e);
}

/* ---- what comes in ------------------------------------------------------------------------------------ */

/* Whole ticks of a weight; what is left over is carried to the thread's next access. */
static unsigned ticks_of(struct evidence *e, unsigned thread, float weight_ns)
{
	float t = weight_ns / EVIDENCE_TICK_NS + e->carry[thread];
	if (!(t > 0)) t = 0;
	if (t > WEIGHT_MOST / 2) t = WEIGHT_MOST / 2;
	unsigned whole = (unsigned)t;
	e->carry[thread] = t - (float)whole;
	return whole;
}

static bool was_recent(struct evidence *e, unsigned thread, uint64_t line)
{
	uint32_t *slot = &e->recent[thread][(line ^ line >> 7) % RECENT_LINES];
	bool same = *slot == (uint32_t)line;
	*slot = (uint32_t)line;
	return same;
}

/* Time is not traffic: a loop over a small buffer draws as many samples as one that misses, on a few pages, again and
 * again. So where a thread's accesses crowd together in a small part of all that it touches, they hit its cache; where
 * they are spread alike, nothing is known, and all count. */
static bool is_hot(struct hot *h, uint64_t page)
{
	uint16_t piece = (uint16_t)((page >> HOT_SHIFT) * 0x9e37u), oldest = h->piece[h->next];
	unsigned same = 0, as_oldest = 0;
	for (unsigned i = 0; i < h->n; i++) {
		same += h->piece[i] == piece;
		as_oldest += h->piece[i] == oldest;
	}
	if (oldest != piece || h->n < HOT_KEPT) {
		h->pieces = (uint16_t)(h->pieces + !same);
		h->pieces = (uint16_t)(h->pieces - (h->n == HOT_KEPT && as_oldest == 1));
	}
	same += oldest != piece || h->n < HOT_KEPT;
	h->piece[h->next] = piece;
	h->next = (uint16_t)((h->next + 1u) % HOT_KEPT);
	h->n = (uint16_t)(h->n + (h->n < HOT_KEPT));
	return h->n >= HOT_LEAST && same * h->pieces >= (unsigned)HOT_TIMES * h->n;
}

static int no_room(struct evidence *e)
{
	e->dropped++;
	return -ENOSPC;
}

/* The page where one thread's part ends and the next one's begins may well be of both. */
static bool is_on_border(const struct blocks *b, uint32_t first, uint32_t i, uint64_t page, unsigned thread)
{
	const struct evidence_chunk *c = &b->chunk[i];
	if (page == c->page + c->pages - 1 && c->next && users_is_main(&b->chunk[c->next], thread)) return true;
	for (uint32_t k = first; page == c->page && k != i; k = b->chunk[k].next)
		if (b->chunk[k].next == i) return users_is_main(&b->chunk[k], thread);
	return false;
}

static bool is_dense(const struct evidence *e)
{
	return e->seen.n < DENSE_UNTIL || e->seen.n >= DENSE * e->blocks.n;
}

int evidence_add(struct evidence *e, unsigned thread, uint64_t addr, float weight_ns)
{
	if (thread >= e->max_threads || addr >> EVIDENCE_ADDRESS_BITS) return -EINVAL;
	uint64_t page = addr >> EVIDENCE_PAGE_SHIFT;
	uint32_t first = blocks_make(&e->blocks, page);
	if (!first) return no_room(e);
	uint32_t i = blocks_chunk(&e->blocks, first, page);
	bool hot = is_hot(&e->hot[thread], page), cached = was_recent(e, thread, addr >> LINE_SHIFT);
	unsigned share = hot || cached ? CACHED_SHARE : 1;
	unsigned ticks = ticks_of(e, thread, weight_ns / (float)share), most = SAMPLE_TICKS / share;
	if (!ticks) return (int)i;
	struct evidence_chunk *c = &e->blocks.chunk[i], *block = &e->blocks.chunk[first];
	bool gap = block->next && !block->told && !c->n_users;  /* whose it is, evidence_learn decides: not the first comer's */
	if (gap) users_add_ticks(&c->recent, ticks);
	else users_add(c, thread, ticks, most);
	seen_add(&e->seen, thread, page, ticks < most ? ticks : most, (unsigned)e->halvings);
	bool other = !gap && !users_is_main(c, thread) && !is_on_border(&e->blocks, first, i, page, thread);
	if (!is_dense(e)) block->whole = true;
	if (!block->told && !block->unclear && (gap || other || (!block->whole && !block->next))) {
		block->unclear = true;
		e->unclear++;
	}
	return (int)i;
}

/* Pages from..to (not included), which are of one block, each with `page_ns`. */
static int add_pages(struct evidence *e, unsigned thread, uint64_t from, uint64_t to, float page_ns)
{
	uint32_t first = blocks_make(&e->blocks, from);
	if (!first) return no_room(e);
	e->blocks.chunk[first].told = true;
	int64_t begin = blocks_cut(&e->blocks, first, from), end = begin < 0 ? begin : blocks_cut(&e->blocks, first, to);
	if (end < 0) return no_room(e);
	for (uint32_t i = (uint32_t)begin; i && i != (uint32_t)end; i = e->blocks.chunk[i].next) {
		unsigned ticks = ticks_of(e, thread, page_ns * (float)e->blocks.chunk[i].pages);
		if (ticks) users_add(&e->blocks.chunk[i], thread, ticks, RANGE_TICKS);
	}
	return 0;
}

int evidence_add_range(struct evidence *e, unsigned thread, uint64_t addr, uint64_t bytes, float weight_ns)
{
	if (thread >= e->max_threads || !bytes || bytes > 1ull << EVIDENCE_ADDRESS_BITS || (addr + bytes - 1) >> EVIDENCE_ADDRESS_BITS) return -EINVAL;
	uint64_t from = addr >> EVIDENCE_PAGE_SHIFT, to = ((addr + bytes - 1) >> EVIDENCE_PAGE_SHIFT) + 1;
	float page_ns = weight_ns / (float)(to - from);
	int ret = 0;
	for (uint64_t p = from, next; p < to; p = next) {
		next = ((p >> EVIDENCE_BLOCK_SHIFT) + 1) << EVIDENCE_BLOCK_SHIFT;
		int r = add_pages(e, thread, p, next < to ? next : to, page_ns);
		if (r) ret = r;
	}
	return ret;
}

/* ---- time ----------------------------------------------------------------------------------------------- */

/* Two that lie side by side, with the same only user or without any, need not be two. */
static bool are_alike(const struct evidence_chunk *a, const struct evidence_chunk *b)
{
	if (a->n_users != b->n_users || a->n_users > 1) return false;
	return !a->n_users || a->user[0].thread == b->user[0].thread;
}

static void age_block(struct blocks *b, uint32_t first, bool forget)
{
	for (uint32_t i = first; i; i = b->chunk[i].next) {
		b->chunk[i].recent /= 2;
		if (forget) users_halve(&b->chunk[i]);
	}
	for (uint32_t i = first; i;) {
		uint32_t next = b->chunk[i].next;
		if (next && are_alike(&b->chunk[i], &b->chunk[next])) blocks_join(b, i);
		else i = next;
	}
}

static bool is_empty(const struct blocks *b, uint32_t first)
{
	const struct evidence_chunk *c = &b->chunk[first];
	return !c->next && !c->n_users && !c->others && !c->recent;
}

void evidence_age(struct evidence *e, uint64_t ns, uint64_t seen_ns, uint64_t half_life_ns)
{
	e->window_ns += (double)seen_ns;
	e->since_halved_ns += ns;
	if (e->since_halved_ns < half_life_ns) return;
	e->since_halved_ns = 0;
	e->window_ns /= 2;
	bool forget = ++e->halvings % FORGET_HALF_LIVES == 0;
	for (uint32_t k = 0; k < e->blocks.n; k++) {
		age_block(&e->blocks, e->blocks.order[k], forget);
		if (forget) e->blocks.chunk[e->blocks.order[k]].told = false;  /* what the program still says, it says anew */
	}
	blocks_sweep(&e->blocks, is_empty);
}

/* ---- threads, and what is asked ------------------------------------------------------------------------- */

void evidence_forget_thread(struct evidence *e, unsigned thread)
{
	for (uint32_t i = 1; i < e->blocks.n_chunks; i++) {
		struct evidence_chunk *c = &e->blocks.chunk[i];
		for (unsigned u = c->n_users; u-- > 0;)
			if (c->user[u].thread == thread) users_drop(c, u);
	}
	if (thread >= e->max_threads) return;
	seen_forget(&e->seen, thread);
	memset(e->recent[thread], 0, sizeof e->recent[thread]);
	memset(&e->hot[thread], 0, sizeof e->hot[thread]);
	e->carry[thread] = 0;
}

/* Several seem to share it: do they, or was too little seen yet to tell them apart? */
static bool is_mixed(const struct evidence_chunk *c)
{
	unsigned most = 0, second = 0;
	for (unsigned u = 0; u < c->n_users; u++) {
		unsigned w = c->user[u].weight;
		second = w > most ? most : w > second ? w : second;
		if (w > most) most = w;
	}
	return second * SHARED_PART >= most && second < SHARED_TICKS;
}

bool evidence_is_clear(const struct evidence_chunk *c)
{
	bool cut = c->next || c->page % EVIDENCE_BLOCK_PAGES;
	return c->told || ((cut || c->whole) && !is_mixed(c));
}

double evidence_window_ns(const struct evidence *e)
{
	return e->window_ns;
}

uint64_t evidence_dropped(const struct evidence *e)
{
	return e->dropped;
}

struct evidence_chunk *evidence_chunk(struct evidence *e, unsigned index)
{
	return &e->blocks.chunk[index];
}

unsigned evidence_count(const struct evidence *e)
{
	return e->blocks.n_chunks;
}

int evidence_walk(struct evidence *e, evidence_visit *visit, void *arg)
{
	int visited = 0;
	blocks_sort(&e->blocks);
	for (uint32_t k = 0; k < e->blocks.n; k++)
		for (uint32_t i = e->blocks.order[k]; i; i = e->blocks.chunk[i].next) {
			if (!e->blocks.chunk[i].n_users) continue;
			visit(arg, i, &e->blocks.chunk[i]);
			visited++;
		}
	return visited;
}
