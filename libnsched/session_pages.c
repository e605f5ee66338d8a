/* The pages of a plan, moved many in a call, whatever nodes they go to: each call of move_pages first has every CPU of the
 * machine give back the pages that it keeps for itself, and waits for that. */
#include <errno.h>
#include <limits.h>

#include "log.h"
#include "session.h"

enum {
	BATCH = 512,              /* pages asked for and moved at a time: a huge page */
	APPLY_NS = 400000000,     /* a step moves for so long at the most: then what was seen is old, and the rest is planned anew */
	REFUSALS = 3,             /* of the call as such, in a row: then it is not tried any more */
	LEARN_PAGES = 16,         /* pages that a batch has to move before its time says something */
	FIXED_PERMILLE = 500,     /* a chunk of which more than this refuses for good is left alone from then on */
};
#define LEARN_RATE 0.25f      /* weight of a new measurement of the price of a page */

/* What became of a move, of which pages are still in the batch. */
struct outcome {
	const struct move *move;
	uint32_t chosen;          /* pages taken into a batch, or that could not be looked at */
	uint32_t done;            /* pages of its range looked at */
	unsigned moved, failed, fixed;
	bool policy;              /* the memory has one of its own: left alone */
};

/* Pages on their way. The last of `open` may still get more; those before it are complete once these have moved. */
struct batch {
	uint64_t addr[BATCH];
	int to[BATCH], status[BATCH];
	uint16_t of[BATCH];       /* whose it is, in `open` */
	unsigned n;
	struct outcome open[BATCH + 1];
	unsigned n_open;
};

/* The first page of a huge page is said to be busy, and has moved with the rest: look where it is. */
static void look_again(struct session *s, struct batch *b)
{
	int now[BATCH];
	bool busy = false;
	for (unsigned i = 0; i < b->n; i++) busy |= b->status[i] == -EBUSY;
	if (!busy || s->hands->locate(s->hands_state, b->addr, b->n, now)) return;
	for (unsigned i = 0; i < b->n; i++)
		if (b->status[i] == -EBUSY && now[i] == b->to[i]) b->status[i] = now[i];
}

static bool is_refusal(int ret)
{
	return ret == -EPERM || ret == -ENOSYS;
}

/* Not this page, but the call as such is refused (a container's filter), again and again: it will be the next time, too.
 * Threads go on moving. */
static void note_refusal(struct session *s, int ret)
{
	s->refusals = is_refusal(ret) ? s->refusals + 1 : ret ? s->refusals : 0;
	if (s->pages_refused || s->refusals < REFUSALS) return;
	s->pages_refused = true;
	s->config.move_pages = 0;
	if (s->config.verbose) log_line("move_pages is refused here (a container's filter?): threads move, pages stay");
}

static int move_some(struct session *s, struct batch *b, unsigned first, unsigned n)
{
	int ret = s->hands->move(s->hands_state, b->addr + first, n, b->to + first, b->status + first);
	note_refusal(s, ret);
	for (unsigned i = first; ret && i < first + n; i++) b->status[i] = -EAGAIN;   /* it says nothing of the pages */
	return ret;
}

static unsigned of_one_node(const struct batch *b, unsigned first)
{
	unsigned n = 1;
	while (first + n < b->n && b->to[first + n] == b->to[first]) n++;
	return n;
}

/* By the node that they go to, else as they were: the kernel moves a run of pages to one node together, and has all CPUs forget
 * what they know of them (a TLB flush) after each run. */
static void sort_by_node(struct batch *b)
{
	struct { uint64_t addr[BATCH]; int to[BATCH]; uint16_t of[BATCH]; } was;
	int last = -1;
	for (unsigned i = 0; i < b->n; i++) was.addr[i] = b->addr[i], was.to[i] = b->to[i], was.of[i] = b->of[i];
	for (unsigned put = 0; put < b->n;) {
		int node = INT_MAX;
		for (unsigned i = 0; i < b->n; i++) if (was.to[i] > last && was.to[i] < node) node = was.to[i];
		for (unsigned i = 0; i < b->n; i++) {
			if (was.to[i] != node) continue;
			b->addr[put] = was.addr[i];
			b->to[put] = node;
			b->of[put++] = was.of[i];
		}
		last = node;
	}
}

/* One node that is not allowed any more fails the whole call: then node by node. */
static void move_all(struct session *s, struct batch *b)
{
	int ret = move_some(s, b, 0, b->n);
	if (!ret || is_refusal(ret) || of_one_node(b, 0) == b->n) return;
	for (unsigned first = 0, n; first < b->n; first += n) {
		n = of_one_node(b, first);
		move_some(s, b, first, n);
	}
}

/* What is remembered of the chunks that a move covered. */
static void mark_chunks(struct session *s, const struct outcome *out)
{
	const struct move *move = out->move;
	bool fixed = out->policy || (out->fixed && out->fixed * 1000 > FIXED_PERMILLE * (out->moved + out->failed));
	unsigned low = 0, high = s->n_leaves;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (s->leaf[middle].page + s->leaf[middle].pages <= move->page) low = middle + 1;
		else high = middle;
	}
	for (; low < s->n_leaves && s->leaf[low].page < move->page + out->done; low++) {
		struct placement_entry *entry = placement_entry(&s->placement, s->leaf[low].index, evidence_chunk(s->evidence, s->leaf[low].index));
		if (!entry) continue;
		entry->flags = (uint8_t)(entry->flags & ~PLACEMENT_KNOWN);  /* looked at again in the next step */
		if (out->moved || out->failed) entry->flags |= PLACEMENT_MOVED;
		if (fixed) entry->flags |= PLACEMENT_FIXED;
		entry->moved = placement_time(session_now_ms(s));
	}
}

/* 1: pages have moved */
static int finish(struct session *s, const struct outcome *out)
{
	s->totals.moved_pages += out->moved;
	s->totals.failed_moves += out->failed;
	mark_chunks(s, out);
	if (!out->moved && !out->failed) return 0;
	session_record(s, out->move, out->moved, out->failed);
	if (out->moved) session_count_move(s, out->move);
	if (out->moved) session_on_trial(s, out->move, out->moved);
	return out->moved > 0;
}

static void count(struct batch *b, unsigned i)
{
	struct outcome *out = &b->open[b->of[i]];
	int status = b->status[i];
	if (status == b->to[i]) out->moved++;
	else if (status != -ENOENT) out->failed++;
	if (status == -EACCES || status == -EPERM || status == -EBUSY || status == -EFAULT) out->fixed++;
}

/* Moves what is in the batch. All moves but the last, and that too at the `end`, are complete then: how many have moved pages. */
static int flush(struct session *s, struct batch *b, bool end)
{
	unsigned complete = b->n_open - (b->n_open && !end), moved = 0;
	int moves = 0;
	if (b->n && !s->pages_refused) {
		sort_by_node(b);
		uint64_t begin = s->clock->own_cpu_ns(s->clock_state);
		move_all(s, b);
		uint64_t ns = s->clock->own_cpu_ns(s->clock_state) - begin;
		look_again(s, b);
		for (unsigned i = 0; i < b->n; i++) {
			count(b, i);
			moved += b->status[i] == b->to[i];
		}
		if (moved >= LEARN_PAGES) s->page_move_ns += LEARN_RATE * ((float)ns / (float)moved - s->page_move_ns);
	}
	for (unsigned i = 0; i < complete; i++) moves += finish(s, &b->open[i]);
	if (complete < b->n_open) b->open[0] = b->open[complete];
	b->n_open -= complete;
	b->n = 0;
	return moves;
}

/* Takes in the next pages of the move that is being looked at: those that are there and elsewhere. */
static void choose(struct session *s, struct batch *b, uint32_t range)
{
	struct outcome *out = &b->open[b->n_open - 1];
	uint64_t page = out->move->page + out->done, addr[BATCH];
	unsigned n = range - out->done < BATCH ? range - out->done : BATCH, to = s->machine.node[out->move->to].os;
	int at[BATCH];
	if (n > BATCH - b->n) n = BATCH - b->n;
	out->done += n;
	out->policy = s->hands->has_policy(s->hands_state, page << EVIDENCE_PAGE_SHIFT) == 1;
	if (out->policy) return;
	for (unsigned i = 0; i < n; i++) addr[i] = (page + i) << EVIDENCE_PAGE_SHIFT;
	if (s->hands->locate(s->hands_state, addr, n, at)) {
		out->failed += n;
		out->chosen += n;
		return;
	}
	for (unsigned i = 0; i < n && out->chosen < out->move->pages; i++) {
		if (at[i] < 0 || (unsigned)at[i] == to) continue;
		b->addr[b->n] = addr[i];
		b->to[b->n] = (int)to;
		b->of[b->n++] = (uint16_t)(b->n_open - 1);
		out->chosen++;
	}
}

static uint32_t range_of(const struct move *move)
{
	return move->range ? move->range : move->pages;
}

/* Where a move begins or ends inside a huge page, the rest of that page belongs to others. */
static void split_ends(struct session *s, const struct move *move)
{
	const uint64_t inside = EVIDENCE_BLOCK_PAGES - 1;
	uint64_t end = move->page + range_of(move);
	if (!s->hands->split) return;
	if (move->page & inside) s->hands->split(s->hands_state, move->page << EVIDENCE_PAGE_SHIFT);
	if (end & inside && ((end ^ move->page) & ~inside || !(move->page & inside)))
		s->hands->split(s->hands_state, (end - 1) << EVIDENCE_PAGE_SHIFT);
}

static bool is_done(const struct outcome *out)
{
	return out->policy || out->done >= range_of(out->move) || out->chosen >= out->move->pages;
}

static bool may_go_on(const struct session *s, uint64_t begin_ns)
{
	return !s->pages_refused && s->clock->now_ns(s->clock_state) - begin_ns < APPLY_NS;
}

int session_move_pages(struct session *s, const struct move *move, unsigned n)
{
	struct batch b;
	uint64_t begin = s->clock->now_ns(s->clock_state);
	int moves = 0;
	b.n = b.n_open = 0;
	for (unsigned i = 0; i < n && may_go_on(s, begin); i++) {
		if (b.n_open == BATCH + 1) moves += flush(s, &b, true);
		split_ends(s, &move[i]);
		b.open[b.n_open++] = (struct outcome){ .move = &move[i] };
		while (!is_done(&b.open[b.n_open - 1]) && may_go_on(s, begin)) {
			choose(s, &b, range_of(&move[i]));
			if (b.n == BATCH) moves += flush(s, &b, false);
		}
	}
	return moves + flush(s, &b, true);
}
