/* Moves that made the program's regions slower are taken back, and are not made again for a while; others stay. */
#include <check.h>
#include <stdlib.h>

#include "made.h"
#include "scene.h"

enum { BEFORE_STEPS = 20, THREADS = 4, SLICE = 512, FAR = SLICE * THREADS / 2, VISITS = 10 };

static uint64_t chance;

/* 1 to 1.02 */
static double noise(void)
{
	chance = chance * 6364136223846793005ull + 1442695040888963407ull;
	return 1 + 0.02 * (double)(chance >> 40) / (1 << 24);
}

/* Each thread goes through its region; `factor`: as slow as the pages that the last two threads use make it where they are on node 1. */
static void go_through(struct scene *s, double factor)
{
	double ticks = fake_hands_count(&s->hands, FAR, FAR, 1) > FAR / 2 ? factor * 1e6 : 1e6;
	for (unsigned t = 0; t < THREADS; t++) {
		struct region_table *table = &registry_at(&s->registry, t)->regions;
		atomic_store(&table->region[3].key, 0x1001);
		atomic_fetch_add(&table->region[3].count, VISITS);
		atomic_fetch_add(&table->region[3].timed, VISITS);
		atomic_fetch_add(&table->region[3].timed_ticks, (uint64_t)(VISITS * ticks * noise()));
		atomic_store(&table->used, 1u << 3);
	}
}

static void steps(struct scene *s, unsigned n, double factor, bool used)
{
	for (unsigned i = 0; i < n; i++) {
		if (factor > 0) go_through(s, factor);
		if (used) scene_feed(s);
		ck_assert_int_ge(scene_steps(s, 1), 0);
	}
}

/* Four threads on two nodes, the memory of all on node 0: two want theirs on node 1. */
static struct scene *begin(bool unrecorded)
{
	struct scene *s = scene_made(2, 2, THREADS, SLICE);
	s->unrecorded = unrecorded;
	chance = 1;
	ck_assert_uint_eq(fake_hands_count(&s->hands, 0, THREADS * SLICE, 0), THREADS * SLICE);
	ck_assert_int_eq(scene_begin(s, true), 0);
	return s;
}

static unsigned moved(const struct scene *s)
{
	return fake_hands_count(&s->hands, FAR, FAR, 1);
}

static const struct factor_case { const char *what; double factor; bool back; } factors[] = {
	{ "no regions", 0, false }, { "faster", 0.6, false }, { "as before", 1, false }, { "slower by 2 %", 1.02, false },
	{ "slower by 20 %", 1.2, true }, { "three times slower", 3, true },
};

START_TEST(judged)
{
	const struct factor_case *c = &factors[_i];
	struct scene *s = begin(false);
	steps(s, BEFORE_STEPS, c->factor, false);
	unsigned i = 0;
	for (; !moved(s); i++) {
		steps(s, 1, c->factor, true);
		ck_assert_msg(i < 20, "%s: nothing moves", c->what);
	}
	steps(s, 40, c->factor, true);
	ck_assert_msg(moved(s) == (c->back ? 0 : FAR), "%s: %u pages", c->what, moved(s));
	ck_assert_int_eq(s->session.totals.reverts > 0, c->back);
	uint64_t asked = s->hands.moved;
	steps(s, 150, c->factor, true);   /* nor is it tried again soon */
	ck_assert_uint_eq(s->hands.moved, asked);
	scene_end(s);
}
END_TEST

/* After half a minute what is known may be old: it is tried again, found wrong again, and then remembered for a minute. */
START_TEST(tried_again)
{
	struct scene *s = begin(false);
	unsigned i = 0;
	steps(s, BEFORE_STEPS, 1.5, false);
	for (; s->session.totals.reverts == 0; i++) {
		steps(s, 1, 1.5, true);
		ck_assert_uint_lt(i, 100);
	}
	uint64_t reverts = s->session.totals.reverts;
	for (i = 0; s->session.totals.reverts == reverts; i++) {
		steps(s, 1, 1.5, true);
		ck_assert_uint_lt(i, 400);
	}
	ck_assert_uint_ge(i, 290);
	reverts = s->session.totals.reverts;
	steps(s, 590, 1.5, true);
	ck_assert_uint_eq(s->session.totals.reverts, reverts);
	ck_assert_uint_eq(moved(s), 0);
	scene_end(s);
}
END_TEST

/* What was taken back goes within what may be moved in a step, too. */
START_TEST(within_the_budget)
{
	struct scene *s = begin(true);
	steps(s, BEFORE_STEPS, 1.5, false);
	while (moved(s) < FAR) steps(s, 1, 1.5, true);
	s->session.config.budget_mib = 5;   /* 128 pages a step */
	for (unsigned last = FAR; last;) {
		steps(s, 1, 1.5, true);
		ck_assert_uint_le(last - moved(s), 128);
		last = moved(s);
	}
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, judged, factors);
	tcase_add_test(tcase, tried_again);
	tcase_add_test(tcase, within_the_budget);
}

int main(void)
{
	return made_main("session_trial", add);
}
