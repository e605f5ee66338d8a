/* What happened: moves up to a bound, and shares over the run however long it is. */
#include <check.h>
#include <string.h>

#include "history.h"
#include "made.h"

START_TEST(moves)
{
	struct history h;
	history_init(&h);
	for (unsigned i = 0; i < HISTORY_MOVES + 10; i++) {
		struct history_move move = { .time_ns = i, .name = "array" };
		history_add_move(&h, &move);
	}
	ck_assert_uint_eq(h.n_moves, HISTORY_MOVES);
	ck_assert_uint_eq(h.moves_not_kept, 10);
	for (unsigned i = 0; i < HISTORY_MOVES; i++) ck_assert_uint_eq(h.move[i].time_ns, i);
	history_free(&h);
	ck_assert_ptr_null(h.move);
}
END_TEST

START_TEST(nothing)
{
	struct history h;
	history_init(&h);
	ck_assert(history_local_first(&h) == 1001 && history_local_last(&h) == 1001 && history_local_now(&h) == 1001);
	for (unsigned i = 0; i < 1000; i++) history_add_share(&h, 0, 0);
	ck_assert(history_local_first(&h) == 1001 && history_local_last(&h) == 1001 && history_local_now(&h) == 1001);
	history_free(&h);
}
END_TEST

/* Silent, then all remote for a tenth, in the middle half, all local for the last tenth, silent. */
static const unsigned steps[] = { 10, 20, 100, 200, 1000, 12345, 100000 };

START_TEST(shares)
{
	struct history h;
	unsigned n = steps[_i];
	history_init(&h);
	for (unsigned i = 0; i < n; i++) history_add_share(&h, 0, 0);
	for (unsigned i = 0; i < n; i++) history_add_share(&h, i < n / 10 ? 0 : i >= n - n / 10 ? 4 : 2, 4);
	for (unsigned i = 0; i < n; i++) history_add_share(&h, 0, 0);
	unsigned first = history_local_first(&h), last = history_local_last(&h);
	/* a bucket may be half in the one and half in the other */
	ck_assert_msg(first <= 150, "%u", first);
	ck_assert_msg(last >= 850, "%u", last);
	ck_assert_uint_le(h.n_buckets, HISTORY_BUCKETS);
	history_free(&h);
}
END_TEST

START_TEST(now)
{
	struct history h;
	history_init(&h);
	history_add_share(&h, 1, 4);
	ck_assert_uint_eq(history_local_now(&h), 250);
	history_add_share(&h, 3, 4);
	ck_assert_uint_eq(history_local_now(&h), 750);
	ck_assert_uint_eq(history_local_first(&h), 250);
	history_add_share(&h, 0, 0);                                    /* the latest that saw anything */
	ck_assert_uint_eq(history_local_now(&h), 750);
	history_free(&h);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, moves);
	tcase_add_test(tcase, nothing);
	made_loop(tcase, shares, steps);
	tcase_add_test(tcase, now);
}

int main(void)
{
	return made_main("history", add);
}
