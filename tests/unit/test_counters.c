/* Counters in the session, which say what they are told: what they change, and what it does without them. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "../stubs/fake_counter.h"
#include "made.h"
#include "scene.h"

/* Four threads on two nodes, all memory on the first; each touches its slice, by samples. */
static struct scene *with_counters(void)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	memset(&fake_counter, 0, sizeof fake_counter);
	fake_counter.clock = &s->clock;
	fake_counter.about.named = true;
	s->counters = &fake_counter_ops;
	return s;
}

static void rate(unsigned thread, float local, float remote)
{
	fake_counter.thread[thread].rate[COUNTER_LOCAL] = local;
	fake_counter.thread[thread].rate[COUNTER_REMOTE] = remote;
}

/* The threads on the second node are served where the counters bear their traffic out, and left alone where
 * the same samples stand for work in caches. */
static const struct busy_case { float remote; bool moves; } busy_cases[] = { { 0.01f, true }, { 0, false } };

START_TEST(traffic_or_not)
{
	struct scene *s = with_counters();
	for (unsigned t = 0; t < 4; t++) rate(t, 0, busy_cases[_i].remote);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_steps(s, 10);                 /* nothing is touched yet: the counters come to be known */
	scene_feed(s);
	scene_steps(s, 30);
	if (busy_cases[_i].moves) ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	else ck_assert_uint_eq(s->hands.asked + s->hands.calls[FAKE_SET_MASK], 0);
	ck_assert_uint_eq(fake_counter.adds, 4);
	scene_end(s);
	ck_assert_uint_eq(fake_counter.stops, 1);
}
END_TEST

/* One alone has traffic: its memory comes, the other's stays. */
START_TEST(one_suffers)
{
	struct scene *s = with_counters();
	rate(2, 0, 0.01f);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_steps(s, 10);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 2 * 512, 512, scene_node(s, 2)), 512);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 3 * 512, 512, 0), 512);
	ck_assert_uint_eq(s->session.counters.remote_permille_now, 1000);
	scene_end(s);
}
END_TEST

/* Moves that leave the remote share as it was: the verdict, and a longer rest. */
START_TEST(no_help)
{
	struct scene *s = with_counters();
	for (unsigned t = 0; t < 4; t++) rate(t, 0.002f, 0.01f);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_steps(s, 10);
	scene_feed(s);
	scene_steps(s, 60);
	ck_assert_uint_gt(s->session.counters.no_help, 0);
	ck_assert_uint_eq(s->session.counters.helped, 0);
	for (unsigned t = 0; t < 4; t++) ck_assert_uint_ge(registry_at(&s->registry, t)->no_help, t >= 2);
	scene_end(s);
}
END_TEST

START_TEST(refused)
{
	struct scene *s = with_counters();
	fake_counter.start_error = -ENOENT;
	fake_counter.why = _i ? NULL : "none here";
	ck_assert_int_eq(scene_begin(s, true), 0);
	ck_assert_str_eq(s->session.counters.why, _i ? "error 2" : "none here");
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	ck_assert_uint_eq(fake_counter.adds + fake_counter.reads, 0);
	scene_end(s);
	ck_assert_uint_eq(fake_counter.stops, 0);
}
END_TEST

START_TEST(off)
{
	struct scene *s = with_counters();
	if (_i) s->counters = NULL;
	else ck_assert_int_eq(nsched_config_set(&s->config, "counters", "off", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	ck_assert_str_eq(s->session.counters.why, _i ? "this build has no PAPI" : "counters=off");
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	scene_end(s);
}
END_TEST

/* Reading fails, at any time: as if there were none. */
START_TEST(reading_fails)
{
	struct scene *s = with_counters();
	fake_counter.read_error = -EIO;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	ck_assert_uint_gt(s->session.counters.remote_permille_now, 1000);
	scene_end(s);
}
END_TEST

/* Counters that nobody asked for by name, and that count nothing for seconds, are not there. */
START_TEST(stays_at_zero)
{
	struct scene *s = with_counters();
	fake_counter.about.named = _i;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 140);
	ck_assert(s->session.counters.on);
	scene_steps(s, 20);
	ck_assert_int_eq(s->session.counters.on, _i);
	scene_steps(s, 10);
	if (!_i) ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	scene_end(s);
	ck_assert_uint_eq(fake_counter.stops, 1);
}
END_TEST

/* Where each thread reads for itself: once in a step, at the moment that it places itself, and when it leaves. */
START_TEST(threads_look)
{
	struct scene *s = with_counters();
	fake_counter.about.by_itself = true;
	ck_assert_int_eq(scene_begin(s, true), 0);
	for (unsigned step = 1; step <= 3; step++) {
		scene_steps(s, 1);
		for (unsigned i = 0; i < 5; i++) registry_place(registry_at(&s->registry, 1));
		ck_assert_uint_eq(fake_counter.looks, step);
	}
	registry_bye(registry_at(&s->registry, 1));
	ck_assert_uint_eq(fake_counter.leaves, 1);
	scene_steps(s, 1);
	ck_assert_uint_eq(fake_counter.removes, 1);
	scene_end(s);
}
END_TEST

/* Read from outside, so many threads that they take turns. */
START_TEST(threads_take_turns)
{
	struct scene *s = scene_made(2, 2, 4, 16);
	memset(&fake_counter, 0, sizeof fake_counter);
	fake_counter.clock = &s->clock;
	s->counters = &fake_counter_ops;
	ck_assert_int_eq(scene_begin(s, false), 0);
	for (pid_t t = 4; t < 1024; t++) {
		struct cpu_mask all = *fake_hands_mask(&s->hands, SCENE_TID);
		fake_hands_thread(&s->hands, SCENE_TID + t, &all);
		ck_assert_ptr_nonnull(registry_add(&s->registry, SCENE_TID + t, true));
	}
	scene_steps(s, 1);
	ck_assert_uint_le(fake_counter.reads, 64);
	scene_steps(s, 100);
	for (uint32_t t = 0; t < 1024; t++)
		ck_assert_msg(counted_known(&registry_at(&s->registry, t)->counted), "thread %u was not read", t);
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, traffic_or_not, busy_cases);
	tcase_add_test(tcase, one_suffers);
	tcase_add_test(tcase, no_help);
	tcase_add_loop_test(tcase, refused, 0, 2);
	tcase_add_loop_test(tcase, off, 0, 2);
	tcase_add_test(tcase, reading_fails);
	tcase_add_loop_test(tcase, stays_at_zero, 0, 2);
	tcase_add_test(tcase, threads_look);
	tcase_add_test(tcase, threads_take_turns);
}

int main(void)
{
	return made_main("counters", add);
}
