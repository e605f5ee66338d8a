#include <errno.h>
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

static unsigned node_os(const struct session *s, int node)
{
	return node < 0 ? UINT16_MAX : s->machine.node[node].os;
}

static void record(struct session *s, const struct move *move, unsigned moved, unsigned failed)
{
	struct history_move h = { .time_ns = s->last_ns - s->start_ns, .move = *move, .moved = moved, .failed = failed };
	h.move.from = (int16_t)node_os(s, move->from);
	h.move.to = (int16_t)node_os(s, move->to);
	float gain = move->gain_ns_per_s * (float)situation_horizon_ns(&s->situation) / 1e9f;
	h.gain_ns = gain > 0 ? (uint64_t)gain : 0;
	if (move->kind == MOVE_THREAD) h.move.thread = (uint32_t)registry_at(s->registry, move->thread)->tid;
	else ranges_name(s->ranges, move->page << EVIDENCE_PAGE_SHIFT, h.name);
	history_add_move(&s->history, &h);
	if (!s->config.verbose) return;
	if (move->kind == MOVE_THREAD)
		log_line("thread %u: node %d -> %d, %s", h.move.thread, h.move.from, h.move.to, move->reason);
	else
		log_line("%u of %u pages at %#llx%s%s: node %d -> %d, %s", moved, move->pages,
		         (unsigned long long)move->page << EVIDENCE_PAGE_SHIFT, h.name[0] ? " of " : "", h.name, h.move.from, h.move.to,
		         move->reason);
}

/* Registered threads bind themselves at their next region; all are bound from here, too, so that those
 * inside a long region need not wait for it. */
static int apply_thread(struct session *s, const struct move *move)
{
	struct nsched_thread *t = registry_at(s->registry, move->thread);
	bool hold = move->from == move->to;
	atomic_store(&t->wanted, move->to);
	int ret = session_bound(s, t, binding_apply(&s->binding, t));
	if (ret == -ESRCH) {
		registry_leave(t);
		t->seen.state = THREAD_GONE;
	}
	if (ret <= 0) {
		if (ret < 0) s->totals.failed_moves++;
		if (t->seen.fixed) atomic_store(&t->wanted, REGISTRY_NO_NODE);
		return 0;
	}
	t->node = move->to;
	if (hold) return 0;
	t->moved_ms = session_now_ms(s);
	s->totals.thread_moves++;
	session_count_move(s, move);
	record(s, move, 1, 0);
	return 1;
}

struct outcome {
	unsigned moved, failed, fixed;
	uint64_t ns;
};

/* The first page of a huge page is said to be busy, and has moved with the rest: look where it is. */
static void look_again(struct session *s, const uint64_t *addr, unsigned n, unsigned to_os, int *status)
{
	int now[BATCH];
	bool busy = false;
	for (unsigned i = 0; i < n; i++) busy |= status[i] == -EBUSY;
	if (!busy || s->hands->locate(s->hands_state, addr, n, now)) return;
	for (unsigned i = 0; i < n; i++)
		if (status[i] == -EBUSY && now[i] >= 0 && (unsigned)now[i] == to_os) status[i] = now[i];
}

/* Not this page, but the call as such is refused (a container's filter), again and again: it will be the next time, too.
 * Threads go on moving. */
static void note_refusal(struct session *s, int ret)
{
	bool refused = ret == -EPERM || ret == -ENOSYS;
	s->refusals = refused ? s->refusals + 1 : ret ? s->refusals : 0;
	if (s->pages_refused || s->refusals < REFUSALS) return;
	s->pages_refused = true;
	s->config.move_pages = 0;
	if (s->config.verbose) log_line("move_pages is refused here (a container's filter?): threads move, pages stay");
}

/* One batch: of these `n` pages those that are there and elsewhere, `most` of them, go to `to`. */
static void move_batch(struct session *s, uint64_t page, unsigned n, unsigned most, unsigned to_os, struct outcome *out)
{
	uint64_t addr[BATCH] = { 0 };
	int status[BATCH];
	unsigned k = 0;
	for (unsigned i = 0; i < n; i++) addr[i] = (page + i) << EVIDENCE_PAGE_SHIFT;
	if (s->hands->locate(s->hands_state, addr, n, status)) {
		out->failed += n;
		return;
	}
	for (unsigned i = 0; i < n && k < most; i++)
		if (status[i] >= 0 && (unsigned)status[i] != to_os) addr[k++] = addr[i];
	if (!k) return;
	uint64_t begin = s->clock->own_cpu_ns(s->clock_state);
	int ret = s->hands->move(s->hands_state, addr, k, to_os, status);
	out->ns += s->clock->own_cpu_ns(s->clock_state) - begin;
	note_refusal(s, ret);
	if (!ret) look_again(s, addr, k, to_os, status);
	for (unsigned i = 0; i < k; i++) {
		if (!ret && status[i] >= 0 && (unsigned)status[i] == to_os) out->moved++;
		else if (ret || status[i] != -ENOENT) out->failed++;
		if (!ret && (status[i] == -EACCES || status[i] == -EBUSY || status[i] == -EFAULT)) out->fixed++;
	}
}

/* What is remembered of the chunks that a move covered. */
static void mark_chunks(struct session *s, const struct move *move, uint64_t pages, const struct outcome *out, bool policy)
{
	bool fixed = policy || (out->fixed && out->fixed * 1000 > FIXED_PERMILLE * (out->moved + out->failed));
	unsigned low = 0, high = s->n_leaves;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (s->leaf[middle].page + s->leaf[middle].pages <= move->page) low = middle + 1;
		else high = middle;
	}
	for (; low < s->n_leaves && s->leaf[low].page < move->page + pages; low++) {
		struct placement_entry *entry = placement_entry(&s->placement, s->leaf[low].index, evidence_chunk(s->evidence, s->leaf[low].index));
		if (!entry) continue;
		entry->flags = (uint8_t)(entry->flags & ~PLACEMENT_KNOWN);  /* looked at again in the next step */
		if (out->moved || out->failed) entry->flags |= PLACEMENT_MOVED;
		if (fixed) entry->flags |= PLACEMENT_FIXED;
		entry->moved = placement_time(session_now_ms(s));
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

static int apply_pages(struct session *s, const struct move *move)
{
	struct outcome out = { 0 };
	uint32_t range = range_of(move), done = 0;
	if (s->pages_refused) return 0;   /* the rest of the plan that it was found out with */
	split_ends(s, move);
	bool policy = false;
	for (; !policy && !s->pages_refused && done < range && out.moved + out.failed < move->pages; done += BATCH) {
		uint64_t page = move->page + done;
		policy = s->hands->has_policy(s->hands_state, page << EVIDENCE_PAGE_SHIFT) == 1;
		if (!policy)
			move_batch(s, page, range - done < BATCH ? range - done : BATCH, move->pages - out.moved - out.failed,
			           node_os(s, move->to), &out);
	}
	if (out.moved >= LEARN_PAGES)
		s->page_move_ns += LEARN_RATE * ((float)out.ns / (float)out.moved - s->page_move_ns);
	s->totals.moved_pages += out.moved;
	s->totals.failed_moves += out.failed;
	mark_chunks(s, move, done < range ? done : range, &out, policy);
	if (!out.moved && !out.failed) return 0;
	record(s, move, out.moved, out.failed);
	if (out.moved) session_count_move(s, move);
	return out.moved > 0;
}

int session_apply(struct session *s)
{
	int moves = 0;
	uint64_t begin = s->clock->now_ns(s->clock_state);
	for (unsigned i = 0; i < s->plan.n && s->clock->now_ns(s->clock_state) - begin < APPLY_NS; i++)
		moves += s->plan.move[i].kind == MOVE_THREAD ? apply_thread(s, &s->plan.move[i]) : apply_pages(s, &s->plan.move[i]);
	return moves;
}
