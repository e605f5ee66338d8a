/* The evidence: accesses, caches, time, threads, hints to a page; whatever comes in, the chunks of a block cover it. (Where blocks are
 * cut: test_evidence_cut.c.) */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "leaves.h"

/* ---- one access, and several ------------------------------------------------------------------------- */

START_TEST(one_access)
{
	struct evidence *e = leaves_made(CHUNKS);
	ck_assert_uint_eq(leaves_look(e)->n, 0);
	int index = evidence_add(e, 3, BASE + TOP + 12345, SAMPLE_NS);
	const struct leaves *l = leaves_look(e);
	ck_assert_uint_eq(l->n, 1);
	ck_assert_int_eq(index, (int)l->leaf[0].index);
	ck_assert_uint_eq(l->leaf[0].page, (BASE + TOP) >> EVIDENCE_PAGE_SHIFT);
	ck_assert_uint_eq(l->leaf[0].pages, TOP_PAGES);
	ck_assert_uint_eq(l->leaf[0].n_users, 1);
	ck_assert_uint_eq(l->leaf[0].weight[3], (unsigned)(SAMPLE_NS / EVIDENCE_TICK_NS));
	evidence_free(e);
}
END_TEST

START_TEST(wrong_arguments)
{
	struct evidence *e = leaves_made(CHUNKS);
	ck_assert_int_eq(evidence_add(e, THREADS, BASE, SAMPLE_NS), -EINVAL);
	ck_assert_int_eq(evidence_add_range(e, THREADS, BASE, PAGE, SAMPLE_NS), -EINVAL);
	ck_assert_int_eq(evidence_add_range(e, 0, BASE, 0, SAMPLE_NS), -EINVAL);
	evidence_forget_thread(e, THREADS);
	evidence_forget_thread(e, EVIDENCE_NO_THREAD);
	ck_assert_int_ge(evidence_add(e, 0, 0, SAMPLE_NS), 0);
	ck_assert_int_eq(evidence_add(e, 0, UINT64_MAX, SAMPLE_NS), -EINVAL);
	ck_assert_int_eq(evidence_add(e, 0, 1ull << EVIDENCE_ADDRESS_BITS, SAMPLE_NS), -EINVAL);
	ck_assert_int_gt(evidence_add(e, 0, (1ull << EVIDENCE_ADDRESS_BITS) - 1, SAMPLE_NS), 0);
	ck_assert_int_eq(evidence_add_range(e, 0, (1ull << EVIDENCE_ADDRESS_BITS) - PAGE, 2 * PAGE, SAMPLE_NS), -EINVAL);
	ck_assert_int_eq(evidence_add_range(e, 0, PAGE, UINT64_MAX, SAMPLE_NS), -EINVAL);
	ck_assert_int_ge(evidence_add(e, 0, BASE, -1), 0);
	ck_assert_int_ge(evidence_add(e, 0, BASE, 1e30f), 0);
	leaves_check(e, THREADS);
	evidence_free(e);
	evidence_free(NULL);
}
END_TEST

/* Less than a tick at a time adds up. */
START_TEST(small_weights)
{
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 1000; i++) evidence_add(e, 1, BASE + 64 * i, EVIDENCE_TICK_NS / 10.0f);
	unsigned weight = leaves_look(e)->leaf[0].weight[1];
	ck_assert_msg(weight >= 98 && weight <= 101, "%u", weight);
	evidence_free(e);
}
END_TEST

/* A line that the thread has in its cache counts an eighth. */
START_TEST(cached_lines)
{
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 33; i++) {
		evidence_add(e, 1, BASE, SAMPLE_NS);
		evidence_add(e, 2, BASE + TOP + i * 4096 % TOP + i * 64, SAMPLE_NS);
	}
	const struct leaves *l = leaves_look(e);
	unsigned cached = leaves_at(l, BASE)->weight[1], missed = leaves_at(l, BASE + TOP)->weight[2];
	ck_assert_msg(missed == 33 * 16 && cached == 16 + 32 * 2, "%u of cached lines, %u of others", cached, missed);
	evidence_free(e);
}
END_TEST

/* What one thread has in its cache, another may miss. */
START_TEST(caches_are_the_threads_own)
{
	struct evidence *e = leaves_made(CHUNKS);
	evidence_add(e, 1, BASE, SAMPLE_NS);
	evidence_add(e, 2, BASE, SAMPLE_NS);
	ck_assert_uint_eq(leaves_look(e)->leaf[0].weight[1], leaves_look(e)->leaf[0].weight[2]);
	evidence_free(e);
}
END_TEST

/* A loop that runs in a cache beside one that misses: however much of the time it takes, up to three quarters, the
 * one that misses has the greater weight. */
static const struct hot_case { uint64_t hot_bytes, cold_bytes; unsigned percent; } hot_cases[] = {
	{ 4096, 16 * TOP, 50 }, { 32768, 16 * TOP, 75 }, { 262144, 16 * TOP, 75 }, { 262144, 4 * TOP, 50 }, { 524288, 32 * TOP, 60 },
	{ 1048576, 64 * TOP, 50 },
};

START_TEST(hot_loop)
{
	const struct hot_case *c = &hot_cases[_i];
	struct evidence *e = leaves_made(CHUNKS);
	uint64_t seed = 1, cold = 0, hot = 0, hot_end = BASE + c->hot_bytes, cold_start = BASE + 8 * TOP;
	for (unsigned i = 0; i < 2000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t chance = seed >> 33;
		bool in_hot = i * 37 % 100 < c->percent;
		evidence_add(e, 1, in_hot ? BASE + chance * 64 % c->hot_bytes : cold_start + chance * 64 % c->cold_bytes, SAMPLE_NS);
	}
	for (unsigned i = 1; i < evidence_count(e); i++) {
		const struct evidence_chunk *chunk = evidence_chunk(e, i);
		if (chunk->pages) *((uint64_t)chunk->page << EVIDENCE_PAGE_SHIFT < hot_end ? &hot : &cold) += chunk->recent;
	}
	ck_assert_msg(cold > hot, "%" PRIu64 " of the loop that misses, %" PRIu64 " of the one in %" PRIu64 " KiB", cold, hot, c->hot_bytes / 1024);
	evidence_free(e);
}
END_TEST

/* Where all of a thread's memory is alike, all of it counts whole, however little or much it is. */
START_TEST(nothing_hot)
{
	uint64_t bytes = (uint64_t)65536 << 2 * _i, seed = 1, whole = 0, passes = 0;
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 2000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		passes += 160 * 1024 + 64;   /* a sweep: what lies between two samples */
		evidence_add(e, 1, BASE + (_i % 2 ? passes % bytes : (seed >> 33) * 64 % bytes), SAMPLE_NS);
	}
	for (unsigned i = 1; i < evidence_count(e); i++)
		if (evidence_chunk(e, i)->pages) whole += evidence_chunk(e, i)->recent;
	ck_assert_msg(whole > (bytes <= 262144 ? 14000 : 30000), "%" PRIu64 " of 32000 ticks, %" PRIu64 " KiB", whole, bytes / 1024);
	evidence_free(e);
}
END_TEST

/* ---- time ------------------------------------------------------------------------------------------------ */

/* Weights that nobody renews are gone in the end, their chunks with them, and the room can be had again. */
START_TEST(decays)
{
	struct dice dice = { 6 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 300; i++) leaves_touch(e, &dice, i % 8, (uint64_t)(i % 100) * TOP, TOP);
		made_hold(leaves_look(e)->n >= 100);
		for (unsigned i = 0; i < 400; i++) leaves_age(e, HALF_LIFE);
		made_hold(leaves_look(e)->n == 0);
		for (unsigned i = 1; i < evidence_count(e); i++) made_hold(evidence_chunk(e, i)->pages == 0);
	}
	made_hold(evidence_count(e) <= 1000);
	made_hold(evidence_dropped(e) == 0);
	evidence_free(e);
}
END_TEST

/* The window is the time that the weights stand for: it halves with them. */
START_TEST(window)
{
	struct evidence *e = leaves_made(CHUNKS);
	ck_assert(evidence_window_ns(e) == 0);
	leaves_age(e, HALF_LIFE / 4);
	leaves_age(e, HALF_LIFE / 4);
	ck_assert(evidence_window_ns(e) == HALF_LIFE / 2.0);
	leaves_age(e, HALF_LIFE / 2);
	ck_assert(evidence_window_ns(e) == HALF_LIFE / 2.0);
	for (unsigned i = 0; i < 1000; i++) leaves_age(e, HALF_LIFE / 10);
	ck_assert(evidence_window_ns(e) >= HALF_LIFE * 0.9 && evidence_window_ns(e) <= HALF_LIFE * 2.1);
	evidence_free(e);
}
END_TEST

/* Time that was not watched ages what is known, and is not time in which nothing was touched. */
START_TEST(not_watched)
{
	struct evidence *e = leaves_made(CHUNKS);
	evidence_age(e, HALF_LIFE / 2, HALF_LIFE / 10, HALF_LIFE);
	ck_assert(evidence_window_ns(e) == HALF_LIFE / 10.0);
	evidence_age(e, HALF_LIFE / 2, 0, HALF_LIFE);
	ck_assert(evidence_window_ns(e) == HALF_LIFE / 20.0);
	evidence_free(e);
}
END_TEST

/* ---- threads ----------------------------------------------------------------------------------------------- */

START_TEST(forgets)
{
	struct dice dice = { 8 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 2000; i++) leaves_touch(e, &dice, i % 4, (i % 4) * (TOP / 4) + (uint64_t)(i % 3) * TOP, TOP / 4);
	evidence_learn(e);
	for (unsigned gone = 0; gone < 4; gone++) {
		evidence_forget_thread(e, gone);
		leaves_check(e, 4);
		const struct leaves *l = leaves_look(e);
		for (unsigned i = 0; i < l->n; i++)
			for (unsigned t = 0; t <= gone; t++) made_hold(l->leaf[i].weight[t] == 0);
		made_hold(gone == 3 ? l->n == 0 : l->n > 0);
	}
	evidence_free(e);
}
END_TEST

/* What is left over of the old thread's weight and cache is not the new one's. */
START_TEST(forgotten_whole)
{
	struct evidence *e = leaves_made(CHUNKS);
	evidence_add(e, 1, BASE, EVIDENCE_TICK_NS * 0.9f);
	evidence_forget_thread(e, 1);
	evidence_add(e, 1, BASE + 4096, EVIDENCE_TICK_NS * 0.9f);
	ck_assert_uint_eq(leaves_look(e)->n, 0);
	evidence_free(e);
}
END_TEST

/* More threads than are kept: the heavy one stays, the others are counted together. */
START_TEST(many_users)
{
	struct dice dice = { 11 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 400; i++) leaves_touch(e, &dice, i % 3 ? 3 + dice_below(&dice, 50) : 1, 0, TOP);
	const struct leaf *leaf = leaves_at(leaves_look(e), BASE + TOP / 2);
	for (unsigned t = 2; t < THREADS; t++) ck_assert_uint_gt(leaf->weight[1], leaf->weight[t]);
	ck_assert_uint_gt(evidence_chunk(e, leaf->index)->others, 0);
	leaves_check(e, THREADS);
	evidence_free(e);
}
END_TEST

/* ---- bounds ---------------------------------------------------------------------------------------------- */

START_TEST(full)
{
	enum { FEW = 40 };
	struct evidence *e = leaves_made(FEW);
	unsigned refused = 0;
	for (unsigned i = 0; i < 200; i++) {
		int ret = evidence_add(e, i % 7, BASE + (uint64_t)i * 2 * TOP, SAMPLE_NS);
		ck_assert(ret > 0 || ret == -ENOSPC);
		refused += ret < 0;
	}
	ck_assert_uint_gt(refused, 0);
	ck_assert_uint_eq(evidence_dropped(e), refused);
	ck_assert_uint_le(evidence_count(e), FEW + 2);
	/* where there is no room to cut, both stay in the whole */
	struct dice dice = { 1 };
	for (unsigned i = 0; i < 200; i++) leaves_touch(e, &dice, i % 2, i % 2 ? TOP / 2 : 0, TOP / 2);
	evidence_learn(e);
	leaves_check(e, 7);
	ck_assert_int_eq(evidence_add_range(e, 1, BASE + (uint64_t)1000 * TOP, 10 * TOP, SAMPLE_NS), -ENOSPC);
	for (unsigned i = 0; i < 400; i++) leaves_age(e, HALF_LIFE);
	ck_assert_int_gt(evidence_add(e, 1, BASE + (uint64_t)1000 * TOP, SAMPLE_NS), 0);
	evidence_free(e);
}
END_TEST

/* ---- hints ------------------------------------------------------------------------------------------------ */

static const struct range_case { uint64_t from, bytes, first_page, pages; } range_cases[] = {
	{ 0, PAGE, 0, 1 }, { 3 * PAGE, 4 * PAGE, 3, 4 }, { 100, 1, 0, 1 }, { PAGE - 1, 2, 0, 2 }, { 0, TOP, 0, TOP_PAGES },
	{ 0, TOP + 1, 0, TOP_PAGES + 1 }, { 5 * PAGE, 3 * TOP, 5, 3 * TOP_PAGES }, { 511 * PAGE, 2 * PAGE, 511, 2 },
	{ TOP / 2, TOP, TOP_PAGES / 2, TOP_PAGES },
};

START_TEST(ranges)
{
	const struct range_case *c = &range_cases[_i];
	struct evidence *e = leaves_made(CHUNKS);
	uint64_t first = BASE / PAGE, weight = 0, pages = 0;
	for (unsigned i = 0; i < 3; i++) ck_assert_int_eq(evidence_add_range(e, 5, BASE + c->from, c->bytes, (float)c->pages * EVIDENCE_TICK_NS), 0);
	const struct leaves *l = leaves_look(e);
	for (unsigned i = 0; i < l->n; i++) {
		ck_assert_uint_ge(l->leaf[i].page, first + c->first_page);
		ck_assert_uint_le(l->leaf[i].page + l->leaf[i].pages, first + c->first_page + c->pages);
		ck_assert_uint_eq(l->leaf[i].n_users, 1);
		weight += l->leaf[i].weight[5];
		pages += l->leaf[i].pages;
	}
	ck_assert_uint_eq(pages, c->pages);
	ck_assert_uint_gt(weight, 0);
	ck_assert_uint_le(weight, 3 * c->pages + 1);
	leaves_check(e, THREADS);
	evidence_free(e);
}
END_TEST

/* Two threads say which half is theirs, to a page: each page is known to be its own thread's. */
START_TEST(neighbours)
{
	enum { CUT = 777 };
	struct evidence *e = leaves_made(CHUNKS);
	for (unsigned i = 0; i < 50; i++) {
		made_hold(evidence_add_range(e, 1, BASE, CUT * PAGE, 1e9f) == 0);
		made_hold(evidence_add_range(e, 2, BASE + CUT * PAGE, 4 * TOP - CUT * PAGE, 1e9f) == 0);
		leaves_age(e, 100000000);
	}
	const struct leaves *l = leaves_look(e);
	for (unsigned p = 0; p < 4 * TOP_PAGES; p++) {
		const struct leaf *leaf = leaves_at(l, BASE + (uint64_t)p * PAGE);
		made_hold(leaf->weight[p < CUT ? 1 : 2] > 0 && leaf->weight[p < CUT ? 2 : 1] == 0);
	}
	evidence_free(e);
}
END_TEST

/* ---- anything -------------------------------------------------------------------------------------------- */

START_TEST(anything)
{
	struct dice dice = { (uint64_t)_i };
	unsigned threads = 1 + dice_below(&dice, THREADS), blocks = 1 + dice_below(&dice, 30);
	struct evidence *e = leaves_made(64 + dice_below(&dice, 2000));
	for (unsigned i = 0; i < 3000; i++) {
		unsigned t = dice_below(&dice, threads), what = dice_below(&dice, 1000);
		uint64_t addr = BASE + (uint64_t)dice_below(&dice, blocks) * TOP;
		if (what < 900) addr += dice_next(&dice) % (TOP / threads) + (uint64_t)t * (TOP / threads);
		else addr += dice_next(&dice) % TOP;
		if (what < 950) evidence_add(e, t, addr, SAMPLE_NS * 4 * dice_part(&dice));
		else if (what < 960) evidence_learn(e);
		else if (what < 990) evidence_add_range(e, t, addr, 1 + dice_next(&dice) % (3 * TOP), SAMPLE_NS * 100 * dice_part(&dice));
		else if (what < 998) leaves_age(e, dice_next(&dice) % HALF_LIFE);
		else evidence_forget_thread(e, t);
		if (i % 100 == 0) leaves_check(e, threads);
	}
	leaves_check(e, threads);
	evidence_free(e);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, one_access);
	tcase_add_test(tcase, wrong_arguments);
	tcase_add_test(tcase, small_weights);
	tcase_add_test(tcase, cached_lines);
	tcase_add_test(tcase, caches_are_the_threads_own);
	tcase_add_loop_test(tcase, hot_loop, 0, sizeof hot_cases / sizeof hot_cases[0]);
	tcase_add_loop_test(tcase, nothing_hot, 0, 6);
	tcase_add_test(tcase, decays);
	tcase_add_test(tcase, window);
	tcase_add_test(tcase, not_watched);
	tcase_add_test(tcase, forgets);
	tcase_add_test(tcase, forgotten_whole);
	tcase_add_test(tcase, many_users);
	tcase_add_test(tcase, full);
	made_loop(tcase, ranges, range_cases);
	tcase_add_test(tcase, neighbours);
	tcase_add_loop_test(tcase, anything, 0, 100);
}

int main(void)
{
	return made_main("evidence", add);
}
