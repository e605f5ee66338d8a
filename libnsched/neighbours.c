#include "neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/team.h"
#include "sys/topo.h"

#define MS 1000000ull

enum {
	EXCHANGE_MS = 200,     /* between two looks at the others: a view is some 10 KiB, and has to be checked */
	PLAN_MS = 500,         /* between two plans */
	BEAT_MS = 10000,       /* without a sign of life for so long, a planner is passed over: steps are at most 2 s apart, but a machine may be slow */
	JOIN_MS = 1000,        /* a newcomer with others beside it plans nothing by itself for so long: they are about to show what they do,
	                        * and what each moves alone is in the others' way, and dear to take back */
	ASK_MS = 120000,       /* no meeting is further ahead, with the longest interval that there is */
	WAIT_MS = 5000,        /* for a plan that knows us; after it we plan alone, until one does */
};

/* ---- coming and going ---------------------------------------------------------------------------------- */

void neighbours_join(struct neighbours *n, const struct cpu_mask *share, bool blocked)
{
	const char *word = secure_getenv("NSCHED_BOARD");
	*n = (struct neighbours){ .ceiling = *share };
	if (!word || board_attach(word, &n->board)) return;
	int slot = board_claim(n->board, BOARD_NO_RANK, NULL);
	n->view = calloc(1, sizeof *n->view);
	n->plan = calloc(1, sizeof *n->plan);
	if (slot < 0 || !n->view || !n->plan) {
		neighbours_free(n);
		return;
	}
	n->joined = true;
	if (blocked) board_write_blocked(n->board);
	/* a rank's launcher has written its head; others are nobody's yet */
	bool known = (unsigned)slot < board_ranks(n->board) && !board_read_head(n->board, (unsigned)slot, &n->head, NULL);
	if (known && mask_within(share, &n->head.ceiling)) n->ceiling = n->head.ceiling;
	if (!known) n->head = (struct board_head){ .local_rank = BOARD_NO_RANK, .rank = BOARD_NO_RANK };
	n->head.ceiling = n->ceiling;
	n->head.flags &= ~(uint32_t)BOARD_PLANS;
	board_set_head(n->board, &n->head);
}

int neighbours_machine(struct neighbours *n, struct machine *machine)
{
	struct machine whole;
	int ret = n->board ? board_read_machine(n->board, &whole) : -ENODEV;
	if (ret == -EAGAIN && board_take_machine(n->board)) {
		ret = topo_load(&whole, NULL);
		board_write_machine(n->board, ret ? NULL : &whole);
	}
	if (ret) return topo_load(machine, &n->ceiling);
	ret = machine_restrict(machine, &whole, n->ceiling.word, false);
	machine_free(&whole);
	return ret;
}

void neighbours_take_part(struct neighbours *n)
{
	if (!n->board) return;
	n->head.flags |= BOARD_PLANS;
	board_set_head(n->board, &n->head);
}

/* Nobody else is on the board, now. */
static bool is_last(const struct neighbours *n, int own)
{
	for (unsigned slot = 0; slot < board_slots(n->board); slot++)
		if ((int)slot != own && board_is_taken(n->board, slot)) return false;
	return true;
}

/* The same, as far as was seen. */
static bool seems_last(const struct neighbours *n, int own)
{
	struct board_head head;
	for (unsigned slot = 0; slot < board_slots(n->board); slot++)
		if ((int)slot != own && board_read_head(n->board, slot, &head, NULL) != -ENOENT) return false;
	return true;
}

static void forget(struct neighbours *n)
{
	free(n->view);
	free(n->plan);
	n->board = NULL;
	n->joined = false;
	n->view = NULL;
	n->plan = NULL;
	n->mode = NEIGHBOURS_ALONE;
}

void neighbours_leave(struct neighbours *n)
{
	if (!n->board) return;
	/* the name is still there if the ranks never met in full */
	if (is_last(n, board_own(n->board))) board_unlink(n->board);
	board_release(n->board);
	board_leave(n->board, false);
	n->board = NULL;
}

void neighbours_free(struct neighbours *n)
{
	neighbours_leave(n);
	forget(n);
}

void neighbours_forked(struct neighbours *n)
{
	if (n->board) board_leave(n->board, false);
	forget(n);
}

void neighbours_ask(struct neighbours *n, const struct board_ask *ask)
{
	if (!n->board) return;
	n->head.ask = *ask;
	board_set_head(n->board, &n->head);
}

bool neighbours_asked(const struct neighbours *n, unsigned *slot, uint64_t at_ns, struct board_ask *ask)
{
	for (; n->board && *slot < board_slots(n->board); ++*slot)
		if ((int)*slot != board_own(n->board) && board_read_ask(n->board, *slot, ask) && ask->at_ns == at_ns) return true;
	return false;
}

/* What stands there is not believed further than ASK_MS ahead: a program may have scribbled over it. */
uint64_t neighbours_next_ask(const struct neighbours *n, uint64_t now_ns)
{
	struct board_ask ask;
	uint64_t next = 0;
	int own = n->board ? board_own(n->board) : -1;
	for (unsigned slot = 0; own >= 0 && slot < board_slots(n->board); slot++) {
		if ((int)slot == own || !board_read_ask(n->board, slot, &ask)) continue;
		if (ask.at_ns > now_ns && ask.at_ns - now_ns < ASK_MS * MS && (!next || ask.at_ns < next)) next = ask.at_ns;
	}
	return next;
}

bool neighbours_are_due(const struct neighbours *n, uint64_t now_ns)
{
	return n->board && (!n->exchanged_ns || now_ns - n->exchanged_ns >= EXCHANGE_MS * MS);
}

void neighbours_tell_row(struct neighbours *n, const struct slot_row *row)
{
	/* no room for it: then messages do not count in the plan */
	if (n->board && row && board_write(n->board, BOARD_ROW, row, slot_row_bytes(row))) return;
}

/* ---- the planner's part ------------------------------------------------------------------------------------ */

struct gathering {
	struct team_member member[TEAM_MEMBERS];
	struct slot_view *view[TEAM_MEMBERS];
	struct slot_row *row[TEAM_MEMBERS];
	unsigned n, ours;
	bool absent;                  /* a rank lives that takes no part: its CPUs are its own */
};

/* A part of a slot, in memory of its own that is as large as it; NULL if there is none that is sound. */
static void *read_part(struct neighbours *n, unsigned slot, enum board_part part, void *room, uint32_t room_bytes)
{
	int bytes = board_read(n->board, slot, part, room, room_bytes, NULL);
	void *copy = bytes > 0 ? malloc((size_t)bytes) : NULL;
	n->totals.refused += bytes == -EPROTO;
	if (copy && part == BOARD_VIEW) slot_view_copy(copy, room);
	else if (copy) memcpy(copy, room, (size_t)bytes);
	return copy;
}

struct scratch {
	struct slot_view view;
	struct slot_row row;
};

static void gather_one(struct neighbours *n, unsigned slot, const struct board_head *head, pid_t pid, struct scratch *scratch,
                       struct gathering *g)
{
	struct team_member *member = &g->member[g->n];
	if (!(head->flags & BOARD_PLANS)) {
		g->absent |= head->local_rank != BOARD_NO_RANK;
		return;
	}
	g->view[g->n] = read_part(n, slot, BOARD_VIEW, &scratch->view, sizeof scratch->view);
	if (!g->view[g->n]) return;
	g->row[g->n] = read_part(n, slot, BOARD_ROW, &scratch->row, sizeof scratch->row);
	*member = (struct team_member){ .slot = slot, .pid = pid, .view = g->view[g->n], .row = g->row[g->n],
	                                .theirs = !mask_equal(&head->ceiling, &n->ceiling) };
	g->ours += !member->theirs;
	g->n++;
}

static void gather(struct neighbours *n, struct gathering *g)
{
	struct scratch *scratch = malloc(sizeof *scratch);
	struct board_head head;
	board_owner owner;
	for (unsigned slot = 0; scratch && slot < board_slots(n->board) && g->n < TEAM_MEMBERS; slot++)
		if (!board_read_head(n->board, slot, &head, &owner)) gather_one(n, slot, &head, board_owner_pid(owner), scratch, g);
	free(scratch);
}

/* The plan for all into n->plan and onto the board. */
static void plan_for_all(struct neighbours *n, const struct machine *machine, const struct policy_ops *policy, uint64_t now_ns)
{
	struct gathering *g = malloc(sizeof *g);   /* 60 KiB, of which few processes need little: not cleared */
	struct slot_plan *last = malloc(sizeof *last);
	if (last) memcpy(last, n->plan, slot_plan_bytes(n->plan));
	n->plan->n_orders = 0;
	n->plan->alone = 1;
	if (g) {
		g->n = g->ours = 0;
		g->absent = false;
		gather(n, g);
	}
	if (g && g->ours > 1 && !g->absent) {
		if (team_decide(machine, g->member, g->n, policy, last, (uint32_t)(now_ns / MS), n->plan)) n->plan->alone = 1;
		else n->totals.made++;
	}
	n->together = g && !n->plan->alone ? g->ours : 1;
	for (unsigned i = 0; g && i < g->n; i++) {
		free(g->view[i]);
		free(g->row[i]);
	}
	free(g);
	free(last);
	if (board_write(n->board, BOARD_PLAN, n->plan, slot_plan_bytes(n->plan))) n->plan->alone = 1;   /* nobody else can read it */
}

/* ---- everybody's part ---------------------------------------------------------------------------------------- */

/* Who plans for those that may use the same CPUs as we: the first that lives. */
static unsigned find_leader(const struct neighbours *n, unsigned own, uint64_t now_ns)
{
	struct board_head head;
	for (unsigned slot = 0; slot < own; slot++) {
		uint64_t beat = board_last_beat(n->board, slot);
		if (!beat || (beat < now_ns && now_ns - beat > BEAT_MS * MS)) continue;
		if (board_read_head(n->board, slot, &head, NULL) || !(head.flags & BOARD_PLANS)) continue;
		if (mask_equal(&head.ceiling, &n->ceiling)) return slot;
	}
	return own;
}

static void write_view(struct neighbours *n, const struct situation *s, const struct registry *registry, bool may_bind)
{
	int32_t tid[SLOT_THREADS];
	for (unsigned t = 0; t < s->n_threads && t < SLOT_THREADS; t++) tid[t] = registry_at(registry, s->thread[t].number)->tid;
	team_condense(s, tid, n->view);
	for (unsigned t = 0; t < n->view->n_threads; t++) n->view->thread[t].fixed |= !may_bind;
	/* no room on the board: the plan will not know us, and after a while we plan alone */
	if (board_write(n->board, BOARD_VIEW, n->view, slot_view_pack(n->view))) n->view->n_threads = 0;
}

static bool has_orders_for(const struct slot_plan *plan, unsigned slot)
{
	for (unsigned i = 0; i < plan->n_orders; i++)
		if (plan->order[i].slot == slot) return true;
	return false;
}

/* Is anybody there who plans with us, or will: another rank, or a process that may use the same CPUs? */
static bool has_company(const struct neighbours *n, unsigned own)
{
	struct board_head head;
	for (unsigned slot = 0; slot < board_slots(n->board); slot++) {
		if (slot == own || board_read_head(n->board, slot, &head, NULL)) continue;
		if (head.local_rank != BOARD_NO_RANK || (head.flags & BOARD_PLANS && mask_equal(&head.ceiling, &n->ceiling))) return true;
	}
	return false;
}

static enum neighbours_mode mode_of(struct neighbours *n, unsigned own, bool have_plan, uint64_t now_ns)
{
	if (have_plan && n->plan->alone) return now_ns - n->joined_ns < JOIN_MS * MS && has_company(n, own) ? NEIGHBOURS_WAIT : NEIGHBOURS_ALONE;
	if (have_plan && has_orders_for(n->plan, own)) return NEIGHBOURS_TOGETHER;
	/* none of our threads does anything that counts: nothing to be told, and nothing to decide */
	if (have_plan && !n->view->n_threads) return NEIGHBOURS_WAIT;
	if (!n->waiting_ns) n->waiting_ns = now_ns;
	return now_ns - n->waiting_ns < WAIT_MS * MS ? NEIGHBOURS_WAIT : NEIGHBOURS_ALONE;
}

/* Without anybody else, what stands on the board for newcomers, that we plan alone, stays true. To write and check it anew each time
 * would be a sixth of what a quiet step costs. */
static bool is_deserted(const struct neighbours *n, unsigned own)
{
	return n->planned_ns && n->plan->alone && n->leader == own && seems_last(n, (int)own);
}

enum neighbours_mode neighbours_exchange(struct neighbours *n, const struct situation *s, const struct machine *machine,
                                         const struct registry *registry, const struct policy_ops *policy, bool may_bind, uint64_t now_ns)
{
	int own = n->board ? board_own(n->board) : -1;
	if (own < 0) return NEIGHBOURS_ALONE;
	n->slot = (unsigned)own;
	board_beat(n->board, now_ns);
	if (!neighbours_are_due(n, now_ns)) return n->mode;
	n->exchanged_ns = now_ns;
	if (is_deserted(n, (unsigned)own)) return n->mode = NEIGHBOURS_ALONE;
	if (!n->joined_ns) n->joined_ns = now_ns;
	write_view(n, s, registry, may_bind);
	unsigned leader = find_leader(n, (unsigned)own, now_ns);
	bool have_plan = true;
	n->totals.taken_over += leader == (unsigned)own && n->leader < leader && n->totals.followed;
	n->leader = leader;
	if (leader != (unsigned)own) have_plan = board_read(n->board, leader, BOARD_PLAN, n->plan, sizeof *n->plan, NULL) > 0;
	else if (!n->planned_ns || now_ns - n->planned_ns >= PLAN_MS * MS) {
		n->planned_ns = now_ns;
		plan_for_all(n, machine, policy, now_ns);
	}
	n->mode = mode_of(n, (unsigned)own, have_plan, now_ns);
	if (n->mode != NEIGHBOURS_WAIT && have_plan) n->waiting_ns = 0;
	n->totals.followed += n->mode == NEIGHBOURS_TOGETHER;
	return n->mode;
}

static const struct slot_order *order_for(const struct slot_plan *plan, unsigned slot, int32_t tid)
{
	for (unsigned i = 0; i < plan->n_orders; i++)
		if (plan->order[i].slot == slot && plan->order[i].tid == tid) return &plan->order[i];
	return NULL;
}

int neighbours_follow(struct neighbours *n, struct situation *s, const struct registry *registry, struct plan *plan)
{
	int ret = 0;
	for (unsigned t = 0; !ret && t < s->n_threads; t++) {
		struct situation_thread *th = &s->thread[t];
		const struct slot_order *order = order_for(n->plan, n->slot, registry_at(registry, th->number)->tid);
		int to = order && order->node_os >= 0 ? machine_node_of_os(s->machine, (unsigned)order->node_os) : -1;
		if (to < 0 || th->fixed || th->node < 0 || !s->machine->node[to].n_cpus || (th->bound && th->node == to)) continue;
		struct move move = { .kind = MOVE_THREAD, .thread = th->number, .from = th->node, .to = (int16_t)to, .support = order->support,
		                     .again = th->moved_ms_ago != UINT32_MAX, .gain_ns_per_s = order->gain_ns_per_s,
		                     .cost_ns = th->node == to ? 0 : s->thread_move_ns, .reason = "its place in the plan for all processes" };
		ret = plan_add(plan, &move);
		th->node = (int16_t)to;
	}
	return ret;
}
