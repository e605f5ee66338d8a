#include "player.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "pure/digest.h"

enum { PLAN_MOST = 1 << 20, TIDS = 1 << 30 };
#define HINTED_MOST (1ull << 40)   /* bytes of all hints: more than a terabyte would take seconds a step */

static _Thread_local struct player *starting;

struct player *player_starting(void)
{
	return starting;
}

/* ---- events ------------------------------------------------------------------------------------------------- */

static const char *const names[RECORD_EVENTS] = {
	[RECORD_START] = "the start", [RECORD_NOW] = "the time", [RECORD_OWN] = "its CPU time", [RECORD_PROCESS] = "the program's CPU time",
	[RECORD_SOURCE_START] = "a source's start", [RECORD_SOURCE_ADD] = "a thread for a source", [RECORD_POLL] = "accesses", [RECORD_COUNTS] = "a source's counts",
	[RECORD_COUNTER_START] = "the counters' start", [RECORD_COUNTER_READ] = "a counter", [RECORD_BALANCING] = "whether the kernel balances",
	[RECORD_FAULTS] = "the kernel's faults", [RECORD_TIMES] = "a thread's times", [RECORD_LOCATE] = "where pages lie", [RECORD_MOVE] = "a move of pages",
	[RECORD_POLICY] = "a policy of memory", [RECORD_BEGIN] = "a step", [RECORD_THREADS] = "the threads", [RECORD_BOUND] = "a binding",
	[RECORD_TOUCHES] = "touches", [RECORD_RANGES] = "ranges", [RECORD_NEIGHBOURS] = "the plan for all", [RECORD_PLAN] = "a plan", [RECORD_END] = "the end",
	[RECORD_PRICE] = "a sample's price", [RECORD_REGIONS] = "regions",
};

static const char *name_of(unsigned event)
{
	return event < RECORD_EVENTS && names[event] ? names[event] : "nothing that is known";
}

bool player_expect(struct player *p, enum record_event event)
{
	if (tape_is_bad(p->in)) return false;
	int next = tape_peek(p->in);
	if (next == (int)event) {
		(void)tape_get_byte(p->in);
		return true;
	}
	if (next < 0) (void)tape_get_byte(p->in);    /* says why there is none */
	tape_fail(p->in, "in step %llu %s is asked for, and the record has %s", (unsigned long long)p->steps, name_of(event), name_of((unsigned)next));
	return false;
}

uint64_t player_difference(struct player *p, uint64_t *last)
{
	int64_t more = tape_get_signed(p->in);
	if (!tape_is_bad(p->in)) *last += (uint64_t)more;
	return *last;
}

/* ---- the witness ---------------------------------------------------------------------------------------------- */

static void begin_step(void *state)
{
	struct player *p = state;
	p->planned = p->same_plan = p->same_situation = false;
	if (player_expect(p, RECORD_BEGIN)) p->steps++;
}

static void end_step(void *state)
{
	(void)state;
}

/* Into the thread's own words, and what is seen of them. */
static void put_in(struct nsched_thread *t, int state, bool fixed, int bound)
{
	atomic_store(&t->state, state);
	atomic_store(&t->fixed, fixed);
	atomic_store(&t->bound, bound);
	registry_see(t);
}

static int get_node(struct player *p)
{
	return (int)tape_get_below(p->in, p->session.machine.n_nodes + 1, "a node") - 1;
}

static void get_seen(struct player *p, struct player_seen *seen)
{
	seen->tid = (pid_t)tape_get_signed(p->in);
	seen->state = (int)tape_get_below(p->in, THREAD_GONE + 1, "a thread's state");
	seen->fixed = tape_get_byte(p->in);
	seen->bound = get_node(p);
	seen->process = (uint16_t)tape_get_below(p->in, UINT16_MAX + 1, "a process");
	if (p->flags & RECORD_EYES) return;
	seen->node = get_node(p);
	seen->load = tape_get_float(p->in);
	if (!(seen->load >= 0 && seen->load <= 1e6f)) tape_fail(p->in, "a load that can't be");
}

static void put_threads(void *state, struct registry *registry, bool *look_at_all)
{
	struct player *p = state;
	uint64_t number;
	*look_at_all = false;
	if (!player_expect(p, RECORD_THREADS)) return;
	*look_at_all = tape_get_byte(p->in);
	uint32_t n = (uint32_t)tape_get_below(p->in, REGISTRY_THREADS + 1, "threads");
	if (!tape_is_bad(p->in) && n < registry->seen_n) tape_fail(p->in, "%u threads, after %u", n, registry->seen_n);
	if (!tape_is_bad(p->in) && registry_make(registry, n)) tape_fail(p->in, "there is no memory for %u threads", n);
	while (!tape_is_bad(p->in) && (number = tape_get_below(p->in, (uint64_t)n + 1, "a thread's number"))) get_seen(p, &p->seen[number - 1]);
	if (tape_is_bad(p->in)) return;
	registry->seen_n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct nsched_thread *t = registry_at(registry, i);
		const struct player_seen *seen = &p->seen[i];
		t->tid = seen->tid;
		t->process = seen->process;
		put_in(t, seen->state, seen->fixed, seen->bound);
		if (p->flags & RECORD_EYES) continue;
		t->node = seen->node;
		t->load = seen->load;
	}
}

static void put_bound(void *state, struct nsched_thread *t, int *ret)
{
	struct player *p = state;
	if (!player_expect(p, RECORD_BOUND)) return;
	int result = (int)tape_get_signed(p->in), thread_state = (int)tape_get_below(p->in, THREAD_GONE + 1, "a thread's state");
	bool fixed = tape_get_byte(p->in);
	int bound = get_node(p);
	if (tape_is_bad(p->in)) return;
	*ret = result;
	put_in(t, thread_state, fixed, bound);
}

/* Only threads that told of something are noted, so whose the next ones are is read before their turn has come. */
static void put_touches(void *state, struct nsched_thread *t, uint64_t *addr, uint32_t *n)
{
	struct player *p = state;
	*n = 0;
	if (!p->touches_of && tape_peek(p->in) == RECORD_TOUCHES) {
		(void)tape_get_byte(p->in);
		p->touches_of = (uint32_t)tape_get_below(p->in, p->registry.seen_n, "a thread's number") + 1;
	}
	if (p->touches_of != t->number + 1 || tape_is_bad(p->in)) return;
	p->touches_of = 0;
	*n = (uint32_t)tape_get_below(p->in, REGISTRY_TOUCHES + 1, "touches");
	for (uint32_t i = 0; i < *n; i++) {
		addr[i] = player_difference(p, &p->last_line) << RECORD_LINE_SHIFT;
		if (p->listener) p->listener->touch(p->listener->arg, t->number, addr[i]);
	}
}

static void put_regions(void *state, struct trial_seen *seen, unsigned *n)
{
	struct player *p = state;
	*n = 0;
	if (tape_is_bad(p->in) || tape_peek(p->in) != RECORD_REGIONS) return;
	(void)tape_get_byte(p->in);
	*n = (unsigned)tape_get_below(p->in, TRIAL_REGIONS + 1, "regions");
	for (unsigned i = 0; i < *n; i++) {
		seen[i].key = tape_get(p->in);
		seen[i].took = tape_get(p->in);
		seen[i].visits = (uint32_t)tape_get_below(p->in, (uint64_t)UINT32_MAX + 1, "visits");
	}
}

static void get_ranges(struct player *p, struct ranges *g)
{
	uint64_t n = tape_get_below(p->in, (uint64_t)g->most_ranges + 1, "ranges");
	g->n_ranges = 0;
	for (; n && !tape_is_bad(p->in); n--) {
		char name[sizeof g->range->name];
		uint64_t addr = player_difference(p, &p->last_addr), bytes = tape_get(p->in);
		tape_get_text(p->in, name, sizeof name);
		if (tape_is_bad(p->in)) return;
		if (ranges_put(g, name, addr, bytes)) tape_fail(p->in, "a range that can't be");
	}
}

static void get_hints(struct player *p, struct ranges *g)
{
	uint64_t n = tape_get_below(p->in, (uint64_t)g->most_hints + 1, "hints"), sum = 0;
	g->n_hints = 0;
	for (; n && !tape_is_bad(p->in); n--) {
		struct hint h = { .thread = (uint32_t)tape_get_below(p->in, p->registry.seen_n, "a thread's number") };
		h.addr = player_difference(p, &p->last_addr);
		h.bytes = tape_get_below(p->in, HINTED_MOST, "bytes of a hint");
		h.bytes_per_s = tape_get(p->in);
		sum += h.bytes;
		if (sum > HINTED_MOST) tape_fail(p->in, "hints for %llu bytes", (unsigned long long)sum);
		if (!tape_is_bad(p->in) && ranges_put_hint(g, &h)) tape_fail(p->in, "there is no memory for so many hints");
	}
}

static void put_ranges(void *state, struct ranges *g)
{
	struct player *p = state;
	if (tape_peek(p->in) != RECORD_RANGES) return;
	(void)tape_get_byte(p->in);
	get_ranges(p, g);
	get_hints(p, g);
	if (tape_is_bad(p->in)) g->n_hints = g->n_ranges = 0;
}

static void put_neighbours(void *state, struct neighbours *n, enum neighbours_mode *mode)
{
	struct player *p = state;
	if (!player_expect(p, RECORD_NEIGHBOURS)) return;
	enum neighbours_mode recorded = (enum neighbours_mode)tape_get_below(p->in, NEIGHBOURS_TOGETHER + 1, "a way to plan");
	uint32_t orders = (uint32_t)tape_get_below(p->in, SLOT_ORDERS + 1, "orders");
	for (uint32_t i = 0; i < orders; i++) {
		struct slot_order *o = &n->plan->order[i];
		*o = (struct slot_order){ .tid = (int32_t)tape_get_signed(p->in), .node_os = (int16_t)tape_get_signed(p->in) };
		o->support = (uint16_t)tape_get(p->in);
		o->gain_ns_per_s = tape_get_float(p->in);
	}
	n->plan->n_orders = tape_is_bad(p->in) ? 0 : orders;
	if (!tape_is_bad(p->in)) *mode = recorded;
}

static const char *get_reason(struct player *p)
{
	uint64_t i = tape_get_below(p->in, RECORD_REASONS + 1, "a reason");
	if (i < p->n_reasons) return p->reason[i];
	if (i == p->n_reasons && i < RECORD_REASONS) p->n_reasons++;
	else if (i < RECORD_REASONS) tape_fail(p->in, "reason %llu, after %u of them", (unsigned long long)i, p->n_reasons);
	tape_get_text(p->in, p->reason[i], PLAYER_REASON);
	return p->reason[i];
}

static int get_move(struct player *p, struct move *m)
{
	unsigned flags = tape_get_byte(p->in);
	*m = (struct move){ .kind = flags & RECORD_MOVE_PAGES ? MOVE_PAGES : MOVE_THREAD, .again = flags & RECORD_MOVE_AGAIN };
	if (m->kind == MOVE_PAGES) {
		m->page = player_difference(p, &p->last_page);
		m->pages = (uint32_t)tape_get_below(p->in, UINT32_MAX, "pages");
		m->range = (uint32_t)tape_get_below(p->in, UINT32_MAX, "pages");
	} else {
		m->thread = (uint32_t)tape_get_below(p->in, REGISTRY_THREADS, "a thread's number");
	}
	m->from = (int16_t)tape_get_signed(p->in);
	m->to = (int16_t)tape_get_signed(p->in);
	m->support = (uint16_t)tape_get_below(p->in, UINT16_MAX + 1, "a support");
	m->gain_ns_per_s = tape_get_float(p->in);
	m->cost_ns = tape_get_float(p->in);
	m->reason = get_reason(p);
	return tape_is_bad(p->in) ? -EINVAL : 0;
}

/* plan_add would join what the gate has cut. */
static int add_as_it_is(struct plan *plan, const struct move *m)
{
	if (plan->n == plan->room) {
		unsigned room = plan->room ? 2 * plan->room : 64;
		struct move *grown = realloc(plan->move, room * sizeof *grown);
		if (!grown) return -ENOMEM;
		plan->move = grown;
		plan->room = room;
	}
	plan->move[plan->n++] = *m;
	return 0;
}

static bool same_float(float a, float b)
{
	return !memcmp(&a, &b, sizeof a);
}

static bool same_move(const struct move *a, const struct move *b)
{
	return a->kind == b->kind && a->thread == b->thread && a->page == b->page && a->pages == b->pages && a->range == b->range && a->from == b->from &&
	       a->to == b->to && a->support == b->support && a->again == b->again && same_float(a->gain_ns_per_s, b->gain_ns_per_s) &&
	       same_float(a->cost_ns, b->cost_ns) && !strncmp(a->reason, b->reason, PLAYER_REASON - 1);
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
	bool same = a->n == b->n;
	for (unsigned i = 0; same && i < a->n; i++) same = same_move(&a->move[i], &b->move[i]);
	return same;
}

static void compare_plan(void *state, const struct situation *situation, const struct plan *plan)
{
	struct player *p = state;
	uint64_t digest = 0;
	struct move m;
	plan_clear(&p->recorded);
	if (!player_expect(p, RECORD_PLAN)) return;
	for (unsigned i = 0; i < sizeof digest; i++) digest |= (uint64_t)tape_get_byte(p->in) << 8 * i;
	for (uint64_t n = tape_get_below(p->in, PLAN_MOST, "moves"); n && !get_move(p, &m); n--)
		if (add_as_it_is(&p->recorded, &m)) tape_fail(p->in, "there is no memory for the plan");
	if (tape_is_bad(p->in)) return;
	p->planned = true;
	p->same_situation = digest == digest_situation(situation);
	p->same_plan = same_plan(plan, &p->recorded);
}

static const struct witness_ops witness = { begin_step, end_step, put_threads, put_bound, put_touches, put_regions, put_ranges, put_neighbours, compare_plan };

/* ---- life ------------------------------------------------------------------------------------------------------------- */

static int begin(struct player *p, struct session_setup *setup)
{
	if (p->flags & RECORD_TEAM) {
		p->neighbours.plan = calloc(1, sizeof *p->neighbours.plan);
		setup->neighbours = &p->neighbours;
		if (!p->neighbours.plan) {
			machine_free(&setup->machine);
			return -ENOMEM;
		}
	}
	starting = p;
	int ret = session_init(&p->session, setup);
	starting = NULL;
	p->begun = ret == 0;
	return ret;
}

int player_open(struct player *p, struct tape_reader *in)
{
	memset(p, 0, sizeof *p);
	p->in = in;
	for (unsigned i = 0; i < REGISTRY_THREADS; i++) p->seen[i].bound = REGISTRY_NO_NODE;
	registry_init(&p->registry);
	struct session_setup setup = { .config = &p->config, .clock = &player_clock, .clock_state = p, .hands = &player_hands, .hands_state = p,
	                               .sources = p->sources, .registry = &p->registry, .ranges = &p->ranges, .witness = &witness, .witness_state = p };
	int ret = player_start(p, &setup);
	ranges_init(&p->ranges, (unsigned)p->config.max_ranges, (unsigned)p->config.max_hints);
	setup.allowed = p->allowed;
	if (p->flags & RECORD_EYES) setup.eyes = &player_eyes;
	setup.eyes_state = p;
	if (p->flags & RECORD_COUNTERS) setup.counters = &player_counters;
	if (!ret) ret = begin(p, &setup);
	if (!ret && tape_is_bad(in)) ret = -EINVAL;
	if (ret == -EINVAL) tape_fail(in, "no session can be made of this");
	if (ret) player_close(p);
	return ret;
}

static int no_more(struct player *p)
{
	if (tape_peek(p->in) == RECORD_END) {
		(void)tape_get_byte(p->in);
		uint64_t steps = tape_get(p->in);
		if (!tape_is_bad(p->in) && steps != p->steps) tape_fail(p->in, "%llu steps should have been, and %llu were", (unsigned long long)steps, (unsigned long long)p->steps);
		if (!tape_is_bad(p->in) && tape_peek(p->in) >= 0) tape_fail(p->in, "something comes behind the end");
		p->ended = !tape_is_bad(p->in);
	}
	return tape_is_bad(p->in) ? -1 : 0;
}

static void count(struct player *p)
{
	if (!p->planned) return;
	p->plans += p->recorded.n > 0;
	p->moves += p->recorded.n;
	p->other_plans += !p->same_plan;
	p->other_situations += !p->same_situation;
	if (!p->first_other && !(p->same_plan && p->same_situation)) p->first_other = p->steps;
}

int player_step(struct player *p)
{
	int next = tape_peek(p->in);
	if (next < 0 || next == RECORD_END) return no_more(p);
	int ret = session_step(&p->session);
	if (!tape_is_bad(p->in) && p->touches_of) tape_fail(p->in, "touches of thread %u, which is not there", p->touches_of - 1);
	if (!tape_is_bad(p->in) && ret == -ENOMEM) tape_fail(p->in, "there is no memory");
	if (tape_is_bad(p->in)) return -1;
	count(p);
	return 1;
}

void player_close(struct player *p)
{
	if (p->begun) {
		p->ended = true;
		session_stop(&p->session);
		session_free(&p->session);
	}
	p->begun = false;
	ranges_free(&p->ranges);
	plan_free(&p->recorded);
	free(p->neighbours.plan);
	p->neighbours.plan = NULL;
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) {
		free(p->registry.block[b]);
		p->registry.block[b] = NULL;
	}
}
