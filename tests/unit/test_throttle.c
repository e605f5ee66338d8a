/* What watching may cost: rates go down where samples are dear or many, up again where they are not, and no number of
 * threads is too many. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "made.h"
#include "scene.h"

enum {
	WANTED_NS = 4000000,        /* 250 Hz, the default... */
	CALM_NS = 16 * WANTED_NS,   /* ...and where nothing changes, as in these cases, for long */
};

/* Threads beyond the scene's four, all of which touch one range. */
static struct scene *with_threads(unsigned threads, uint64_t access_ns)
{
	struct scene *s = scene_made(2, 2, 4, 256);
	struct cpu_mask all = *fake_hands_mask(&s->hands, SCENE_TID);
	fake_source.access_ns = access_ns;
	ck_assert_int_eq(nsched_config_set(&s->config, "policy", "stay", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	for (unsigned t = 4; t < threads; t++) {
		fake_hands_thread(&s->hands, SCENE_TID + (pid_t)t, &all);
		ck_assert_ptr_nonnull(registry_add(&s->registry, SCENE_TID + (pid_t)t, true));
	}
	for (unsigned t = 0; t < threads; t++) fake_source_feed(t, SCENE_ADDR, 1024 << 12);
	s->threads = threads;       /* so many are busy, by the clock */
	return s;
}

/* What it is allowed before anything is earned is spent, but for a little. */
static void start_is_over(struct scene *s)
{
	s->session.totals.own_cpu_ns += (uint64_t)session_credit_ns(&s->session) * 9 / 10;
}

/* permille of the program's CPU time that the last steps took, what the start is allowed left out */
static double spent(const struct scene *s, uint64_t own_ns, uint64_t program_ns)
{
	const struct session_totals *t = &s->session.totals;
	return 1000 * (double)(t->own_cpu_ns + t->sampled_ns - own_ns) / (double)(session_program_cpu_ns(&s->session) - program_ns);
}

/* As the helper steps: after the time that the session says. */
static void steps_in_time(struct scene *s, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		fake_clock_pass(&s->clock, session_wait_ms(&s->session) * 1000000, s->threads);
		ck_assert_int_ge(session_step(&s->session), 0);
	}
}

/* Period of the scene's thread, as the source was told. */
static uint64_t period(unsigned thread)
{
	return fake_source.period_ns[thread];
}

/* The longest of the first `n` threads. */
static uint64_t longest(unsigned n)
{
	uint64_t most = 0;
	for (unsigned t = 0; t < n; t++)
		if (period(t) > most) most = period(t);
	return most;
}

/* By threads and by what taking a sample in costs: what is spent in the long run, and the rate. */
static const struct price_case { unsigned threads; uint64_t access_ns; bool slower; } price_cases[] = {
	{ 4, 2000, false },
	{ 4, 400000, true },          /* an emulated machine */
	{ 64, 2000, false },
	{ 64, 60000, true },
	{ 1024, 2000, true },         /* each has its CPU, which earns its samples; but a step takes in only so many */
	{ 1024, 50000, true },
};

START_TEST(costs_are_kept)
{
	const struct price_case *p = &price_cases[_i];
	struct scene *s = with_threads(p->threads, p->access_ns);
	unsigned steps = p->threads > 64 ? 80 : 1500;
	steps_in_time(s, steps);      /* what a start is allowed is used up */
	uint64_t own = s->session.totals.own_cpu_ns + s->session.totals.sampled_ns, program = session_program_cpu_ns(&s->session);
	uint64_t samples = s->session.totals.samples;
	steps_in_time(s, steps);
	double permille = spent(s, own, program);
	bool paid = session_credit_ns(&s->session) >= 0 || permille <= 10.5;
	ck_assert_msg(paid, "%.1f permille, credit %lld", permille, (long long)session_credit_ns(&s->session));
	ck_assert_msg(s->session.source[0].on, "%s", s->session.source[0].why);
	ck_assert_uint_gt(s->session.totals.samples, samples);           /* and it still sees */
	uint64_t wanted = (uint64_t)WANTED_NS << session_calm(&s->session);
	ck_assert_msg((longest(p->threads) > wanted) == p->slower, "a sample every %.1f ms", (double)longest(p->threads) / 1e6);
	scene_end(s);
}
END_TEST

/* 1,024 threads on a machine that has no CPU time for them: fewer samples each, and no failure. */
START_TEST(many_threads_few_samples)
{
	struct scene *s = with_threads(1024, 2000);
	s->threads = 8;               /* the program's CPU time is of eight CPUs */
	start_is_over(s);
	ck_assert_int_ge(scene_steps(s, 200), 0);
	ck_assert_uint_ge(longest(1024), 5 * WANTED_NS);
	uint64_t samples = s->session.totals.samples;
	ck_assert_int_ge(scene_steps(s, 100), 0);
	ck_assert_uint_gt(s->session.totals.samples, samples);
	ck_assert(s->session.source[0].on);
	scene_end(s);
}
END_TEST

/* Samples get cheap again: the rate comes back to what was asked for, and not above. */
START_TEST(up_again)
{
	struct scene *s = with_threads(16, 200000);
	start_is_over(s);
	scene_steps(s, 100);
	for (unsigned t = 0; t < 16; t++) ck_assert_uint_gt(period(t), 2 * WANTED_NS);
	fake_source.access_ns = 500;
	scene_steps(s, 400);
	for (unsigned t = 0; t < 16; t++) {
		ck_assert_uint_le(period(t), CALM_NS);
		ck_assert_uint_ge(period(t), CALM_NS / 13 * 10);         /* small changes are not made */
	}
	scene_end(s);
}
END_TEST

/* One thread runs through code that is new all the time, or its samples are dear for another reason: it alone is slowed. One that runs little is
 * sampled more often while it runs. The others keep what was asked for. */
START_TEST(each_for_itself)
{
	struct scene *s = with_threads(8, 2000);
	fake_source.decode_ns[2] = 6000000;
	fake_source.busy[5] = 0.02f;
	start_is_over(s);
	scene_steps(s, 300);
	uint64_t wanted = (uint64_t)WANTED_NS << session_calm(&s->session);
	for (unsigned t = 0; t < 8; t++) {
		if (t == 2) ck_assert_uint_gt(period(t), wanted * 13 / 10);
		else if (t == 5) ck_assert_uint_lt(period(t), wanted / 2);
		else ck_assert_uint_eq(period(t), wanted);
	}
	fake_source.decode_ns[2] = 0;                                    /* up again, and down again */
	fake_source.busy[5] = 1;
	scene_steps(s, 300);
	for (unsigned t = 0; t < 8; t++) ck_assert_uint_le(period(t), wanted * 13 / 10);
	ck_assert_uint_gt(period(5), wanted / 13 * 10);
	scene_end(s);
}
END_TEST

/* Looked at often until nothing has changed for a while, then at a sixteenth of the rate; a new thread, or one that uses other
 * memory, and it is often again. */
START_TEST(calm)
{
	struct scene *s = scene_made(2, 2, 4, 256);
	struct cpu_mask all = *fake_hands_mask(&s->hands, SCENE_TID);
	uint64_t interval = s->config.interval_ms;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	for (unsigned i = 0; i < 100 && scene_all_local(s) < s->threads * s->slice; i++) {
		ck_assert_uint_eq(session_wait_ms(&s->session), interval);
		scene_steps(s, 1);
	}
	scene_steps(s, 60);
	ck_assert_uint_eq(session_wait_ms(&s->session), 16 * interval);
	scene_steps(s, 60);
	ck_assert_uint_eq(session_wait_ms(&s->session), 16 * interval);
	if (_i == 0) {
		fake_hands_thread(&s->hands, SCENE_TID + 4, &all);
		ck_assert_ptr_nonnull(registry_add(&s->registry, SCENE_TID + 4, true));
		scene_steps(s, 1);
	} else {
		for (unsigned t = 0; t < 4; t++) fake_source_feed(t, SCENE_ADDR + ((uint64_t)(3 - t) * s->slice << 12), (uint64_t)s->slice << 12);
		for (unsigned i = 0; i < 60 && session_wait_ms(&s->session) > interval; i++) scene_steps(s, 1); /* three half-lives */
	}
	ck_assert_uint_eq(session_wait_ms(&s->session), interval);
	scene_end(s);
}
END_TEST

/* A program that waits: nothing is seen, since it sleeps, or since all that is seen is a library's loop. It is looked at seldom; and often again
 * once it works. */
START_TEST(waiting)
{
	struct scene *s = with_threads(4, 2000);
	uint64_t interval = s->config.interval_ms;
	bool sleeps = _i == 0;
	unsigned threads = s->threads, feeds = fake_source.n_feeds;
	if (sleeps) s->threads = fake_source.n_feeds = 0;
	else fake_source.nothing = true;
	scene_steps(s, 60);
	uint64_t samples = s->session.totals.samples;
	scene_steps(s, 20);
	ck_assert_uint_eq(s->session.totals.samples, samples);
	ck_assert_uint_eq(session_wait_ms(&s->session), 16 * interval);
	s->threads = threads;
	fake_source.n_feeds = feeds;
	scene_steps(s, 1);
	ck_assert_uint_eq(session_wait_ms(&s->session), (sleeps ? 1 : 16) * interval);
	scene_end(s);
}
END_TEST

/* The first accesses, if they are a handful, do not say what one costs: what it takes to look at all is spread over so few. It was
 * believed once, and the next two seconds saw next to nothing. */
START_TEST(price_of_few)
{
	struct scene *s = with_threads(4, 400000);
	for (unsigned t = 0; t < 4; t++) fake_source.busy[t] = 0.05f;
	scene_steps(s, 2);
	ck_assert_uint_gt(s->session.totals.samples, 0);
	ck_assert_uint_lt(s->session.totals.samples, 32);
	ck_assert(!s->session.priced);
	for (unsigned t = 0; t < 4; t++) fake_source.busy[t] = 1;
	scene_steps(s, 3);
	ck_assert(s->session.priced);
	ck_assert_float_eq_tol(s->session.access_ns, 400000, 1000);
	scene_end(s);
}
END_TEST

/* Nearly all is lost, whatever the rate: it is dropped, with the reason; one that loses for a while only is not. */
START_TEST(flood)
{
	struct scene *s = with_threads(4, 2000);
	fake_source.flood = 10000000;
	if (_i) {
		scene_steps(s, 20);
		fake_source.flood = 0;
	}
	scene_steps(s, 200);
	ck_assert_int_eq(s->session.source[0].on, _i);
	ck_assert_uint_eq(fake_source.stops, !_i);
	if (!_i) ck_assert_str_eq(s->session.source[0].why, "stopped: more samples came than could be taken in, at the lowest rate");
	scene_end(s);
}
END_TEST

/* What a start may take goes by what samples take here: on a machine where they are a hundred times as dear, so is the start. */
static const struct start_case { uint64_t access_ns; double least_ms, most_ms; } start_cases[] = { { 2000, 20, 100 }, { 200000, 2000, 5000 } };

START_TEST(start_is_by_price)
{
	struct scene *s = with_threads(4, start_cases[_i].access_ns);
	scene_steps(s, 5);
	ck_assert(s->session.priced);
	uint64_t spent_ns = s->session.totals.own_cpu_ns + s->session.totals.sampled_ns, earned_ns = session_program_cpu_ns(&s->session) / 100;
	double ms = (double)(session_credit_ns(&s->session) + (int64_t)spent_ns - (int64_t)earned_ns) / 1e6;
	ck_assert_msg(ms >= start_cases[_i].least_ms && ms <= start_cases[_i].most_ms, "%.1f ms", ms);
	scene_end(s);
}
END_TEST

/* What samples take of the program's threads is counted too, not the helper's time alone. */
START_TEST(signals_are_counted)
{
	struct scene *s = with_threads(4, 0);
	scene_steps(s, 100);
	ck_assert_uint_eq(s->session.totals.own_cpu_ns, 0);
	ck_assert_uint_eq(s->session.totals.sampled_ns, fake_source.samples * FAKE_SOURCE_SAMPLE_NS);
	ck_assert_uint_gt(s->session.totals.sampled_ns, 0);
	scene_end(s);
}
END_TEST

/* ---- threads that a source has no room for ----------------------------------------------------------------- */

static struct { unsigned room, asked, starts; } narrow;

static int narrow_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	(void)setup;
	(void)why;
	narrow.starts++;
	*state = &narrow;
	return 0;
}

static int narrow_add(void *state, unsigned thread, pid_t tid)
{
	(void)state;
	(void)thread;
	(void)tid;
	return narrow.asked++ < narrow.room ? 0 : -EPERM;
}

static const struct source_ops narrow_ops = { .name = "narrow", .start = narrow_start, .thread_add = narrow_add };

/* Rings for so many: the others are watched by what stands in, which is started when it is first needed, and gets
 * those only. */
START_TEST(no_room)
{
	static const unsigned rooms[] = { 4, 1, 0 };
	struct source_ops standing_in = fake_source_ops;
	const struct source_ops *const sources[] = { &narrow_ops, &standing_in, NULL };
	struct scene *s = scene_made(2, 2, 4, 256);
	standing_in.stands_in_for = &narrow_ops;
	s->sources = sources;
	narrow.room = rooms[_i];
	narrow.asked = narrow.starts = 0;
	ck_assert_int_eq(scene_begin(s, true), 0);
	ck_assert_str_eq(s->session.source[1].why, "not needed: narrow works");
	scene_steps(s, 3);
	ck_assert_uint_eq(narrow.asked, 4);
	ck_assert_uint_eq(s->session.source[0].refused, 4 - narrow.room);
	ck_assert_uint_eq(fake_source.starts, narrow.room < 4);
	ck_assert_uint_eq(fake_source.adds, 4 - narrow.room);
	ck_assert_int_eq(s->session.source[1].on, narrow.room < 4);
	scene_end(s);
}
END_TEST

/* What stands in refuses to start: asked once, and the threads go unwatched. */
START_TEST(no_room_anywhere)
{
	struct source_ops standing_in = fake_source_ops;
	const struct source_ops *const sources[] = { &narrow_ops, &standing_in, NULL };
	struct scene *s = scene_made(2, 2, 4, 256);
	standing_in.stands_in_for = &narrow_ops;
	s->sources = sources;
	narrow.room = narrow.asked = 0;
	fake_source.start_error = -EBUSY;
	fake_source.why = "the program uses it";
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_steps(s, 3);
	ck_assert_uint_eq(fake_source.starts, 1);
	ck_assert_str_eq(s->session.source[1].why, "the program uses it");
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, costs_are_kept, price_cases);
	tcase_add_test(tcase, many_threads_few_samples);
	made_loop(tcase, start_is_by_price, start_cases);
	tcase_add_test(tcase, up_again);
	tcase_add_test(tcase, price_of_few);
	tcase_add_test(tcase, each_for_itself);
	tcase_add_loop_test(tcase, calm, 0, 2);
	tcase_add_loop_test(tcase, waiting, 0, 2);
	tcase_add_loop_test(tcase, flood, 0, 2);
	tcase_add_test(tcase, signals_are_counted);
	tcase_add_loop_test(tcase, no_room, 0, 3);
	tcase_add_test(tcase, no_room_anywhere);
}

int main(void)
{
	return made_main("throttle", add);
}
