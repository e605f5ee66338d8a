/* What the program says of its memory: names, hints, and what is refused. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "ranges.h"

static void made(struct ranges *r)
{
	ranges_init(r, 4, 3);
	ck_assert_int_eq(ranges_attach(r, "second", 0x5000, 0x1000), 0);
	ck_assert_int_eq(ranges_attach(r, "first", 0x1000, 0x2000), 0);
}

/* Against 0x1000-0x3000 and 0x5000-0x6000. */
static const struct attach_case { uint64_t addr, bytes; int result; } attach_cases[] = {
	{ 0x0, 0x1000, 0 }, { 0x0, 0x1001, -EEXIST }, { 0x2fff, 1, -EEXIST }, { 0x3000, 0x2000, 0 }, { 0x3000, 0x2001, -EEXIST },
	{ 0x1000, 0x2000, -EEXIST }, { 0x1800, 1, -EEXIST }, { 0x6000, 0x10, 0 }, { 0x0, 0x10000, -EEXIST }, { 0x2000, 0x3800, -EEXIST },
	{ UINT64_MAX - 10, 10, 0 }, { UINT64_MAX - 10, 12, -EINVAL },
};

START_TEST(attach)
{
	const struct attach_case *c = &attach_cases[_i];
	struct ranges r;
	made(&r);
	ck_assert_int_eq(ranges_attach(&r, "new", c->addr, c->bytes), c->result);
	ck_assert_uint_eq(r.n_ranges, c->result ? 2 : 3);
	for (unsigned i = 1; i < r.n_ranges; i++) ck_assert_uint_le(r.range[i - 1].addr + r.range[i - 1].bytes, r.range[i].addr);
	ranges_free(&r);
}
END_TEST

static const struct name_case { uint64_t addr; const char *name; } name_cases[] = {
	{ 0xfff, "" }, { 0x1000, "first" }, { 0x2fff, "first" }, { 0x3000, "" }, { 0x5000, "second" }, { 0x5fff, "second" }, { 0x6000, "" },
	{ UINT64_MAX, "" },
};

START_TEST(names)
{
	char name[32];
	struct ranges r;
	made(&r);
	ranges_name(&r, name_cases[_i].addr, name);
	ck_assert_str_eq(name, name_cases[_i].name);
	ranges_free(&r);
}
END_TEST

START_TEST(long_name)
{
	char name[32];
	struct ranges r;
	made(&r);
	ck_assert_int_eq(ranges_attach(&r, "a name of more than thirty-one characters", 0x9000, 1), 0);
	ranges_name(&r, 0x9000, name);
	ck_assert_str_eq(name, "a name of more than thirty-one ");
	ranges_free(&r);
}
END_TEST

START_TEST(most)
{
	struct ranges r;
	made(&r);
	ck_assert_int_eq(ranges_attach(&r, "third", 0x7000, 1), 0);
	ck_assert_int_eq(ranges_attach(&r, "fourth", 0x8000, 1), 0);
	ck_assert_int_eq(ranges_attach(&r, "fifth", 0x9000, 1), -ENOSPC);
	ck_assert_int_eq(ranges_detach(&r, 0x7000), 0);
	ck_assert_int_eq(ranges_attach(&r, "fifth", 0x9000, 1), 0);
	ck_assert_int_eq(ranges_hint(&r, 0, 0x1000, 1, 1), 0);
	ck_assert_int_eq(ranges_hint(&r, 1, 0x1000, 1, 1), 0);
	ck_assert_int_eq(ranges_hint(&r, 2, 0x1000, 1, 1), 0);
	ck_assert_int_eq(ranges_hint(&r, 3, 0x1000, 1, 1), -ENOSPC);
	ck_assert_int_eq(ranges_hint(&r, 2, 0x1000, 1, 5), 0);          /* said anew */
	ck_assert_int_eq(ranges_hint(&r, 2, 0x1000, 1, 0), 0);          /* forgotten */
	ck_assert_int_eq(ranges_hint(&r, 3, 0x1000, 1, 1), 0);
	ranges_free(&r);
}
END_TEST

static const struct hint_case { uint64_t addr, bytes; int result; } hint_cases[] = {
	{ 0x1000, 0x2000, 0 }, { 0x1000, 1, 0 }, { 0x2fff, 1, 0 }, { 0x2fff, 2, -ENOENT }, { 0xfff, 2, -ENOENT }, { 0x3000, 1, -ENOENT },
	{ 0x1000, 0x4800, -ENOENT }, { 0x5800, 0x800, 0 }, { 0x6000, 1, -ENOENT }, { 0x1000, UINT64_MAX, -ENOENT },
};

START_TEST(hint)
{
	const struct hint_case *c = &hint_cases[_i];
	struct ranges r;
	made(&r);
	ck_assert_int_eq(ranges_hint(&r, 7, c->addr, c->bytes, 1000), c->result);
	ck_assert_uint_eq(r.n_hints, !c->result);
	ck_assert_int_eq(ranges_hint(&r, 7, c->addr, c->bytes, 0), c->result);
	ck_assert_uint_eq(r.n_hints, 0);
	ranges_free(&r);
}
END_TEST

START_TEST(forgetting)
{
	struct ranges r;
	made(&r);
	ck_assert_int_eq(ranges_detach(&r, 0x1001), -ENOENT);
	ck_assert_int_eq(ranges_detach(&r, 0x3000), -ENOENT);
	ck_assert_int_eq(ranges_hint(&r, 1, 0x1000, 0x1000, 5), 0);
	ck_assert_int_eq(ranges_hint(&r, 2, 0x2000, 0x1000, 5), 0);
	ck_assert_int_eq(ranges_hint(&r, 1, 0x5000, 0x1000, 5), 0);
	ck_assert_int_eq(ranges_hint(&r, 1, 0x5000, 0x1000, 6), 0);
	ck_assert_uint_eq(r.n_hints, 3);
	ranges_forget_thread(&r, 3);
	ck_assert_uint_eq(r.n_hints, 3);
	ranges_forget_thread(&r, 2);
	ck_assert_uint_eq(r.n_hints, 2);
	ck_assert_int_eq(ranges_detach(&r, 0x1000), 0);                 /* with what was said of it */
	ck_assert_uint_eq(r.n_hints, 1);
	ck_assert(r.hint[0].addr == 0x5000 && r.hint[0].thread == 1 && r.hint[0].bytes_per_s == 6);
	ck_assert_int_eq(ranges_detach(&r, 0x1000), -ENOENT);
	ranges_free(&r);
}
END_TEST

static _Atomic bool over;

static void *tell(void *arg)
{
	struct ranges *r = arg;
	while (!atomic_load(&over)) {
		(void)!ranges_attach(r, "late", 0x8000, 0x1000);
		(void)!ranges_hint(r, 1, 0x8000, 0x1000, 5);
		(void)!ranges_detach(r, 0x8000);
	}
	return NULL;
}

/* Closed and opened by one thread while others are in calls: the lock is not made anew under them. */
START_TEST(resetting)
{
	enum { TIMES = 3000, TELLERS = 2 };
	struct ranges r;
	pthread_t teller[TELLERS];
	made(&r);
	atomic_store(&over, false);
	for (unsigned i = 0; i < TELLERS; i++) ck_assert_int_eq(pthread_create(&teller[i], NULL, tell, &r), 0);
	for (unsigned i = 0; i < TIMES; i++) {
		ranges_reset(&r, 0, 0);
		ck_assert_int_eq(ranges_attach(&r, "none", 0x1000, 0x1000), -ENOSPC);
		ranges_reset(&r, 4, 3);
		ck_assert_int_eq(ranges_attach(&r, "mine", 0x1000, 0x1000), 0);
		ck_assert_int_eq(ranges_hint(&r, 2, 0x1000, 0x1000, 5), 0);
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < TELLERS; i++) pthread_join(teller[i], NULL);
	ranges_free(&r);
}
END_TEST

/* Without the lock (0), another thread had it; with it, the forking thread has all. The thread sanitizer does not let go of a lock that
 * nobody will give back. */
#ifdef __SANITIZE_THREAD__
enum { FORKED_FIRST = 1 };
#else
enum { FORKED_FIRST = 0 };
#endif
START_TEST(forked)
{
	struct ranges r;
	made(&r);
	struct range *lost = r.range;
	pthread_mutex_lock(&r.lock);
	ranges_forked(&r, _i == 1);
	ck_assert_uint_eq(r.n_ranges, 0);
	ck_assert_int_eq(ranges_attach(&r, "first", 0x1000, 0x2000), -ENOSPC);   /* until it is opened anew */
	ranges_reset(&r, 4, 3);
	ck_assert_int_eq(ranges_attach(&r, "first", 0x1000, 0x2000), 0);
	if (_i == 0) free(lost);
	ranges_free(&r);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, attach, attach_cases);
	made_loop(tcase, names, name_cases);
	tcase_add_test(tcase, long_name);
	tcase_add_test(tcase, most);
	made_loop(tcase, hint, hint_cases);
	tcase_add_test(tcase, forgetting);
	tcase_add_test(tcase, resetting);
	tcase_add_loop_test(tcase, forked, FORKED_FIRST, 2);
}

int main(void)
{
	return made_main("ranges", add);
}
