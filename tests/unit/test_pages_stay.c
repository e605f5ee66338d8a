/* The session whole, as test_session.c has it: pages that don't go. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "scene.h"

static const int lasting[] = { -EACCES, -EPERM, -EBUSY, -EFAULT };

/* The pages of the last thread refuse: asked once, and then left alone; the others have gone. */
START_TEST(refusing_pages)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	for (unsigned i = 0; i < 512; i++) s->hands.refuses[3 * 512 + i] = (int16_t)lasting[_i];
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_local(s, 2), 512);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 3 * 512, 512, 0), 512);
	uint64_t asked = s->hands.asked;
	ck_assert_uint_ge(asked, 2 * 512);
	scene_steps(s, 100);
	ck_assert_msg(s->hands.asked == asked, "asked again %llu times", (unsigned long long)(s->hands.asked - asked));
	ck_assert_uint_gt(s->session.totals.failed_moves, 0);
	scene_end(s);
}
END_TEST

/* A full node may have room later: it is tried again, but no more often than the cooldown allows. */
START_TEST(full_node)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	for (unsigned i = 0; i < 1024; i++) s->hands.refuses[1024 + i] = -ENOMEM;
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 60);
	ck_assert_uint_eq(scene_local(s, 2) + scene_local(s, 3), 0);
	ck_assert_uint_le(s->hands.asked, 6 * 1024 + 1024);
	memset(s->hands.refuses, 0, sizeof s->hands.refuses);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_local(s, 2) + scene_local(s, 3), 1024);
	scene_end(s);
}
END_TEST

/* The call as such is refused, as in a container: once is enough, and threads are still bound. */
START_TEST(refused_call)
{
	static const int refusals[] = { -EPERM, -ENOSYS };
	struct scene *s = scene_made(2, 2, 4, 512);
	s->hands.fail[FAKE_MOVE].error = refusals[_i];
	s->hands.fail[FAKE_MOVE].times = UINT64_MAX;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert(s->session.pages_refused);
	uint64_t calls = s->hands.calls[FAKE_MOVE], moved = s->session.totals.thread_moves;
	scene_steps(s, 100);
	ck_assert_uint_eq(s->hands.calls[FAKE_MOVE], calls);
	ck_assert_uint_eq(s->hands.moved, 0);
	ck_assert_uint_gt(s->session.totals.bindings + moved, 0);
	scene_end(s);
}
END_TEST

START_TEST(memory_policy)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	memset(s->hands.policy + 1024, true, 1024);
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert_uint_eq(s->hands.asked, 0);
	uint64_t calls = s->hands.calls[FAKE_HAS_POLICY];
	scene_steps(s, 100);
	ck_assert_uint_eq(s->hands.calls[FAKE_HAS_POLICY], calls);
	scene_end(s);
}
END_TEST

/* Memory that is not there yet is met when it is, whether threads may go to other nodes meanwhile or not. */
START_TEST(absent_pages)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	fake_hands_pages(&s->hands, 1024, 1024, -ENOENT);
	if (_i) ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert_uint_eq(s->hands.asked, 0);
	for (unsigned t = 0; t < 4; t++) ck_assert_int_eq(scene_node(s, t), (int)t / 2);
	fake_hands_pages(&s->hands, 1024, 1024, 0);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, refusing_pages, lasting);
	tcase_add_test(tcase, full_node);
	tcase_add_loop_test(tcase, refused_call, 0, 2);
	tcase_add_test(tcase, memory_policy);
	tcase_add_loop_test(tcase, absent_pages, 0, 2);
}

int main(void)
{
	return made_main("pages_stay", add);
}
