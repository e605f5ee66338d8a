#include <errno.h>

#include "recorder.h"

enum { NODES_MOST = KERNEL_NODES };

/* ---- clock --------------------------------------------------------------------------------------------------- */

static uint64_t note_time(struct recorder *r, enum record_event event, uint64_t ns, uint64_t *last)
{
	if (!recorder_writes(r)) return ns;
	recorder_event(r, event);
	recorder_difference(r, ns, last);
	return ns;
}

static uint64_t now_ns(void *state)
{
	struct recorder *r = state;
	return note_time(r, RECORD_NOW, r->clock->now_ns(r->clock_state), &r->last_now);
}

static uint64_t own_cpu_ns(void *state)
{
	struct recorder *r = state;
	return note_time(r, RECORD_OWN, r->clock->own_cpu_ns(r->clock_state), &r->last_own);
}

static uint64_t process_cpu_ns(void *state)
{
	struct recorder *r = state;
	return note_time(r, RECORD_PROCESS, r->clock->process_cpu_ns(r->clock_state), &r->last_process);
}

static const struct clock_ops recorded_clock = { now_ns, own_cpu_ns, process_cpu_ns };

/* ---- hands: pages. What threads are bound to is seen by the witness --------------------------------------------- */

static int get_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	const struct recorder *r = state;
	return r->hands->get_mask(r->hands_state, tid, mask);
}

static int set_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	const struct recorder *r = state;
	return r->hands->set_mask(r->hands_state, tid, mask);
}

static int note_pages(struct recorder *r, enum record_event event, int ret, const int *node, unsigned n)
{
	if (!recorder_writes(r)) return ret;
	recorder_event(r, event);
	tape_put_signed(&r->tape, ret);
	tape_put(&r->tape, n);
	if (!ret) tape_put_row(&r->tape, node, n);
	return ret;
}

static int locate(void *state, const uint64_t *addr, unsigned n, int *node_os)
{
	struct recorder *r = state;
	return note_pages(r, RECORD_LOCATE, r->hands->locate(r->hands_state, addr, n, node_os), node_os, n);
}

static int move(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status)
{
	struct recorder *r = state;
	return note_pages(r, RECORD_MOVE, r->hands->move(r->hands_state, addr, n, to_os, status), status, n);
}

static int has_policy(void *state, uint64_t addr)
{
	struct recorder *r = state;
	int ret = r->hands->has_policy(r->hands_state, addr);
	if (!recorder_writes(r)) return ret;
	recorder_event(r, RECORD_POLICY);
	tape_put_signed(&r->tape, ret);
	return ret;
}

static void split(void *state, uint64_t addr)
{
	const struct recorder *r = state;
	r->hands->split(r->hands_state, addr);
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

static unsigned place_of(const struct recorded_source *s)
{
	return (unsigned)(s - s->recorder->source);
}

/* The session may start a source, and be told why not, before it has a state. */
static int source_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct recorded_source *s = (struct recorded_source *)(void *)((char *)(uintptr_t)setup->self - offsetof(struct recorded_source, ops));
	struct source_setup inner = *setup;
	inner.self = s->inner;
	int ret = s->inner->start(&inner, &s->state, why);
	*state = s;
	if (!recorder_writes(s->recorder)) return ret;
	recorder_event(s->recorder, RECORD_SOURCE_START);
	tape_put(&s->recorder->tape, place_of(s));
	tape_put_signed(&s->recorder->tape, ret);
	tape_put_text(&s->recorder->tape, ret ? why : "");
	return ret;
}

static int source_add(void *state, unsigned thread, pid_t tid)
{
	struct recorded_source *s = state;
	int ret = s->inner->thread_add(s->state, thread, tid);
	if (!recorder_writes(s->recorder)) return ret;
	recorder_event(s->recorder, RECORD_SOURCE_ADD);
	tape_put(&s->recorder->tape, place_of(s));
	tape_put_signed(&s->recorder->tape, ret);
	return ret;
}

static void source_remove(void *state, unsigned thread)
{
	const struct recorded_source *s = state;
	s->inner->thread_remove(s->state, thread);
}

struct through {
	struct recorder *recorder;
	const struct sink *sink;
};

static void put(void *arg, const struct access *a)
{
	const struct through *t = arg;
	struct recorder *r = t->recorder;
	t->sink->put(t->sink->arg, a);
	uint64_t line = a->addr >> RECORD_LINE_SHIFT;
	bool same = a->thread == r->last_access.thread && a->kind == r->last_access.kind && !memcmp(&a->weight_ns, &r->last_access.weight_ns, sizeof a->weight_ns);
	int64_t way = (int64_t)(line - r->last_line);
	tape_put(&r->part, ((uint64_t)way << 1 ^ (way < 0 ? UINT64_MAX : 0)) << 1 | !same);
	if (!same) {
		tape_put(&r->part, a->thread);
		tape_put_byte(&r->part, a->kind);
		tape_put_float(&r->part, a->weight_ns);
	}
	r->last_line = line;
	r->last_access = *a;
	r->n_part++;
}

/* Nothing that is decided depends on it. */
static void pass_taken(void *arg, const struct source_taken *taken)
{
	const struct through *t = arg;
	if (t->sink->taken) t->sink->taken(t->sink->arg, taken);
}

static int source_poll(void *state, const struct sink *sink, unsigned most)
{
	struct recorded_source *s = state;
	struct recorder *r = s->recorder;
	struct through through = { r, sink };
	struct sink own = { put, &through, pass_taken };
	if (!recorder_writes(r)) return s->inner->poll(s->state, sink, most);
	r->part.n = r->n_part = 0;
	int ret = s->inner->poll(s->state, &own, most);
	recorder_event(r, RECORD_POLL);
	tape_put(&r->tape, place_of(s));
	tape_put(&r->tape, r->n_part);
	tape_put_all(&r->tape, &r->part);
	tape_put_signed(&r->tape, ret);
	return ret;
}

static void source_set_period(void *state, unsigned thread, uint64_t period_ns)
{
	const struct recorded_source *s = state;
	s->inner->set_period(s->state, thread, period_ns);
}

static unsigned source_price(const void *state)
{
	const struct recorded_source *s = state;
	unsigned ns = s->inner->price(s->state);
	if (!recorder_writes(s->recorder)) return ns;
	recorder_event(s->recorder, RECORD_PRICE);
	tape_put(&s->recorder->tape, ns);
	return ns;
}

static void source_counts(const void *state, struct source_counts *c)
{
	struct recorded_source *s = (struct recorded_source *)(uintptr_t)state;
	struct recorder *r = s->recorder;
	s->inner->counts(s->state, c);
	if (!recorder_writes(r)) return;
	recorder_event(r, RECORD_COUNTS);
	tape_put(&r->tape, place_of(s));
	recorder_difference(r, c->samples, &s->last.samples);
	recorder_difference(r, c->resolved, &s->last.resolved);
	recorder_difference(r, c->unresolved, &s->last.unresolved);
	recorder_difference(r, c->lost, &s->last.lost);
	recorder_difference(r, c->decode_ns, &s->last.decode_ns);
}

static void source_stop(void *state)
{
	const struct recorded_source *s = state;
	s->inner->stop(s->state);
}

static void source_forked(void *state)
{
	const struct recorded_source *s = state;
	s->inner->forked(s->state);
}

/* A hook that the real one lacks, its stand-in lacks too. */
static void stand_for(struct recorder *r, struct recorded_source *s, const struct source_ops *inner)
{
	s->recorder = r;
	s->inner = inner;
	s->ops = (struct source_ops){ .name = inner->name, .sample_ns = inner->sample_ns, .start = source_start,
	                              .price = inner->price ? source_price : NULL, .thread_add = inner->thread_add ? source_add : NULL, .thread_remove = inner->thread_remove ? source_remove : NULL,
	                              .poll = inner->poll ? source_poll : NULL, .set_period = inner->set_period ? source_set_period : NULL,
	                              .counts = inner->counts ? source_counts : NULL, .stop = inner->stop ? source_stop : NULL,
	                              .forked = inner->forked ? source_forked : NULL };
}

/* Of those that are there, the one that this one stands in for, or that that one does. */
static const struct source_ops *better(const struct recorder *r, const struct source_ops *inner)
{
	while ((inner = inner->stands_in_for))
		for (unsigned i = 0; i < r->n_sources; i++)
			if (r->source[i].inner == inner) return &r->source[i].ops;
	return NULL;
}

static void join_sources(struct recorder *r, struct session_setup *setup)
{
	for (; setup->sources && setup->sources[r->n_sources] && r->n_sources < SESSION_SOURCES; r->n_sources++) {
		stand_for(r, &r->source[r->n_sources], setup->sources[r->n_sources]);
		r->own_sources[r->n_sources] = &r->source[r->n_sources].ops;
	}
	for (unsigned i = 0; i < r->n_sources; i++) r->source[i].ops.stands_in_for = better(r, r->source[i].inner);
	if (setup->sources) setup->sources = r->own_sources;
}

/* ---- counters ------------------------------------------------------------------------------------------------------ */

/* Starting has no argument of its own either, and there is one at a time. */
static struct recorder *counting;

static int counter_start(const struct counter_setup *setup, void **state, struct counter_about *about, char why[COUNTER_WHY])
{
	struct recorder *r = counting;
	int ret = r->counters->start(setup, &r->counters_state, about, why);
	*state = r;
	if (!recorder_writes(r)) return ret;
	recorder_event(r, RECORD_COUNTER_START);
	tape_put_signed(&r->tape, ret);
	tape_put_text(&r->tape, ret ? why : "");
	if (ret) return ret;
	tape_put_byte(&r->tape, (about->by_itself ? RECORD_BY_ITSELF : 0) | (about->demand ? RECORD_DEMAND : 0) | (about->named ? RECORD_NAMED : 0));
	tape_put_text(&r->tape, about->events);
	return ret;
}

static int counter_add(void *state, unsigned thread, pid_t tid)
{
	const struct recorder *r = state;
	return r->counters->thread_add(r->counters_state, thread, tid);
}

static void counter_remove(void *state, unsigned thread)
{
	const struct recorder *r = state;
	r->counters->thread_remove(r->counters_state, thread);
}

static int counter_read(void *state, unsigned thread, uint64_t *at_ns, uint64_t value[COUNTERS])
{
	struct recorder *r = state;
	int ret = r->counters->read(r->counters_state, thread, at_ns, value);
	if (!recorder_writes(r)) return ret;
	recorder_event(r, RECORD_COUNTER_READ);
	tape_put_signed(&r->tape, ret);
	if (ret) return ret;
	recorder_difference(r, *at_ns, &r->last_count_ns);
	for (unsigned i = 0; i < COUNTERS; i++) tape_put(&r->tape, value[i]);
	return ret;
}

static void counter_look(void *state, unsigned thread)
{
	const struct recorder *r = state;
	r->counters->look(r->counters_state, thread);
}

static void counter_leave(void *state, unsigned thread)
{
	const struct recorder *r = state;
	r->counters->leave(r->counters_state, thread);
}

static void counter_stop(void *state)
{
	const struct recorder *r = state;
	r->counters->stop(r->counters_state);
}

static void counter_forked(void *state)
{
	const struct recorder *r = state;
	r->counters->forked(r->counters_state);
}

/* ---- eyes ----------------------------------------------------------------------------------------------------------- */

static int scan(void *state, threads_found *found, void *arg)
{
	const struct recorder *r = state;
	return r->eyes->scan(r->eyes_state, found, arg);    /* whom it finds is seen by the witness */
}

static int times(void *state, pid_t tid, struct thread_times *t)
{
	struct recorder *r = state;
	int ret = r->eyes->times(r->eyes_state, tid, t);
	if (!recorder_writes(r)) return ret;
	recorder_event(r, RECORD_TIMES);
	tape_put_signed(&r->tape, ret);
	if (ret) return ret;
	tape_put(&r->tape, t->cpu_os);
	recorder_difference(r, t->ticks, &r->last_ticks);
	return ret;
}

static unsigned ticks_per_s(void *state)
{
	const struct recorder *r = state;
	return r->eyes->ticks_per_s(r->eyes_state);
}

static int balancing(void *state)
{
	struct recorder *r = state;
	int ret = r->eyes->balancing(r->eyes_state);
	if (!recorder_writes(r)) return ret;
	recorder_event(r, RECORD_BALANCING);
	tape_put_signed(&r->tape, ret);
	return ret;
}

struct told {
	struct recorder *recorder;
	kernel_faults_node *node;
	void *arg;
};

static void put_node(void *arg, unsigned node_os, uint64_t n)
{
	const struct told *t = arg;
	tape_put(&t->recorder->part, node_os);
	tape_put(&t->recorder->part, n);
	t->recorder->n_part++;
	if (t->node) t->node(t->arg, node_os, n);
}

static int faults(void *state, pid_t tid, struct kernel_faults *f, kernel_faults_node *node, void *arg)
{
	struct recorder *r = state;
	struct told told = { r, node, arg };
	if (!recorder_writes(r)) return r->eyes->faults(r->eyes_state, tid, f, node, arg);
	r->part.n = r->n_part = 0;
	int ret = r->eyes->faults(r->eyes_state, tid, f, put_node, &told);
	recorder_event(r, RECORD_FAULTS);
	tape_put_signed(&r->tape, ret);
	tape_put(&r->tape, ret ? 0 : f->sum);
	tape_put(&r->tape, r->n_part);
	tape_put_all(&r->tape, &r->part);
	return ret;
}

static const struct eyes_ops recorded_eyes = { scan, times, ticks_per_s, balancing, faults };

/* ---- all ---------------------------------------------------------------------------------------------------------------- */

void recorder_join_ops(struct recorder *r, struct session_setup *setup)
{
	r->clock = setup->clock;
	r->clock_state = setup->clock_state;
	r->hands = setup->hands;
	r->hands_state = setup->hands_state;
	r->own_hands = (struct actuator_ops){ r->hands->name, get_mask, set_mask, locate, move, has_policy, r->hands->split ? split : NULL };
	r->counters = setup->counters;
	if (r->counters)
		r->own_counters = (struct counter_ops){ r->counters->name, counter_start, counter_add, counter_remove, counter_read, counter_look, counter_leave,
		                                        counter_stop, counter_forked };
	counting = r;
	r->eyes = setup->eyes;
	r->eyes_state = setup->eyes_state;
	join_sources(r, setup);
	setup->clock = &recorded_clock;
	setup->clock_state = r;
	setup->hands = &r->own_hands;
	setup->hands_state = r;
	if (r->counters) setup->counters = &r->own_counters;
	if (r->eyes) setup->eyes = &recorded_eyes;
	setup->eyes_state = r;
}
