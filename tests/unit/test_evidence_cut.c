/* The evidence: blocks are cut where threads are apart and only there, joined again; strays change nothing. */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leaves.h"

/* Each of some threads in its own part of the block, in any order: afterwards nearly every page belongs to its
 * thread. */
static const struct apart_case { unsigned threads; uint64_t bytes; unsigned accesses; } apart_cases[] = {
	{ 2, TOP, 20 }, { 4, TOP, 20 }, { 8, TOP, 20 }, { 16, TOP, 30 }, { 32, TOP, 60 }, { 2, TOP / 2, 20 }, { 3, TOP, 20 },
	{ 2, TOP / 64, 20 }, { 8, TOP / 8, 40 }, { 8, 7 * TOP / 8, 20 }, { 5, 10 * TOP + 12345, 100 },
};

/* Pages, of a hundred, whose chunk has the thread that uses them as its main user. */
static double right_percent(struct evidence *e, unsigned threads, uint64_t bytes)
{
	const struct leaves *l = leaves_look(e);
	uint64_t part = bytes / threads;
	unsigned right = 0, pages = (unsigned)(bytes / PAGE);
	for (unsigned p = 0; p < pages; p++) {
		unsigned t = (unsigned)((uint64_t)p * PAGE / part), all = 0;
		const struct leaf *leaf = leaves_at(l, BASE + (uint64_t)p * PAGE);
		for (unsigned k = 0; k < threads; k++) all += leaf->weight[k];
		right += t < threads && leaf->weight[t] * 2 > all;
	}
	return 100.0 * right / pages;
}

/* `n` accesses, each of some thread to its own part. */
static void touch_parts(struct evidence *e, struct dice *dice, unsigned n, unsigned threads, uint64_t part)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned t = dice_below(dice, threads);
		leaves_touch(e, dice, t, t * part, part);
	}
}

START_TEST(apart)
{
	const struct apart_case *c = &apart_cases[_i];
	struct dice dice = { 5 };
	struct evidence *e = leaves_made(CHUNKS);
	uint64_t part = c->bytes / c->threads;
	for (unsigned round = 0; round < 4; round++) {
		touch_parts(e, &dice, c->accesses * c->threads, c->threads, part);
		evidence_learn(e);
		leaves_check(e, c->threads);
	}
	double right = right_percent(e, c->threads, c->bytes);
	ck_assert_msg(right >= 90, "%.1f %% of the pages", right);
	evidence_free(e);
}
END_TEST

/* The more is seen, the nearer the borders come to the true ones, and there they stay. */
START_TEST(borders_come_nearer)
{
	struct dice dice = { 3 };
	struct evidence *e = leaves_made(CHUNKS);
	double right = 0;
	for (unsigned round = 0; round < 60; round++) {
		touch_parts(e, &dice, 50, 4, TOP / 4);
		evidence_learn(e);
		leaves_age(e, HALF_LIFE / 20);
		double now = right_percent(e, 4, TOP);
		made_hold(now >= right - 2);
		right = now;
	}
	ck_assert_msg(right > 99, "%.1f %% of the pages", right);
	evidence_free(e);
}
END_TEST

/* Threads that go through their parts: what nobody has come to yet is nobody's. */
START_TEST(sweep)
{
	struct dice dice = { 3 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 100; i++) {
		unsigned t = i % 2;
		leaves_touch(e, &dice, t, t * (TOP / 2) + i / 2 * PAGE, PAGE);
	}
	evidence_learn(e);
	leaves_check(e, 2);
	const struct leaves *l = leaves_look(e);
	for (unsigned t = 0; t < 2; t++) {
		ck_assert_uint_gt(leaves_at(l, BASE + t * (TOP / 2) + 20 * PAGE)->weight[t], 0);
		ck_assert_uint_eq(leaves_at(l, BASE + t * (TOP / 2) + 100 * PAGE)->n_users, 0);
		ck_assert_uint_eq(leaves_at(l, BASE + t * (TOP / 2) + 250 * PAGE)->n_users, 0);
	}
	/* one that comes into the gap does not get all of it */
	leaves_touch(e, &dice, 0, 60 * PAGE, PAGE);
	ck_assert_uint_eq(leaves_at(leaves_look(e), BASE + 250 * PAGE)->n_users, 0);
	evidence_free(e);
}
END_TEST

/* In the first moments a block counts only once it was seen all over; where there is much more memory than can be
 * seen, it counts at once, and goes on to count when more is seen. */
START_TEST(clear)
{
	struct dice dice = { 3 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 40; i++) leaves_touch(e, &dice, 0, 0, TOP / 4);
	evidence_learn(e);
	made_hold(leaves_at(leaves_look(e), BASE)->pages <= TOP_PAGES / 3);
	for (unsigned i = 0; i < 4; i++) leaves_touch(e, &dice, 1, 4 * TOP, TOP);
	evidence_learn(e);
	made_hold(!evidence_is_clear(evidence_chunk(e, leaves_at(leaves_look(e), BASE + 4 * TOP)->index)));
	for (unsigned i = 0; i < 30; i++) leaves_touch(e, &dice, 1, 4 * TOP, TOP);
	evidence_learn(e);
	made_hold(evidence_is_clear(evidence_chunk(e, leaves_at(leaves_look(e), BASE + 4 * TOP)->index)));
	for (unsigned i = 0; i < 1000; i++) leaves_touch(e, &dice, 1, (uint64_t)(5 + i) * TOP, TOP);
	made_hold(evidence_is_clear(evidence_chunk(e, leaves_at(leaves_look(e), BASE + 1000 * TOP)->index)));
	evidence_free(e);
}
END_TEST

/* All threads everywhere in the block: it stays whole, or nearly always does. */
START_TEST(shared)
{
	static const unsigned threads[] = { 2, 3, 4, 8 };
	unsigned cuts = 0, tries = 100;
	for (unsigned seed = 0; seed < tries; seed++) {
		struct dice dice = { seed };
		struct evidence *e = leaves_made(CHUNKS);
		for (unsigned i = 0; i < 200; i++) leaves_touch(e, &dice, dice_below(&dice, threads[_i]), 0, TOP);
		evidence_learn(e);
		cuts += leaves_look(e)->n > 1;
		leaves_check(e, threads[_i]);
		evidence_free(e);
	}
	ck_assert_msg(cuts * 8 <= tries, "%u of %u were cut", cuts, tries);
}
END_TEST

/* One thread alone has no border, however it goes about; what it leaves out is not its. */
START_TEST(alone)
{
	struct dice dice = { 1 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 500; i++) leaves_touch(e, &dice, 1, 0, TOP);
	evidence_learn(e);
	ck_assert_uint_eq(leaves_look(e)->n, 1);
	ck_assert_uint_eq(leaves_look(e)->leaf[0].pages, TOP_PAGES);
	evidence_free(e);
}
END_TEST

/* A thread owns the block; strays of others neither cut it nor take it. */
START_TEST(strays)
{
	struct dice dice = { 9 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 100; i++) leaves_touch(e, &dice, 0, 0, TOP);
	for (unsigned t = 1; t < 8; t++) leaves_touch(e, &dice, t, 0, TOP);
	evidence_learn(e);
	const struct leaves *l = leaves_look(e);
	ck_assert_uint_eq(l->n, 1);
	for (unsigned t = 1; t < 8; t++) ck_assert_uint_gt(l->leaf[0].weight[0], 4 * l->leaf[0].weight[t]);
	evidence_free(e);
}
END_TEST

/* A new owner takes over after some accesses, not at once. */
START_TEST(new_owner)
{
	struct dice dice = { 2 };
	struct evidence *e = leaves_made(CHUNKS);
	unsigned taken = 0;
	for (unsigned i = 0; i < 30; i++) leaves_touch(e, &dice, 0, 0, TOP);
	for (unsigned i = 1; i <= 400 && !taken; i++) {
		leaves_touch(e, &dice, 1, 0, TOP);
		evidence_learn(e);
		if (i % 10 == 0) leaves_age(e, HALF_LIFE);
		const struct leaf *leaf = leaves_at(leaves_look(e), BASE);
		if (leaf->weight[1] > leaf->weight[0]) taken = i;
	}
	ck_assert_msg(taken >= 3 && taken <= 100, "after %u", taken);
	evidence_free(e);
}
END_TEST

/* Two threads change places: what was seen last decides, in a few half-lives. */
START_TEST(change_places)
{
	struct dice dice = { 2 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned round = 0; round < 12; round++) {
		for (unsigned i = 0; i < 40; i++) leaves_touch(e, &dice, i % 2, (i % 2) ^ (round >= 5) ? TOP / 2 : 0, TOP / 2);
		evidence_learn(e);
		leaves_age(e, HALF_LIFE);
	}
	const struct leaves *l = leaves_look(e);
	made_hold(leaves_at(l, BASE + TOP / 4)->weight[1] > 4 * leaves_at(l, BASE + TOP / 4)->weight[0]);
	made_hold(leaves_at(l, BASE + 3 * TOP / 4)->weight[0] > 4 * leaves_at(l, BASE + 3 * TOP / 4)->weight[1]);
	evidence_free(e);
}
END_TEST

/* Two were apart; one is gone: in time they are one again. */
START_TEST(joins)
{
	struct dice dice = { 4 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 200; i++) leaves_touch(e, &dice, i % 2, i % 2 ? TOP / 2 : 0, TOP / 2);
	evidence_learn(e);
	ck_assert_uint_ge(leaves_look(e)->n, 2);
	unsigned used = evidence_count(e);
	evidence_forget_thread(e, 1);
	for (unsigned i = 0; i < 400; i++) {
		leaves_touch(e, &dice, 0, 0, TOP);
		if (i % 20) continue;
		evidence_learn(e);
		leaves_age(e, HALF_LIFE);
	}
	ck_assert_uint_eq(leaves_look(e)->n, 1);
	ck_assert_uint_eq(leaves_look(e)->leaf[0].pages, TOP_PAGES);
	leaves_check(e, THREADS);
	/* what was joined is used again */
	for (unsigned i = 0; i < 200; i++) leaves_touch(e, &dice, i % 2, i % 2 ? TOP / 2 : 0, TOP / 2);
	evidence_learn(e);
	ck_assert_uint_le(evidence_count(e), used + 2);
	evidence_free(e);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, apart, apart_cases);
	tcase_add_test(tcase, borders_come_nearer);
	tcase_add_test(tcase, sweep);
	tcase_add_test(tcase, clear);
	tcase_add_loop_test(tcase, shared, 0, 4);
	tcase_add_test(tcase, alone);
	tcase_add_test(tcase, strays);
	tcase_add_test(tcase, new_owner);
	tcase_add_test(tcase, change_places);
	tcase_add_test(tcase, joins);
}

int main(void)
{
	return made_main("evidence_cut", add);
}
