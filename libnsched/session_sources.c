#include <errno.h>
#include <stdio.h>

#include "pure/evidence_seen.h"
#include "session.h"

enum {
	POLL_MOST = 16384,           /* accesses taken from a source in one step: 2 to 5 ms of decoding at the worst */
	POLL_LEAST = 64,             /* and at the least, however dear they are: something has to be seen */
	CREDIT_PARTS = 4,            /* a step spends no more than one part in so many of what may be spent */
	FLOOD_LOST = 8,              /* times as many lost as taken in, ... */
	FLOOD_MORE = 2,              /* ...and so many times more than come at the lowest rate: whatever this is, it is not sampling... */
	FLOOD_STEPS = 30,            /* ...if it stays so for this many steps, in which rates have long gone down */
	POLL_NS = 200000000,         /* and no longer than this: what is known should be acted upon; less where nothing changes */
	HINTS_OUTLIVE = 16,          /* times as long as samples count, where they are all that is seen: half a minute */
	SAMPLED_STEPS = 50,          /* steps for which a program counts as sampled after its last sample */
	ACCESS_NS = 2000,            /* price of taking in an access before it is measured... */
	UNPRICED_MOST = 256,         /* ...for which so many are enough */
	PRICE_LEAST = 32,            /* accesses whose time is their price: that of a few is the price of looking at all */
};
#define SEEN_LEAST 0.02f             /* less than a fiftieth of the samples taken in is no measure of anything */
#define HINTED_SHARE 0.5f            /* of a thread's time is taken to go to memory, where only its faults are known */
#define HINT_NS 250000.0f            /* a fault's weight at the most: a tick of evidence, so that 20 pages of a chunk say whose it is */
#define HINTS_OVER_NS 5e9f           /* their rate is a mean over about so long */
#define LEARN_RATE 0.3f              /* weight of a new measurement of that price */

static bool is_on(const struct session *s, const struct source_ops *ops)
{
	for (unsigned i = 0; i < s->n_sources; i++)
		if (s->source[i].ops == ops && s->source[i].on) return true;
	return false;
}

/* The better one that makes this one needless, NULL without. */
static const struct source_ops *better(const struct session *s, const struct source_ops *ops)
{
	while ((ops = ops->stands_in_for))
		if (is_on(s, ops)) return ops;
	return NULL;
}

static void start(struct session *s, struct session_source *src)
{
	struct source_setup setup = { .max_threads = REGISTRY_THREADS, .period_ns = s->period_ns, .self = src->ops };
	uint64_t begin = s->clock->now_ns(s->clock_state);
	src->why[0] = 0;
	int ret = src->ops->start(&setup, &src->state, src->why);
	src->start_ns = s->clock->now_ns(s->clock_state) - begin;
	src->on = ret == 0;
	if (src->on) src->sample_ns = src->ops->price ? src->ops->price(src->state) : src->ops->sample_ns;
	if (!src->on && !src->why[0]) snprintf(src->why, sizeof src->why, "error %d", -ret);
	if (src->on) src->why[0] = 0;
}

/* The source that stands in for `ops`, started if it has to be; NULL without one. */
static struct session_source *substitute(struct session *s, const struct source_ops *ops)
{
	for (unsigned i = 0; i < s->n_sources; i++) {
		struct session_source *src = &s->source[i];
		if (src->ops->stands_in_for != ops) continue;
		if (!src->on && src->needless) start(s, src);
		src->needless = false;
		return src->on ? src : NULL;
	}
	return NULL;
}

/* Rings for perf_event are few (a user has about 128 of them, others may hold some): threads that find none left are
 * watched by what stands in. */
void session_watch(struct session *s, struct nsched_thread *t)
{
	for (unsigned i = 0; i < s->n_sources; i++) {
		struct session_source *src = &s->source[i];
		if (better(s, src->ops)) continue;   /* for those that the better one refuses, and for nobody else */
		while (src && src->on && src->ops->thread_add) {
			int ret = src->ops->thread_add(src->state, t->number, t->tid);
			if (ret >= 0 && src->ops->set_period) session_rate_begin(s, t->number);
			if (ret >= 0 || ret == -ESRCH) break;
			src->refused++;
			src = substitute(s, src->ops);
		}
	}
}

void session_start_sources(struct session *s, const struct source_ops *const *sources)
{
	s->period_ns = s->config.sample_hz ? 1000000000 / s->config.sample_hz : 0;
	s->access_ns = ACCESS_NS;
	for (unsigned i = 0; sources && sources[i] && s->n_sources < SESSION_SOURCES; i++) {
		struct session_source *src = &s->source[s->n_sources++];
		src->ops = sources[i];
		if (better(s, src->ops)) {
			snprintf(src->why, sizeof src->why, "not needed: %s works", better(s, src->ops)->name);
			src->needless = true;
			continue;
		}
		start(s, src);
	}
}

static void count(struct session_source *src)
{
	if (src->on && src->ops->counts) src->ops->counts(src->state, &src->counts);
}

void session_count_sources(struct session *s)
{
	for (unsigned i = 0; i < s->n_sources; i++) count(&s->source[i]);
}

static void stop(struct session_source *src)
{
	if (!src->on) return;
	count(src);
	src->on = false;
	if (src->ops->stop) src->ops->stop(src->state);
	src->state = NULL;
}

void session_stop_sources(struct session *s)
{
	for (unsigned i = 0; i < s->n_sources; i++) {
		if (s->source[i].on) snprintf(s->source[i].why, sizeof s->source[i].why, "stopped at the end");
		stop(&s->source[i]);
	}
}

/* An even choice among all accesses of the step (Vitter's reservoir, with a small generator of its own
 * that needs no seed: what matters is that no address is preferred). */
static void remember_probe(struct session *s, const struct access *a)
{
	uint64_t k = s->probes_seen++;
	if (s->n_probes < SESSION_PROBES) {
		k = s->n_probes++;
	} else {
		k = (k * 0x9e3779b97f4a7c15ull >> 32) % s->probes_seen;
		if (k >= SESSION_PROBES) return;
	}
	s->probe[k].addr = a->addr;
	s->probe[k].thread = a->thread;
	s->probe[k].weight = a->weight_ns;
}

static bool only_hints(const struct session *s)
{
	bool sampled = s->sampled_step && s->totals.steps - s->sampled_step < SAMPLED_STEPS;
	return s->kernel.balances && !sampled;
}

/* Hinting faults come more and more rarely, up to a minute from one to the next, where the kernel finds all well. */
uint64_t session_half_life_ns(const struct session *s)
{
	return s->config.half_life_ms * 1000000 * (only_hints(s) ? HINTS_OUTLIVE : 1);
}

/* Where the kernel's hinting faults are all that is seen, they stand for the time that threads are taken to spend on
 * memory: they say whose a page is, not how much it is used. (A page that is seen for the first time has been touched
 * before, most likely: where the kernel balances, the two can't be told apart.) */
static float weight_of(struct session *s, const struct access *a)
{
	if (a->kind == ACCESS_SAMPLE) s->sampled_step = s->totals.steps;
	if (!only_hints(s)) return a->weight_ns;
	s->hints++;
	float threads = s->situation.n_threads ? (float)s->situation.n_threads : 1;
	float each = s->hints_per_ns > 0 ? HINTED_SHARE * threads / s->hints_per_ns : HINT_NS;
	return each < HINT_NS ? each : HINT_NS;
}

/* The rate over some passes of the kernel over the program's memory, which come once a second or more rarely. */
static void count_hints(struct session *s, uint64_t passed_ns)
{
	float part = (float)passed_ns / HINTS_OVER_NS;
	if (part > 1) part = 1;
	if (passed_ns) s->hints_per_ns += part * ((float)s->hints / (float)passed_ns - s->hints_per_ns);
	s->hints = 0;
}

static void put(void *arg, const struct access *a)
{
	struct session *s = arg;
	s->totals.samples++;
	evidence_add(s->evidence, a->thread, a->addr, weight_of(s, a));
	if (a->kind != ACCESS_FIRST_TOUCH) remember_probe(s, a);
}

/* What a sample takes of the program's threads, for the dearest of the sources that come by the clock. */
unsigned session_sample_ns(const struct session *s)
{
	unsigned most = 0;
	for (unsigned i = 0; i < s->n_sources; i++)
		if (s->source[i].on && s->source[i].sample_ns > most) most = s->source[i].sample_ns;
	return most;
}

/* What can be paid for, and what is kept: where a sample is dear, a step should rather come soon. */
static unsigned affordable(const struct session *s)
{
	double credit = (double)session_credit_ns(s) / CREDIT_PARTS, each = (double)s->access_ns + session_sample_ns(s);
	double longest = POLL_NS >> session_calm(s), n = (credit < longest ? credit : longest) / each;
	unsigned most = s->priced ? SEEN_EACH * s->registry->seen_n : UNPRICED_MOST;
	if (most > POLL_MOST) most = POLL_MOST;
	return n < POLL_LEAST || most < POLL_LEAST ? POLL_LEAST : n > most ? most : (unsigned)n;
}

struct taken {
	uint64_t samples, lost, decode_ns;
};

/* One that can't be slowed down, and of which next to nothing can be taken in, only costs. */
static void watch_flood(const struct session *s, struct session_source *src, const struct taken *taken, uint64_t passed_ns)
{
	double slowest = (double)s->registry->seen_n * (double)passed_ns / (double)session_period_longest(s);
	bool flood = (double)taken->lost > FLOOD_MORE * slowest && taken->lost > FLOOD_LOST * (taken->samples + 1);
	src->flooded = flood ? src->flooded + 1 : 0;
	if (src->flooded < FLOOD_STEPS) return;
	snprintf(src->why, sizeof src->why, "stopped: more samples came than could be taken in, at the lowest rate");
	stop(src);
}

/* Takes in what one source has: what came of it, and what that cost is charged. The number taken in. */
static unsigned poll_source(struct session *s, struct session_source *src, const struct sink *sink, unsigned most, uint64_t passed_ns,
                            struct taken *all)
{
	struct source_counts before = src->polled;
	uint64_t begin = s->clock->own_cpu_ns(s->clock_state);
	int ret = src->ops->poll(src->state, sink, most);
	src->own_cpu_ns += s->clock->own_cpu_ns(s->clock_state) - begin;
	count(src);
	src->polled = src->counts;
	struct taken taken = { .samples = src->counts.samples - before.samples, .lost = src->counts.lost - before.lost,
	                       .decode_ns = src->counts.decode_ns - before.decode_ns };
	s->totals.sampled_ns += (taken.samples + taken.lost) * src->sample_ns;
	all->samples += taken.samples;
	all->lost += taken.lost;
	all->decode_ns += taken.decode_ns;
	if (ret < 0) {
		source_lost(ret, src->why);
		stop(src);
		return 0;
	}
	watch_flood(s, src, &taken, passed_ns);
	return (unsigned)ret;
}

/* How many of the samples that came were taken in. */
static float seen_of(const struct taken *all)
{
	float seen = all->samples + all->lost ? (float)all->samples / (float)(all->samples + all->lost) : 1;
	return seen < SEEN_LEAST ? SEEN_LEAST : seen;
}

/* The CPU time that it took. */
uint64_t session_poll_sources(struct session *s, uint64_t passed_ns)
{
	struct sink sink = { put, s, session_rates_take };
	unsigned most = affordable(s), taken = 0;
	uint64_t begin = s->clock->own_cpu_ns(s->clock_state);
	struct taken all = { 0 };
	s->n_probes = 0;
	s->probes_seen = 0;
	for (unsigned i = 0; i < s->n_sources; i++) {
		struct session_source *src = &s->source[i];
		if (src->on && src->ops->poll) taken += poll_source(s, src, &sink, most, passed_ns, &all);
	}
	uint64_t cost = s->clock->own_cpu_ns(s->clock_state) - begin;
	uint64_t each_time = cost > all.decode_ns ? cost - all.decode_ns : 0; /* code is decoded once */
	if (taken >= PRICE_LEAST) {
		s->access_ns += (s->priced ? LEARN_RATE : 1) * ((float)each_time / (float)taken - s->access_ns);
		s->priced = true;   /* the first measurement is worth more than the guess before it */
	}
	s->seen = seen_of(&all);
	s->taken = all.samples;
	session_set_rates(s, most, passed_ns);
	count_hints(s, passed_ns);
	return cost;
}
