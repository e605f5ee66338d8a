/* What goes between machines, and placements that fit. */
#include "pure/cut.h"

#include <errno.h>
#include <string.h>

#include "made.h"

enum { MOST = 64 };

static struct cut_graph pairs(unsigned ranks, unsigned distance)
{
	struct cut_graph g = { .ranks = ranks };
	for (unsigned r = 0; r < ranks; r++)
		if (r / distance % 2 == 0) {
			ck_assert_int_eq(cut_add(&g, r, r + distance, 1000), 0);
			ck_assert_int_eq(cut_add(&g, r + distance, r, 500), 0);
		}
	cut_finish(&g);
	return g;
}

START_TEST(bytes_are_counted)
{
	struct cut_graph g = pairs(8, 4);
	unsigned by_four[8] = { 0, 0, 0, 0, 1, 1, 1, 1 }, in_turn[8] = { 0, 1, 0, 1, 0, 1, 0, 1 };
	ck_assert_uint_eq(g.n_edges, 4);
	ck_assert_uint_eq(cut_all(&g), 6000);
	ck_assert_uint_eq(cut_bytes(&g, by_four), 6000);
	ck_assert_uint_eq(cut_bytes(&g, in_turn), 0);
	ck_assert_int_eq(cut_add(&g, 8, 0, 1), -EINVAL);
	ck_assert_int_eq(cut_add(&g, 0, 8, 1), -EINVAL);
	ck_assert_int_eq(cut_add(&g, 3, 3, 1), 0);
	ck_assert_uint_eq(g.n_edges, 4);
	cut_free(&g);
}
END_TEST

/* From any placement, however uneven, one that fits; of pairs it finds the best. */
START_TEST(placements_fit)
{
	struct dice dice = { (uint64_t)_i + 1 };
	unsigned hosts = 2 + dice_below(&dice, 3), each = 2 * (1 + dice_below(&dice, 4)), ranks = hosts * each;
	struct cut_graph g = { .ranks = ranks };
	unsigned slots[MOST], host[MOST], used[MOST] = { 0 };
	for (unsigned r = 0; r < ranks; r += 2) ck_assert_int_eq(cut_add(&g, r, r + 1, 100), 0);
	cut_finish(&g);
	for (unsigned h = 0; h < hosts; h++) slots[h] = each;
	for (unsigned r = 0; r < ranks; r++) host[r] = dice_below(&dice, hosts);
	ck_assert_int_eq(cut_fit(&g, slots, hosts, host), 0);
	for (unsigned r = 0; r < ranks; r++) used[host[r]]++;
	for (unsigned h = 0; h < hosts; h++) ck_assert_uint_eq(used[h], each);
	ck_assert_uint_eq(cut_bytes(&g, host), 0);
	cut_free(&g);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, bytes_are_counted);
	tcase_add_loop_test(tcase, placements_fit, 0, 50);
}

int main(void)
{
	return made_main("cut", add);
}
