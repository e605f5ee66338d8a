/* Plans: what is joined, and the order of moves. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "pure/plan.h"

static const char to_user[] = "to its only user", to_users[] = "to its main users";

/* The second move after the first: joined or not. */
static const struct join_case {
	const char *what;
	struct move move;
	bool joined;
} join_cases[] = {
	{ "the next pages", { MOVE_PAGES, 0, 110, 5, 0, 0, 1, 400, false, 2, 8, to_user }, true },
	{ "a page farther", { MOVE_PAGES, 0, 111, 5, 0, 0, 1, 400, false, 2, 8, to_user }, false },
	{ "the pages before", { MOVE_PAGES, 0, 95, 5, 0, 0, 1, 400, false, 2, 8, to_user }, false },
	{ "to another node", { MOVE_PAGES, 0, 110, 5, 0, 0, 2, 400, false, 2, 8, to_user }, false },
	{ "from another node", { MOVE_PAGES, 0, 110, 5, 0, -1, 1, 400, false, 2, 8, to_user }, false },
	{ "a second time", { MOVE_PAGES, 0, 110, 5, 0, 0, 1, 400, true, 2, 8, to_user }, false },
	{ "for another reason", { MOVE_PAGES, 0, 110, 5, 0, 0, 1, 400, false, 2, 8, to_users }, false },
	{ "a thread", { MOVE_THREAD, 0, 110, 5, 0, 0, 1, 400, false, 2, 8, to_user }, false },
};

START_TEST(joins)
{
	const struct join_case *c = &join_cases[_i];
	struct plan plan = { 0 };
	struct move first = { MOVE_PAGES, 0, 100, 10, 0, 0, 1, 1000, false, 1, 4, to_user };
	ck_assert_int_eq(plan_add(&plan, &first), 0);
	ck_assert_int_eq(plan_add(&plan, &c->move), 0);
	ck_assert_msg(plan.n == (c->joined ? 1 : 2), "%s", c->what);
	if (c->joined) {
		ck_assert_uint_eq(plan.move[0].pages, 15);
		ck_assert_uint_eq(plan.move[0].support, 800);   /* by pages: (1000 x 10 + 400 x 5) / 15 */
		ck_assert(plan.move[0].gain_ns_per_s == 3.0f && plan.move[0].cost_ns == 12.0f);
	}
	plan_free(&plan);
}
END_TEST

START_TEST(threads_are_never_joined)
{
	struct plan plan = { 0 };
	struct move move = { .kind = MOVE_THREAD, .thread = 3, .to = 1, .reason = to_user };
	for (int i = 0; i < 3; i++) ck_assert_int_eq(plan_add(&plan, &move), 0);
	ck_assert_uint_eq(plan.n, 3);
	plan_clear(&plan);
	ck_assert_uint_eq(plan.n, 0);
	plan_sort(&plan);
	plan_free(&plan);
	ck_assert_ptr_null(plan.move);
}
END_TEST

/* Support of large pieces doesn't overflow. */
START_TEST(large_pieces)
{
	struct plan plan = { 0 };
	struct move move = { .kind = MOVE_PAGES, .page = 0, .pages = 1u << 30, .support = 1000, .reason = to_user };
	for (int i = 0; i < 3; i++, move.page += move.pages) ck_assert_int_eq(plan_add(&plan, &move), 0);
	ck_assert_uint_eq(plan.n, 1);
	ck_assert_uint_eq(plan.move[0].pages, 3u << 30);
	ck_assert_uint_eq(plan.move[0].support, 1000);
	plan_free(&plan);
}
END_TEST

/* A number of pages has 32 bits: two pieces that together have more stay two. */
START_TEST(too_large_pieces)
{
	struct plan plan = { 0 };
	struct move move = { .kind = MOVE_PAGES, .page = 0, .pages = 3u << 30, .support = 1000, .reason = to_user };
	for (int i = 0; i < 2; i++, move.page += move.pages) ck_assert_int_eq(plan_add(&plan, &move), 0);
	ck_assert_uint_eq(plan.n, 2);
	plan_free(&plan);
}
END_TEST

START_TEST(order)
{
	static const struct move moves[] = {
		{ MOVE_PAGES, 0, 900, 5, 0, 0, 1, 0, false, 50, 10, to_user },   /* 5 for each ns */
		{ MOVE_PAGES, 0, 800, 5, 0, 0, 1, 0, false, 10, 2, to_user },    /* the same, earlier page */
		{ MOVE_PAGES, 0, 700, 5, 0, 0, 1, 0, false, 100, 10, to_user },  /* 10 */
		{ MOVE_THREAD, 4, 0, 0, 0, 0, 1, 0, false, 0, 100, to_user },    /* threads come first, even for nothing */
		{ MOVE_THREAD, 3, 0, 0, 0, 0, 1, 0, false, 500, 100, to_user },
		{ MOVE_THREAD, 2, 0, 0, 0, 0, 1, 0, false, -5, 100, to_user },
		{ MOVE_THREAD, 1, 0, 0, 0, 0, 1, 0, false, 0, 0, to_user },      /* a hold */
	};
	static const unsigned threads[] = { 3, 1, 4, 2 }, pages[] = { 700, 800, 900 };
	struct plan plan = { 0 };
	for (unsigned i = 0; i < 7; i++) ck_assert_int_eq(plan_add(&plan, &moves[(i + (unsigned)_i) % 7]), 0);
	plan_sort(&plan);
	for (unsigned i = 0; i < 4; i++) ck_assert_uint_eq(plan.move[i].thread, threads[i]);
	for (unsigned i = 0; i < 3; i++) ck_assert_uint_eq(plan.move[4 + i].page, pages[i]);
	plan_free(&plan);
}
END_TEST

/* However the moves come, one order comes out: also where holds cost nothing and gains are 0. */
START_TEST(one_order)
{
	struct dice dice = { (uint64_t)_i };
	struct plan plan = { 0 }, shuffled = { 0 };
	for (unsigned i = 0; i < 40; i++) {
		struct move move = { .kind = dice_below(&dice, 4) ? MOVE_THREAD : MOVE_PAGES, .thread = i, .page = 2 * i, .pages = 1,
		                     .gain_ns_per_s = (float)dice_below(&dice, 3), .cost_ns = (float)dice_below(&dice, 3) * 50, .reason = to_user };
		ck_assert_int_eq(plan_add(&plan, &move), 0);
		ck_assert_int_eq(plan_add(&shuffled, &move), 0);
	}
	for (unsigned i = 39; i > 0; i--) {
		unsigned k = dice_below(&dice, i + 1);
		struct move move = shuffled.move[i];
		shuffled.move[i] = shuffled.move[k];
		shuffled.move[k] = move;
	}
	plan_sort(&plan);
	plan_sort(&shuffled);
	for (unsigned i = 0; i < 40; i++) ck_assert_uint_eq(plan.move[i].thread, shuffled.move[i].thread);
	plan_free(&plan);
	plan_free(&shuffled);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, joins, join_cases);
	tcase_add_test(tcase, threads_are_never_joined);
	tcase_add_test(tcase, large_pieces);
	tcase_add_test(tcase, too_large_pieces);
	tcase_add_loop_test(tcase, order, 0, 7);
	tcase_add_loop_test(tcase, one_order, 0, 50);
}

int main(void)
{
	return made_main("plan", add);
}
