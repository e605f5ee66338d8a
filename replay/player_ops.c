#include <errno.h>
#include <math.h>

#include "player.h"

enum { RANK_OF_NODES = KERNEL_NODES + 1, ACCESSES_MOST = 1 << 20 };
#define TIME_MOST (1ull << 62)   /* in ns: a century */

/* ---- clock: stands still once something is wrong ----------------------------------------------------------------- */

static uint64_t read_clock(struct player *p, enum record_event event, uint64_t *last)
{
	uint64_t before = *last;
	if (!player_expect(p, event)) return before;
	uint64_t now = player_difference(p, last);
	if (now < TIME_MOST && (event != RECORD_NOW || now >= before)) return now;
	tape_fail(p->in, "a time that can't be");
	return *last = before;
}

static uint64_t now_ns(void *state)
{
	struct player *p = state;
	return read_clock(p, RECORD_NOW, &p->last_now);
}

static uint64_t own_cpu_ns(void *state)
{
	struct player *p = state;
	return read_clock(p, RECORD_OWN, &p->last_own);
}

static uint64_t process_cpu_ns(void *state)
{
	struct player *p = state;
	return read_clock(p, RECORD_PROCESS, &p->last_process);
}

const struct clock_ops player_clock = { now_ns, own_cpu_ns, process_cpu_ns };

/* ---- hands ---------------------------------------------------------------------------------------------------------- */

/* Any mask will do: what came of binding is put in by the witness. */
static int get_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	const struct player *p = state;
	(void)tid;
	*mask = p->allowed;
	return 0;
}

static int set_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	(void)state, (void)tid, (void)mask;
	return 0;
}

static int read_pages(struct player *p, enum record_event event, unsigned n, int *node)
{
	if (!player_expect(p, event)) return -EIO;
	int ret = (int)tape_get_signed(p->in);
	uint64_t recorded = tape_get(p->in);
	if (!tape_is_bad(p->in) && recorded != n) tape_fail(p->in, "%llu pages were asked for, and now %u are", (unsigned long long)recorded, n);
	if (!ret) tape_get_row(p->in, node, n);
	return tape_is_bad(p->in) ? -EIO : ret;
}

static int locate(void *state, const uint64_t *addr, unsigned n, int *node_os)
{
	struct player *p = state;
	int ret = read_pages(p, RECORD_LOCATE, n, node_os);
	if (!ret && p->listener) p->listener->located(p->listener->arg, addr, n, node_os);
	return ret;
}

static int move(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status)
{
	struct player *p = state;
	int ret = read_pages(p, RECORD_MOVE, n, status);
	(void)to_os;
	if (!ret && p->listener) p->listener->moved(p->listener->arg, addr, n, status);
	return ret;
}

static int has_policy(void *state, uint64_t addr)
{
	struct player *p = state;
	(void)addr;
	return player_expect(p, RECORD_POLICY) ? (int)tape_get_signed(p->in) : 0;
}

const struct actuator_ops player_hands = { "recorded", get_mask, set_mask, locate, move, has_policy, NULL };

/* ---- sources -------------------------------------------------------------------------------------------------------- */

/* The event, of this source. */
static bool expect_of(struct player_source *s, enum record_event event)
{
	struct player *p = s->player;
	if (!player_expect(p, event)) return false;
	uint64_t place = tape_get(p->in);
	if (!tape_is_bad(p->in) && place != (uint64_t)(s - p->source)) tape_fail(p->in, "source %llu answered, and now %s is asked", (unsigned long long)place, s->name);
	return !tape_is_bad(p->in);
}

static int source_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct player_source *s = (struct player_source *)(void *)((char *)(uintptr_t)setup->self - offsetof(struct player_source, ops));
	*state = s;
	if (!expect_of(s, RECORD_SOURCE_START)) return -EIO;
	int ret = (int)tape_get_signed(s->player->in);
	tape_get_text(s->player->in, why, SOURCE_WHY);
	return tape_is_bad(s->player->in) ? -EIO : ret;
}

static unsigned source_price(const void *state)
{
	const struct player_source *s = state;
	return player_expect(s->player, RECORD_PRICE) ? (unsigned)tape_get_below(s->player->in, UINT32_MAX, "a sample's price") : 0;
}

static int source_add(void *state, unsigned thread, pid_t tid)
{
	struct player_source *s = state;
	(void)thread, (void)tid;
	return expect_of(s, RECORD_SOURCE_ADD) ? (int)tape_get_signed(s->player->in) : -ESRCH;
}

static bool read_access(struct player *p, struct access *a)
{
	uint64_t code = tape_get(p->in), way = code >> 1;
	p->last_line += way >> 1 ^ (way & 1 ? UINT64_MAX : 0);
	*a = p->last_access;
	if (code & 1) {
		a->thread = (uint32_t)tape_get_below(p->in, p->registry.seen_n, "a thread's number");
		a->kind = (uint8_t)tape_get_byte(p->in);
		a->weight_ns = tape_get_float(p->in);
	}
	a->addr = p->last_line << RECORD_LINE_SHIFT;
	if (a->thread >= p->registry.seen_n || a->kind > ACCESS_HINT_FAULT || !isfinite(a->weight_ns)) tape_fail(p->in, "an access that can't be");
	p->last_access = *a;
	return !tape_is_bad(p->in);
}

static int source_poll(void *state, const struct sink *sink, unsigned most)
{
	struct player_source *s = state;
	struct player *p = s->player;
	struct access a;
	(void)most;
	if (!expect_of(s, RECORD_POLL)) return 0;
	uint64_t n = tape_get_below(p->in, ACCESSES_MOST, "accesses");
	for (; n && read_access(p, &a); n--) {
		sink->put(sink->arg, &a);
		if (p->listener) p->listener->access(p->listener->arg, &a);
	}
	int ret = (int)tape_get_signed(p->in);
	return tape_is_bad(p->in) ? 0 : ret;
}

static void source_counts(const void *state, struct source_counts *c)
{
	struct player_source *s = (struct player_source *)(uintptr_t)state;
	struct player *p = s->player;
	*c = s->last;
	if (!p->begun || p->ended || !expect_of(s, RECORD_COUNTS)) return;   /* those of a report are no part of a record */
	c->samples = player_difference(p, &s->last.samples);
	c->resolved = player_difference(p, &s->last.resolved);
	c->unresolved = player_difference(p, &s->last.unresolved);
	c->lost = player_difference(p, &s->last.lost);
	c->decode_ns = player_difference(p, &s->last.decode_ns);
}

const struct source_ops player_source_ops = { .start = source_start, .price = source_price, .thread_add = source_add, .poll = source_poll, .counts = source_counts };

/* ---- counters --------------------------------------------------------------------------------------------------------- */

static int counter_start(const struct counter_setup *setup, void **state, struct counter_about *about, char why[COUNTER_WHY])
{
	struct player *p = player_starting();
	(void)setup;
	*state = p;
	if (!player_expect(p, RECORD_COUNTER_START)) return -EIO;
	int ret = (int)tape_get_signed(p->in);
	tape_get_text(p->in, why, COUNTER_WHY);
	if (ret || tape_is_bad(p->in)) return ret ? ret : -EIO;
	unsigned flags = tape_get_byte(p->in);
	about->by_itself = flags & RECORD_BY_ITSELF;
	about->demand = flags & RECORD_DEMAND;
	about->named = flags & RECORD_NAMED;
	tape_get_text(p->in, about->events, sizeof about->events);
	return tape_is_bad(p->in) ? -EIO : 0;
}

static int counter_add(void *state, unsigned thread, pid_t tid)
{
	(void)state, (void)thread, (void)tid;
	return 0;
}

static void counter_thread(void *state, unsigned thread)
{
	(void)state, (void)thread;
}

static int counter_read(void *state, unsigned thread, uint64_t *at_ns, uint64_t value[COUNTERS])
{
	struct player *p = state;
	(void)thread;
	if (!player_expect(p, RECORD_COUNTER_READ)) return -EIO;
	int ret = (int)tape_get_signed(p->in);
	if (ret || tape_is_bad(p->in)) return ret ? ret : -EIO;
	*at_ns = player_difference(p, &p->last_count_ns);
	for (unsigned i = 0; i < COUNTERS; i++) value[i] = tape_get(p->in);
	return tape_is_bad(p->in) ? -EIO : 0;
}

static void counter_stop(void *state)
{
	(void)state;
}

const struct counter_ops player_counters = { "recorded", counter_start, counter_add, counter_thread, counter_read, counter_thread, counter_thread,
	                                     counter_stop, counter_stop };

/* ---- eyes --------------------------------------------------------------------------------------------------------------- */

/* Whom it found is in what the witness saw. */
static int scan(void *state, threads_found *found, void *arg)
{
	(void)state, (void)found, (void)arg;
	return 0;
}

static int times(void *state, pid_t tid, struct thread_times *t)
{
	struct player *p = state;
	(void)tid;
	if (!player_expect(p, RECORD_TIMES)) return -EIO;
	int ret = (int)tape_get_signed(p->in);
	if (!ret) {
		t->cpu_os = (unsigned)tape_get_below(p->in, UINT32_MAX, "a CPU");
		t->ticks = player_difference(p, &p->last_ticks);
	}
	return tape_is_bad(p->in) ? -EIO : ret;
}

static unsigned ticks_per_s(void *state)
{
	const struct player *p = state;
	return p->ticks_per_s;
}

static int balancing(void *state)
{
	struct player *p = state;
	return player_expect(p, RECORD_BALANCING) ? (int)tape_get_signed(p->in) & (KERNEL_BALANCES | KERNEL_TIERS) : 0;
}

static int faults(void *state, pid_t tid, struct kernel_faults *f, kernel_faults_node *node, void *arg)
{
	struct player *p = state;
	(void)tid;
	*f = (struct kernel_faults){ .preferred_os = -1 };
	if (!player_expect(p, RECORD_FAULTS)) return -EIO;
	int ret = (int)tape_get_signed(p->in);
	f->sum = tape_get(p->in);
	f->n = (unsigned)tape_get_below(p->in, RANK_OF_NODES, "nodes");
	for (unsigned i = 0; i < f->n && !tape_is_bad(p->in); i++) {
		unsigned os = (unsigned)tape_get_below(p->in, KERNEL_NODES, "a node");
		uint64_t n = tape_get(p->in);
		if (node && !tape_is_bad(p->in)) node(arg, os, n);
	}
	return tape_is_bad(p->in) ? -EIO : ret;
}

const struct eyes_ops player_eyes = { scan, times, ticks_per_s, balancing, faults };
