/* What a plan becomes: threads are told their nodes here, pages in session_pages.c. */
#include <errno.h>

#include "log.h"
#include "session.h"

static unsigned node_os(const struct session *s, int node)
{
	return node < 0 ? UINT16_MAX : s->machine.node[node].os;
}

void session_record(struct session *s, const struct move *move, unsigned moved, unsigned failed)
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
	session_on_trial(s, move, 0);
	session_record(s, move, 1, 0);
	return 1;
}

int session_apply(struct session *s)
{
	int moves = 0;
	unsigned i = 0;
	for (; i < s->plan.n && s->plan.move[i].kind == MOVE_THREAD; i++) moves += apply_thread(s, &s->plan.move[i]);
	return moves + session_move_pages(s, i < s->plan.n ? &s->plan.move[i] : NULL, s->plan.n - i);   /* an empty plan has no array */
}
