/* Segments: threads apart are told apart, threads that share are not, a page is never in two. */
#include <check.h>
#include <stdlib.h>

#include "made.h"
#include "pure/segments.h"

enum { PAGES = 512, MOST = 2048 };

static int by_page(const void *x, const void *y)
{
	const struct seen *a = x, *b = y;
	return (int)a->page - (int)b->page;
}

/* `n` accesses, each thread in its own part or all everywhere. */
static unsigned look(struct dice *dice, unsigned threads, unsigned n, bool apart, struct seen *seen, struct segment *segment)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned t = dice_below(dice, threads);
		unsigned page = apart ? (t * PAGES + dice_below(dice, PAGES)) / threads : dice_below(dice, PAGES);
		seen[i] = (struct seen){ .page = (uint16_t)page, .thread = (uint16_t)(7 * t), .ticks = 16 };
	}
	qsort(seen, n, sizeof *seen, by_page);
	return segments_find(seen, n, segment);
}

/* They follow each other without a gap, none is empty, no page is in two. */
static void check(const struct seen *seen, unsigned n, const struct segment *s, unsigned segments)
{
	made_hold(segments <= SEGMENTS_MOST && (segments > 0) == (n > 0));
	for (unsigned k = 0; k < segments; k++) {
		made_hold(s[k].first == (k ? s[k - 1].end : 0) && s[k].end > s[k].first);
		if (k) made_hold(seen[s[k].first].page > seen[s[k].first - 1].page);
	}
	if (segments) made_hold(s[segments - 1].end == n);
}

static const struct apart_case { unsigned threads, accesses; } apart_cases[] = {
	{ 2, 16 }, { 2, 200 }, { 3, 36 }, { 4, 60 }, { 8, 120 }, { 16, 320 }, { 32, 2000 }, { 1, 100 },
};

START_TEST(apart)
{
	const struct apart_case *c = &apart_cases[_i];
	static struct seen seen[MOST];
	struct segment segment[SEGMENTS_MOST];
	unsigned right = 0, tries = 50;
	for (unsigned seed = 0; seed < tries; seed++) {
		struct dice dice = { seed };
		unsigned n = look(&dice, c->threads, c->accesses, true, seen, segment);
		check(seen, c->accesses, segment, n);
		right += n == c->threads;
	}
	ck_assert_msg(right * 10 >= tries * 8, "%u of %u", right, tries);
}
END_TEST

static const struct shared_case { unsigned threads, accesses, permille_most; } shared_cases[] = {
	{ 2, 16, 50 }, { 2, 64, 90 }, { 2, 512, 150 }, { 4, 16, 30 }, { 4, 128, 40 }, { 8, 64, 20 }, { 16, 512, 20 }, { 100, 1000, 20 },
};

START_TEST(shared)
{
	const struct shared_case *c = &shared_cases[_i];
	static struct seen seen[MOST];
	struct segment segment[SEGMENTS_MOST];
	unsigned cut = 0, tries = 500;
	for (unsigned seed = 0; seed < tries; seed++) {
		struct dice dice = { seed };
		unsigned n = look(&dice, c->threads, c->accesses, false, seen, segment);
		check(seen, c->accesses, segment, n);
		cut += n > 1;
	}
	ck_assert_msg(cut * 1000 <= tries * c->permille_most, "%u of %u were cut", cut, tries);
}
END_TEST

START_TEST(nothing_and_one_page)
{
	static struct seen seen[MOST];
	struct segment segment[SEGMENTS_MOST];
	ck_assert_uint_eq(segments_find(seen, 0, segment), 0);
	for (unsigned i = 0; i < MOST; i++) seen[i] = (struct seen){ .page = 5, .thread = (uint16_t)(i < MOST / 2), .ticks = 1 };
	ck_assert_uint_eq(segments_find(seen, MOST, segment), 1);
	check(seen, MOST, segment, 1);
}
END_TEST

/* As many parts as pages: as many segments as there may be, and no more. */
START_TEST(too_many)
{
	static struct seen seen[MOST];
	struct segment segment[SEGMENTS_MOST];
	for (unsigned i = 0; i < MOST; i++) seen[i] = (struct seen){ .page = (uint16_t)(i / 4), .thread = (uint16_t)(i / 16), .ticks = 1 };
	unsigned n = segments_find(seen, MOST, segment);
	check(seen, MOST, segment, n);
	ck_assert_uint_gt(n, SEGMENTS_MOST / 4);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, apart, apart_cases);
	made_loop(tcase, shared, shared_cases);
	tcase_add_test(tcase, nothing_and_one_page);
	tcase_add_test(tcase, too_many);
}

int main(void)
{
	return made_main("segments", add);
}
