#include "pure/evidence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pure/evidence_users.h"
#include "pure/pure.h"

enum {
	SAMPLE_TICKS = 16,       /* what one sample says at the most of who uses a chunk: a sample at 250 Hz */
	CACHED_SHARE = 8,        /* an access to a line that the thread touched a moment ago counts for one in so many */
	RANGE_TICKS = 160,       /* what one look at a range that the program spoke of says of it */
	FORGET_HALF_LIVES = 16,  /* who used a chunk is halved, too, once in so many half-lives: half a minute by default */
	RECENT_LINES = 128,      /* lines of a thread that are taken to be in its cache */
	LINE_SHIFT = 6,
	PAIR_SHIFT = EVIDENCE_TOP_ORDER + 1, /* two unsplit chunks side by side are made and freed together */
};

struct evidence {
	struct evidence_chunk *chunk;  /* pairs from index 2 on; 0 means none */
	uint32_t n_chunks, room, most;
	uint32_t free_pair;            /* list through .child of the pair's first; 0: empty */
	uint32_t *hash, hash_size;     /* page >> PAIR_SHIFT -> index of the pair */
	uint32_t *order;               /* pairs by address, for the walk */
	uint32_t n_pairs;
	bool order_stale;
	uint32_t (*recent)[RECENT_LINES];
	unsigned max_threads;
	double window_ns;
	uint64_t since_halved_ns, dropped, halvings;
	float *carry;                  /* per thread: weight too small for a tick yet */
};

/* ---- pairs of chunks ---------------------------------------------------------------------------- */

static uint32_t hash_slot(const struct evidence *e, uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 40) & (e->hash_size - 1);
}

static void hash_put(struct evidence *e, uint32_t index)
{
	uint32_t s = hash_slot(e, e->chunk[index].page >> PAIR_SHIFT);
	while (e->hash[s]) s = (s + 1) & (e->hash_size - 1);
	e->hash[s] = index;
}

static void hash_rebuild(struct evidence *e)
{
	memset(e->hash, 0, e->hash_size * sizeof *e->hash);
	for (uint32_t i = 0; i < e->n_pairs; i++) hash_put(e, e->order[i]);
}

static int grow_chunks(struct evidence *e)
{
	uint32_t room = e->room ? e->room * 2 : 256;
	if (room > e->most) room = e->most;
	if (room < e->n_chunks + 2) return -ENOSPC;
	struct evidence_chunk *c = realloc(e->chunk, room * sizeof *c);
	if (!c) return -ENOSPC;
	e->chunk = c;
	e->room = room;
	return 0;
}

static uint32_t new_pair(struct evidence *e, uint64_t page, unsigned order)
{
	uint32_t i = e->free_pair;
	if (i) {
		e->free_pair = e->chunk[i].child;
	} else {
		if (e->n_chunks + 2 > e->room && grow_chunks(e)) return 0;
		i = e->n_chunks;
		e->n_chunks += 2;
	}
	memset(&e->chunk[i], 0, 2 * sizeof e->chunk[i]);
	for (unsigned k = 0; k < 2; k++) {
		e->chunk[i + k].page = page + ((uint64_t)k << order);
		e->chunk[i + k].order = (uint8_t)order;
	}
	return i;
}

static void free_pair(struct evidence *e, uint32_t i)
{
	e->chunk[i].order = e->chunk[i + 1].order = EVIDENCE_FREE;
	e->chunk[i].n_users = e->chunk[i + 1].n_users = 0;
	e->chunk[i].child = e->free_pair;
	e->free_pair = i;
}

static int grow_hash(struct evidence *e)
{
	uint32_t size = e->hash_size ? e->hash_size * 2 : 256;
	uint32_t *hash = calloc(size, sizeof *hash), *order = realloc(e->order, size / 2 * sizeof *order);
	if (order) e->order = order;
	if (!hash || !order) {
		free(hash);
		return -ENOSPC;
	}
	free(e->hash);
	e->hash = hash;
	e->hash_size = size;
	hash_rebuild(e);
	return 0;
}

/* The unsplit 2 MiB chunk at `page`, made if it is not there. */
static uint32_t top_chunk(struct evidence *e, uint64_t page)
{
	uint64_t key = page >> PAIR_SHIFT;
	uint32_t side = (page >> EVIDENCE_TOP_ORDER) & 1;
	for (uint32_t s = hash_slot(e, key); e->hash[s]; s = (s + 1) & (e->hash_size - 1))
		if (e->chunk[e->hash[s]].page >> PAIR_SHIFT == key) return e->hash[s] + side;
	if ((e->n_pairs + 1) * 2 > e->hash_size && grow_hash(e)) return 0;
	uint32_t i = new_pair(e, key << PAIR_SHIFT, EVIDENCE_TOP_ORDER);
	if (!i) return 0;
	e->order[e->n_pairs++] = i;
	e->order_stale = true;
	hash_put(e, i);
	return i + side;
}

/* The leaf that holds `page`. */
static uint32_t find_leaf(struct evidence *e, uint64_t page)
{
	uint32_t i = top_chunk(e, page);
	while (i && e->chunk[i].child) {
		const struct evidence_chunk *c = &e->chunk[i];
		i = c->child + ((page >> (c->order - 1)) & 1);
	}
	return i;
}

/* ---- halving and joining -------------------------------------------------------------------------- */

static bool split(struct evidence *e, uint32_t index)
{
	struct evidence_chunk c = e->chunk[index];
	uint32_t pair = new_pair(e, c.page, c.order - 1u);   /* may move e->chunk */
	if (!pair) return false;
	struct evidence_chunk *half = &e->chunk[pair];
	users_hand_down(&c, half);
	half[0].others = half[1].others = c.others / 2;
	half[0].recent = half[1].recent = c.recent / 2;
	e->chunk[index].child = pair;
	e->chunk[index].n_users = 0;
	e->chunk[index].others = e->chunk[index].recent = 0;
	return true;
}

/* Two halves with the same only user, or without any, need not be two. */
static void join(struct evidence *e, uint32_t index)
{
	struct evidence_chunk *c = &e->chunk[index], *half = &e->chunk[c->child];
	if (half[0].child || half[1].child || half[0].n_users > 1 || half[1].n_users > 1) return;
	if (half[0].n_users && half[1].n_users && half[0].user[0].thread != half[1].user[0].thread) return;
	c->n_users = half[0].n_users || half[1].n_users;
	if (c->n_users) {
		c->user[0] = half[half[0].n_users ? 0 : 1].user[0];
		c->user[0].weight = 0;
		for (unsigned k = 0; k < 2; k++)
			if (half[k].n_users) users_add_ticks(&c->user[0].weight, half[k].user[0].weight);
		c->user[0].mean = (uint16_t)(MEAN_UNITS << (c->order - 1));
	}
	c->others = half[0].others;
	users_add_ticks(&c->others, half[1].others);
	c->recent = half[0].recent;
	users_add_ticks(&c->recent, half[1].recent);
	free_pair(e, c->child);
	c->child = 0;
}

static void age_tree(struct evidence *e, uint32_t index, bool forget)
{
	struct evidence_chunk *c = &e->chunk[index];
	if (c->child) {
		age_tree(e, c->child, forget);
		age_tree(e, c->child + 1, forget);
		join(e, index);
		return;
	}
	c->recent /= 2;
	if (forget) users_halve(c);
}

static bool is_empty(const struct evidence_chunk *c)
{
	return !c->child && !c->n_users && !c->others && !c->recent;
}

/* ---- the public part -------------------------------------------------------------------------------- */

int evidence_init(struct evidence **evidence, unsigned max_chunks, unsigned max_threads)
{
	struct evidence *e = calloc(1, sizeof *e);
	*evidence = e;
	if (!e) return -ENOMEM;
	e->most = max_chunks < 4 ? 4 : max_chunks;
	e->n_chunks = 2;
	e->max_threads = max_threads;
	e->recent = calloc(max_threads, sizeof *e->recent);
	e->carry = calloc(max_threads, sizeof *e->carry);
	if (e->recent && e->carry && !grow_hash(e) && !grow_chunks(e)) {
		memset(e->chunk, 0, 2 * sizeof *e->chunk);
		e->chunk[0].order = e->chunk[1].order = EVIDENCE_FREE;
		return 0;
	}
	evidence_free(e);
	*evidence = NULL;
	return -ENOMEM;
}

void evidence_free(struct evidence *e)
{
	if (!e) return;
	free(e->chunk);
	free(e->hash);
	free(e->order);
	free(e->recent);
	free(e->carry);
	free(e);
}

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

int evidence_add(struct evidence *e, unsigned thread, uint64_t addr, float weight_ns)
{
	if (thread >= e->max_threads) return -EINVAL;
	uint64_t page = addr >> EVIDENCE_PAGE_SHIFT;
	uint32_t i = find_leaf(e, page);
	if (!i) {
		e->dropped++;
		return -ENOSPC;
	}
	unsigned share = was_recent(e, thread, addr >> LINE_SHIFT) ? CACHED_SHARE : 1;
	weight_ns /= (float)share;
	unsigned ticks = ticks_of(e, thread, weight_ns);
	if (!ticks) return (int)i;
	struct evidence_chunk *c = &e->chunk[i];
	unsigned mean = (unsigned)((page - c->page) * MEAN_UNITS + ((addr >> 5) & (MEAN_UNITS - 1)));
	users_add(c, thread, mean, ticks, SAMPLE_TICKS / share);
	if (users_apart(c) && split(e, i)) i = find_leaf(e, page);
	return (int)i;
}

/* Pages from..to (not included) of the range, in the tree below `index`; splits at the range's ends. */
static void add_pages(struct evidence *e, uint32_t index, unsigned thread, uint64_t from, uint64_t to, float page_ns)
{
	const struct evidence_chunk *c = &e->chunk[index];
	uint64_t first = c->page, end = first + (1ull << c->order);
	if (from >= end || to <= first) return;
	bool whole = from <= first && to >= end;
	if (!c->child && whole) {
		unsigned ticks = ticks_of(e, thread, page_ns * (float)(1u << c->order));
		if (ticks) users_add(&e->chunk[index], thread, (unsigned)MEAN_UNITS / 2 << c->order, ticks, RANGE_TICKS);
		return;
	}
	if (!c->child && !split(e, index)) {
		e->dropped++;
		return;
	}
	uint32_t child = e->chunk[index].child;
	add_pages(e, child, thread, from, to, page_ns);
	add_pages(e, child + 1, thread, from, to, page_ns);
}

int evidence_add_range(struct evidence *e, unsigned thread, uint64_t addr, uint64_t bytes, float weight_ns)
{
	if (thread >= e->max_threads || !bytes) return -EINVAL;
	uint64_t from = addr >> EVIDENCE_PAGE_SHIFT, to = ((addr + bytes - 1) >> EVIDENCE_PAGE_SHIFT) + 1;
	float page_ns = weight_ns / (float)(to - from);
	int ret = 0;
	for (uint64_t p = from; p < to; p = ((p >> EVIDENCE_TOP_ORDER) + 1) << EVIDENCE_TOP_ORDER) {
		uint32_t i = top_chunk(e, p);
		if (i) {
			add_pages(e, i, thread, from, to, page_ns);
		} else {
			e->dropped++;
			ret = -ENOSPC;
		}
	}
	return ret;
}

void evidence_age(struct evidence *e, uint64_t ns, uint64_t seen_ns, uint64_t half_life_ns)
{
	e->window_ns += (double)seen_ns;
	e->since_halved_ns += ns;
	if (e->since_halved_ns < half_life_ns) return;
	e->since_halved_ns = 0;
	e->window_ns /= 2;
	bool forget = ++e->halvings % FORGET_HALF_LIVES == 0;
	uint32_t kept = 0;
	for (uint32_t p = 0; p < e->n_pairs; p++) {
		uint32_t i = e->order[p];
		age_tree(e, i, forget);
		age_tree(e, i + 1, forget);
		if (is_empty(&e->chunk[i]) && is_empty(&e->chunk[i + 1])) free_pair(e, i);
		else e->order[kept++] = i;
	}
	e->n_pairs = kept;
	hash_rebuild(e);
}

void evidence_forget_thread(struct evidence *e, unsigned thread)
{
	for (uint32_t i = 2; i < e->n_chunks; i++) {
		struct evidence_chunk *c = &e->chunk[i];
		if (c->order == EVIDENCE_FREE) continue;
		for (unsigned u = c->n_users; u-- > 0;)
			if (c->user[u].thread == thread) users_drop(c, u);
	}
	if (thread >= e->max_threads) return;
	memset(e->recent[thread], 0, sizeof e->recent[thread]);
	e->carry[thread] = 0;
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
	return &e->chunk[index];
}

unsigned evidence_count(const struct evidence *e)
{
	return e->n_chunks;
}

static int visit_tree(struct evidence *e, uint32_t index, evidence_visit *visit, void *arg)
{
	uint32_t child = e->chunk[index].child;
	if (child) return visit_tree(e, child, visit, arg) + visit_tree(e, child + 1, visit, arg);
	if (!e->chunk[index].n_users) return 0;
	visit(arg, index, &e->chunk[index]);
	return 1;
}

static int by_page(const void *a, const void *b, void *chunks)
{
	const struct evidence_chunk *c = chunks;
	uint64_t p = c[*(const uint32_t *)a].page, q = c[*(const uint32_t *)b].page;
	return (p > q) - (p < q);
}

int evidence_walk(struct evidence *e, evidence_visit *visit, void *arg)
{
	int leaves = 0;
	if (e->order_stale) qsort_r(e->order, e->n_pairs, sizeof *e->order, by_page, e->chunk);
	e->order_stale = false;
	for (uint32_t p = 0; p < e->n_pairs; p++)
		leaves += visit_tree(e, e->order[p], visit, arg) + visit_tree(e, e->order[p] + 1, visit, arg);
	return leaves;
}
