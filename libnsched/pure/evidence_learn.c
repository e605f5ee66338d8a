/* evidence_learn: the blocks in which more than one thread was seen are cut anew, by what was seen last.
 *
 * Where one segment of accesses ends and the next begins, something between the two is the border. A border
 * that is there already stays, if nothing contradicts it: so it does not move with each new look, and comes
 * nearer to the true one with every access on its wrong side. A gap that is wider than chance makes it
 * belongs to nobody until somebody is seen there. */
#include "pure/evidence_inside.h"
#include "pure/evidence_users.h"
#include "pure/pure.h"

enum {
	LEARN_LEAST = 8,         /* accesses that a block must have shown: fewer tell two threads apart by chance */
	LEARN_HALF_LIVES = 4,    /* older accesses are history */
	GAP_SPACINGS = 4,        /* a gap of more than so many mean distances between accesses is none that chance made: 1 in 50 */
};

/* Pages from..to (not included) of a block, relative to it. */
struct extent {
	unsigned from, to;
};

/* ---- gathering ---------------------------------------------------------------------------------------- */

/* An access in one word, the number of its block on top, then the page: what is sorted stays small enough for
 * the nearest cache. Ticks are kept to a half. */
enum { PACK_TICKS = 3, PACK_THREAD = 12, PACK_PAGE = EVIDENCE_BLOCK_SHIFT };
_Static_assert(1 << PACK_THREAD == EVIDENCE_THREADS, "a thread's number has to fit");
_Static_assert((uint64_t)LEARN_BLOCKS << (PACK_TICKS + PACK_THREAD + PACK_PAGE) <= UINT32_MAX + 1ull, "a block's number has to fit");

static uint32_t pack(unsigned block, unsigned page, unsigned thread, unsigned ticks)
{
	unsigned half = ticks / 2 < 1u << PACK_TICKS ? ticks / 2 : (1u << PACK_TICKS) - 1;
	return ((block << PACK_PAGE | page) << PACK_THREAD | thread) << PACK_TICKS | half;
}

static unsigned packed_block(uint32_t word)
{
	return word >> (PACK_PAGE + PACK_THREAD + PACK_TICKS);
}

static struct seen unpack(uint32_t word)
{
	unsigned half = word & ((1u << PACK_TICKS) - 1);
	return (struct seen){ .page = word >> (PACK_THREAD + PACK_TICKS) & (EVIDENCE_BLOCK_PAGES - 1),
	                      .thread = word >> PACK_TICKS & (EVIDENCE_THREADS - 1), .ticks = (uint16_t)(half ? 2 * half : 1) };
}

static void sort_by_byte(const uint32_t *from, uint32_t *to, unsigned n, unsigned shift)
{
	unsigned at[256] = { 0 }, sum = 0;
	for (unsigned i = 0; i < n; i++) at[from[i] >> shift & 255]++;
	for (unsigned k = 0; k < 256; k++) {
		unsigned here = at[k];
		at[k] = sum;
		sum += here;
	}
	for (unsigned i = 0; i < n; i++) to[at[from[i] >> shift & 255]++] = from[i];
}

/* By radix, from the lowest byte: some thousand words are sorted in each step, in a tenth of the time that qsort takes. */
static void sort(uint32_t *word, uint32_t *room, unsigned n)
{
	sort_by_byte(word, room, n, 0);
	sort_by_byte(room, word, n, 8);
	sort_by_byte(word, room, n, 16);
	sort_by_byte(room, word, n, 24);
}

/* The first chunks of the unclear blocks that have their turn. */
static unsigned choose_blocks(struct evidence *e, uint32_t first[LEARN_BLOCKS])
{
	unsigned n = 0;
	uint32_t k = 0;
	for (; k < e->blocks.n && n < LEARN_BLOCKS; k++) {
		uint32_t i = e->blocks.order[(e->next_block + k) % e->blocks.n];
		if (e->blocks.chunk[i].unclear) first[n++] = i;
	}
	if (e->blocks.n) e->next_block = (e->next_block + k) % e->blocks.n;
	return n;
}

static unsigned number_of(const uint32_t *first, unsigned blocks, uint32_t i)
{
	unsigned k = 0;
	while (k < blocks && first[k] != i) k++;
	return k;
}

/* The newest accesses to these blocks, sorted. */
static unsigned gather(struct evidence *e, const uint32_t *first, unsigned blocks)
{
	const struct seen_access *a;
	unsigned n = 0;
	for (uint32_t back = 0; n < LEARN_MOST && (a = seen_at(&e->seen, back)); back++) {
		if ((uint16_t)(e->halvings - a->when) > LEARN_HALF_LIVES) break;
		if (a->thread == EVIDENCE_NO_THREAD) continue;
		uint64_t page = seen_page(a);
		uint32_t i = blocks_find(&e->blocks, page);
		unsigned block = i && e->blocks.chunk[i].unclear ? number_of(first, blocks, i) : blocks;
		if (block < blocks) e->learn[n++] = pack(block, page % EVIDENCE_BLOCK_PAGES, a->thread, a->ticks);
	}
	sort(e->learn, e->learn_room, n);
	return n;
}

/* ---- borders ------------------------------------------------------------------------------------------ */

/* Mean distance in pages between the accesses of a segment, at least one. */
static unsigned spacing(const struct seen *seen, const struct segment *s)
{
	unsigned n = s->end - s->first, pages = (unsigned)(seen[s->end - 1].page - seen[s->first].page);
	return n > 1 && pages / (n - 1) > 1 ? pages / (n - 1) : 1;
}

/* The first page above `low` and not above `high` where a chunk of the block begins; 0: none. */
static unsigned border_between(const struct evidence *e, uint32_t first, unsigned low, unsigned high)
{
	uint64_t block = e->blocks.chunk[first].page;
	for (uint32_t i = e->blocks.chunk[first].next; i; i = e->blocks.chunk[i].next) {
		unsigned at = (unsigned)(e->blocks.chunk[i].page - block);
		if (at > low && at <= high) return at;
	}
	return 0;
}

/* Between the last page of one segment and the first of the next. */
static void settle_border(const struct evidence *e, uint32_t first, struct extent *before, struct extent *after, unsigned low_spacing, unsigned high_spacing)
{
	unsigned low = before->to - 1, high = after->from, wide = low_spacing > high_spacing ? low_spacing : high_spacing;
	unsigned there = border_between(e, first, low, high);
	if (there) {
		before->to = after->from = there;
	} else if (high - low <= GAP_SPACINGS * wide) {
		before->to = after->from = low + (high - low + 1) / 2;
	} else {
		before->to += low_spacing;
		after->from -= high_spacing;
	}
}

/* What each segment covers: the pages seen, and what lies between. */
static void find_extents(const struct evidence *e, uint32_t first, const struct seen *seen, const struct segment *s, unsigned n, struct extent *x)
{
	unsigned space = spacing(seen, &s[0]), last_space = spacing(seen, &s[n - 1]);
	for (unsigned k = 0; k < n; k++) x[k] = (struct extent){ seen[s[k].first].page, seen[s[k].end - 1].page + 1u };
	for (unsigned k = 0; k + 1 < n; k++) settle_border(e, first, &x[k], &x[k + 1], spacing(seen, &s[k]), spacing(seen, &s[k + 1]));
	x[0].from = x[0].from <= GAP_SPACINGS * space ? 0 : x[0].from - space;
	unsigned rest = EVIDENCE_BLOCK_PAGES - x[n - 1].to;
	x[n - 1].to = rest <= GAP_SPACINGS * last_space ? EVIDENCE_BLOCK_PAGES : x[n - 1].to + last_space;
}

/* ---- cutting ------------------------------------------------------------------------------------------ */

/* The pages become one chunk, whose users are those of the segment. Without room, what was stays. */
static void paint(struct evidence *e, uint32_t first, const struct extent *x, const struct seen *seen, const struct segment *s)
{
	struct blocks *b = &e->blocks;
	uint64_t block = b->chunk[first].page;
	int64_t at = blocks_cut(b, first, block + x->from), end = at < 0 ? at : blocks_cut(b, first, block + x->to);
	if (at <= 0 || end < 0) return;
	while (b->chunk[at].next && b->chunk[at].next != (uint32_t)end) blocks_join(b, (uint32_t)at);
	struct evidence_chunk *c = &b->chunk[at];
	uint16_t recent = c->recent;
	users_clear(c);
	for (uint32_t i = s->first; i < s->end; i++) users_add(c, seen[i].thread, seen[i].ticks, seen[i].ticks);
	c->recent = recent;
}

/* Chunks in no extent that several were thought to use: nobody was seen there. */
static void clear_gaps(struct evidence *e, uint32_t first, const struct extent *x, unsigned n)
{
	uint64_t block = e->blocks.chunk[first].page;
	for (uint32_t i = first; i; i = e->blocks.chunk[i].next) {
		struct evidence_chunk *c = &e->blocks.chunk[i];
		bool covered = false;
		for (unsigned k = 0; k < n; k++) covered |= c->page - block >= x[k].from && c->page - block < x[k].to;
		if (!covered && c->n_users > 1) users_clear(c);
	}
}

/* A block that one thread was seen all over is whole. */
static void learn_block(struct evidence *e, uint32_t first, struct seen *seen, unsigned n)
{
	struct segment segment[SEGMENTS_MOST];
	struct extent extent[SEGMENTS_MOST];
	unsigned segments = segments_find(seen, n, segment);
	find_extents(e, first, seen, segment, segments, extent);
	bool whole = segments == 1 && extent[0].from == 0 && extent[0].to == EVIDENCE_BLOCK_PAGES;
	e->blocks.chunk[first].whole = whole;
	if (whole && !e->blocks.chunk[first].next) return;
	for (unsigned k = 0; k < segments; k++) paint(e, first, &extent[k], seen, &segment[k]);
	clear_gaps(e, first, extent, segments);
}

void evidence_learn(struct evidence *e)
{
	uint32_t first[LEARN_BLOCKS];
	if (!e->unclear) return;
	unsigned blocks = choose_blocks(e, first), n = gather(e, first, blocks);
	for (unsigned from = 0, to; from < n; from = to) {
		unsigned block = packed_block(e->learn[from]);
		for (to = from; to < n && packed_block(e->learn[to]) == block; to++) e->block_seen[to - from] = unpack(e->learn[to]);
		if (to - from >= LEARN_LEAST) learn_block(e, first[block], e->block_seen, to - from);
	}
	for (unsigned k = 0; k < blocks; k++) e->blocks.chunk[first[k]].unclear = false;
	e->unclear = blocks == LEARN_BLOCKS ? 1 : 0;   /* perhaps there are more */
}
