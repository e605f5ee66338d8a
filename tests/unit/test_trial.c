/* What was moved on trial: noise alone is kept, what got slower is taken back, and not done again for a while. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "made.h"
#include "pure/trial.h"

#define LOOK_NS 100000000ull
#define S 1000000000ull

static struct trial trial;
static uint64_t now;
static uint64_t state;

static double uniform(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double sum = -6;
	for (unsigned i = 0; i < 12; i++) sum += uniform();
	return sum;
}

static void fresh(uint64_t seed)
{
	trial_free(&trial);
	memset(&trial, 0, sizeof trial);
	now = 10 * S;
	state = seed;
}

static void look(uint64_t key, double time, unsigned visits)
{
	struct trial_seen seen = { key, (uint64_t)time, visits };
	trial_see(&trial, &seen);
}

static const struct move thread_move = { .kind = MOVE_THREAD, .thread = 7, .from = 0, .to = 1, .reason = "" };
static const struct move pages_move = { .kind = MOVE_PAGES, .page = 0x1000, .pages = 512, .from = 0, .to = 1, .reason = "" };

static void move_thread(void)
{
	ck_assert_int_eq(trial_moved(&trial, &thread_move, 0, false, now), 0);
}

/* Looks until there is a verdict, `least_ns` and 100 of them at the most. */
struct course { double spread, spikes, slower, rising; unsigned before; /* looks; 0: plenty */ };

static double time_of(const struct course *c, unsigned i, bool after)
{
	double time = 1e6 * exp(c->spread * normal()) * pow(1 + c->rising, i);
	if (uniform() < c->spikes) time *= 5;
	return after ? time * c->slower : time;
}

static enum trial_verdict run(const struct course *c, unsigned *looks, float *slower)
{
	unsigned i = 0;
	enum trial_verdict verdict = TRIAL_OPEN;
	for (; i < (c->before ? c->before : 20); i++) look(1, time_of(c, i, false), 10);
	move_thread();
	for (*looks = 0; *looks < 100 && verdict == TRIAL_OPEN; ++*looks, i++) {
		now += LOOK_NS;
		look(1, time_of(c, i, true), 10);
		verdict = trial_judge(&trial, now, slower);
	}
	return verdict;
}

/* Of 1000 programs, so many are to be found slower: at least, and at most. */
static const struct course_case {
	const char *what;
	struct course course;
	unsigned least, most;
} courses[] = {
	{ "as it was, to the last bit", { 0, 0, 1, 0 }, 0, 0 },
	{ "noise of 2 %", { 0.02, 0, 1, 0 }, 0, 0 },
	{ "noise of 10 %", { 0.1, 0, 1, 0 }, 0, 2 },
	{ "noise of 50 %", { 0.5, 0, 1, 0 }, 0, 4 },
	{ "a fifth of the looks is five times slower", { 0.05, 0.2, 1, 0 }, 0, 3 },
	{ "slower by 3 %: not worth it", { 0.002, 0, 1.03, 0 }, 0, 0 },
	{ "slower by 10 %, clearly", { 0.01, 0, 1.1, 0 }, 980, 1000 },
	{ "slower by 10 %, in noise of 5 %", { 0.05, 0, 1.1, 0 }, 800, 1000 },
	{ "slower by half, in noise of 20 %", { 0.2, 0, 1.5, 0 }, 900, 1000 },
	{ "slower by 20 %, a tenth of the looks five times slower", { 0.02, 0.1, 1.2, 0 }, 800, 1000 },
	{ "faster by 20 %", { 0.05, 0, 0.8, 0 }, 0, 0 },
	{ "slower all along, by 2 % each look", { 0.005, 0, 1, 0.02 }, 0, 0 },
	{ "few looks; noise of 2 %", { 0.02, 0, 1, 0, 3 }, 0, 0 },
	{ "few looks; noise of 10 %", { 0.1, 0, 1, 0, 3 }, 0, 3 },
	{ "few looks; noise of 50 %", { 0.5, 0, 1, 0, 3 }, 0, 4 },
	{ "four looks; noise of 50 %", { 0.5, 0, 1, 0, 4 }, 0, 3 },
	{ "few looks; slower by 3 %: not worth it", { 0.002, 0, 1.03, 0, 3 }, 0, 0 },
	{ "few looks; slower by 10 %, clearly", { 0.01, 0, 1.1, 0, 3 }, 950, 1000 },
	{ "four looks; slower by half, in noise of 5 %", { 0.05, 0, 1.5, 0, 4 }, 980, 1000 },
	{ "few looks; faster by 20 %", { 0.05, 0, 0.8, 0, 3 }, 0, 0 },
	{ "few looks; slower all along, by 2 % each look", { 0.005, 0, 1, 0.02, 3 }, 0, 0 },
};

START_TEST(noise_and_loss)
{
	const struct course_case *c = &courses[_i];
	unsigned worse = 0, looks;
	float slower;
	for (uint64_t seed = 1; seed <= 1000; seed++) {
		fresh(seed * 7919);
		if (run(&c->course, &looks, &slower) != TRIAL_WORSE) continue;
		worse++;
		/* a settling of three, and what a verdict takes; where there were few, some more if those rose by chance */
		ck_assert_uint_le(looks, c->course.before ? 3 + TRIAL_AFTER_FEW + 16 : 3 + TRIAL_AFTER);
		ck_assert(slower >= 0.05f);
	}
	ck_assert_msg(worse >= c->least && worse <= c->most, "%s: %u of 1000", c->what, worse);
}
END_TEST

/* With too little known of before, nothing is judged, and at last given up. */
START_TEST(unknown)
{
	unsigned before = _i ? TRIAL_BEFORE_LEAST : TRIAL_BEFORE_LEAST - 1;
	enum trial_verdict verdict = TRIAL_OPEN;
	float slower;
	fresh(1);
	for (unsigned i = 0; i < before; i++) look(1, 1e6 + i, 10);
	move_thread();
	uint64_t begin = now;
	while (verdict == TRIAL_OPEN) {
		now += LOOK_NS;
		look(1, 2e6 + 1e3 * normal(), 10);
		verdict = trial_judge(&trial, now, &slower);
		ck_assert(now - begin < 31 * S);
	}
	ck_assert_int_eq(verdict, _i ? TRIAL_WORSE : TRIAL_UNKNOWN);
	if (!_i) ck_assert(now - begin >= 30 * S);
}
END_TEST

/* Each move that counts begins the trial anew; tidying does not. */
START_TEST(moves_join)
{
	float slower;
	struct move few = pages_move;
	fresh(1);
	for (unsigned i = 0; i < 16; i++) look(1, 1e6 + 1e3 * normal(), 10);
	ck_assert_int_eq(trial_moved(&trial, &pages_move, 512, false, now), 0);
	for (unsigned i = 0; i < 13; i++) {
		now += LOOK_NS;
		look(1, 2e6 + i, 10);
		ck_assert_int_eq(trial_judge(&trial, now, &slower), TRIAL_OPEN);
		if (i == 10) {
			few.page = 0x2000;
			few.pages = 4;
			ck_assert_int_eq(trial_moved(&trial, _i ? &thread_move : &few, 4, false, now), 0);
		}
	}
	now += LOOK_NS;
	look(1, 2e6, 10);
	ck_assert_int_eq(trial_judge(&trial, now, &slower), _i ? TRIAL_OPEN : TRIAL_WORSE);
}
END_TEST

/* What counts is the time that the program spends in each region. */
START_TEST(regions_by_their_time)
{
	enum trial_verdict verdict = TRIAL_OPEN;
	float slower;
	fresh(3);
	for (unsigned i = 0; i < 16; i++) {
		look(1, 1e6 + 1e3 * normal(), 100);
		look(2, 1e6 + 1e3 * normal(), _i ? 50 : 1);
	}
	move_thread();
	while (verdict == TRIAL_OPEN) {
		now += LOOK_NS;
		look(1, 1e6 + 1e3 * normal(), 100);
		look(2, 1.5e6 + 1e3 * normal(), _i ? 50 : 1);
		verdict = trial_judge(&trial, now, &slower);
	}
	ck_assert_int_eq(verdict, _i ? TRIAL_WORSE : TRIAL_KEPT);
	ck_assert(slower > (_i ? 0.1f : 0) && slower < (_i ? 0.25f : 0.01f));
}
END_TEST

/* ---- taking back ---------------------------------------------------------------------------------------- */

static void get_worse(double factor)
{
	float slower;
	enum trial_verdict verdict = TRIAL_OPEN;
	while (verdict == TRIAL_OPEN) {
		now += LOOK_NS;
		look(1, factor * (1e6 + 1e3 * normal()), 10);
		verdict = trial_judge(&trial, now, &slower);
	}
	ck_assert_int_eq(verdict, TRIAL_WORSE);
}

static unsigned filtered(const struct move *move)
{
	struct plan plan = { 0 };
	ck_assert_int_eq(plan_add(&plan, move), 0);
	unsigned n = trial_filter(&trial, &plan, now);
	ck_assert_uint_eq(plan.n, 1 - n);
	plan_free(&plan);
	return n;
}

/* Two moves of pages and one of a thread are made, hurt, and are taken back. */
static void take_back(struct plan *plan)
{
	struct move more = pages_move;
	more.page = 0x4000;
	more.from = -1;
	for (unsigned i = 0; i < 16; i++) look(1, 1e6 + 1e3 * normal(), 10);
	ck_assert_int_eq(trial_moved(&trial, &pages_move, 500, false, now), 0);
	ck_assert_int_eq(trial_moved(&trial, &more, 512, false, now), 0);
	move_thread();
	get_worse(1.5);
	ck_assert_int_eq(trial_take_back(&trial, plan, "why", now), 0);
}

START_TEST(taken_back)
{
	struct plan plan = { 0 };
	struct move other = pages_move;
	fresh(5);
	take_back(&plan);
	ck_assert_uint_eq(plan.n, 2);   /* what came from several nodes can't go back */
	ck_assert(plan.move[0].kind == MOVE_THREAD && plan.move[0].thread == 7 && plan.move[0].from == 1 && plan.move[0].to == 0);
	ck_assert(plan.move[1].kind == MOVE_PAGES && plan.move[1].page == 0x1000 && plan.move[1].pages == 512 && plan.move[1].from == 1 && plan.move[1].to == 0);
	ck_assert_str_eq(plan.move[0].reason, "why");
	ck_assert_uint_eq(filtered(&thread_move), 1);
	ck_assert_uint_eq(filtered(&pages_move), 1);
	other.page += 511;
	ck_assert_uint_eq(filtered(&other), 1);
	other.page++;
	ck_assert_uint_eq(filtered(&other), 0);
	other = pages_move;
	other.to = 2;
	ck_assert_uint_eq(filtered(&other), 0);
	now += 29 * S;
	ck_assert_uint_eq(filtered(&thread_move), 1);
	now += 2 * S;
	ck_assert_uint_eq(filtered(&thread_move), 0);
	plan_free(&plan);
}
END_TEST

/* The second time it is remembered for twice as long. */
START_TEST(longer_each_time)
{
	struct plan plan = { 0 };
	fresh(6);
	take_back(&plan);
	for (unsigned i = 0; i < 20; i++) look(1, 1e6 + 1e3 * normal(), 10);
	now += 31 * S;
	plan_clear(&plan);
	take_back(&plan);
	now += 59 * S;
	ck_assert_uint_eq(filtered(&thread_move), 1);
	now += 2 * S;
	ck_assert_uint_eq(filtered(&thread_move), 0);
	plan_free(&plan);
}
END_TEST

/* What is no better for being taken back was not the cause, and may be done again; nor is the taking back taken back. */
START_TEST(innocent)
{
	struct plan plan = { 0 };
	enum trial_verdict verdict = TRIAL_OPEN;
	double factor = (const double[]){ 1, 1.5, 3 }[_i];
	float slower;
	fresh(7);
	take_back(&plan);
	for (unsigned i = 0; i < plan.n; i++) ck_assert_int_eq(trial_moved(&trial, &plan.move[i], plan.move[i].pages, true, now), 0);
	while (verdict == TRIAL_OPEN) {
		now += LOOK_NS;
		look(1, factor * (1e6 + 1e3 * normal()), 10);
		verdict = trial_judge(&trial, now, &slower);
	}
	ck_assert_int_eq(verdict, TRIAL_KEPT);
	ck_assert_uint_eq(filtered(&thread_move), factor < 1.2);
	plan_free(&plan);
}
END_TEST

START_TEST(forgotten_thread)
{
	struct plan plan = { 0 };
	fresh(8);
	take_back(&plan);
	trial_forget_thread(&trial, 7);
	ck_assert_uint_eq(filtered(&thread_move), 0);
	ck_assert_uint_eq(filtered(&pages_move), 1);
	move_thread();
	trial_forget_thread(&trial, 7);
	ck_assert_uint_eq(trial.undo.n, 0);
	trial_free(&trial);
	plan_free(&plan);
}
END_TEST

/* Nothing moved, or only held: no trial. */
START_TEST(no_trial)
{
	struct move hold = thread_move;
	float slower;
	fresh(9);
	hold.to = hold.from;
	ck_assert_int_eq(trial_moved(&trial, &hold, 0, false, now), 0);
	ck_assert_int_eq(trial_moved(&trial, &pages_move, 0, false, now), 0);
	ck_assert_int_eq(trial_judge(&trial, now + 100 * S, &slower), TRIAL_OPEN);
	look(1, 0, 10);
	look(1, 1e6, 0);
	ck_assert_uint_eq(trial.n, 0);
	for (unsigned key = 1; key <= TRIAL_REGIONS + 3; key++) look(key, 1e6, 1);
	ck_assert_uint_eq(trial.n, TRIAL_REGIONS);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, noise_and_loss, courses);
	tcase_add_loop_test(tcase, unknown, 0, 2);
	tcase_add_loop_test(tcase, moves_join, 0, 2);
	tcase_add_loop_test(tcase, regions_by_their_time, 0, 2);
	tcase_add_test(tcase, taken_back);
	tcase_add_test(tcase, longer_each_time);
	tcase_add_loop_test(tcase, innocent, 0, 3);
	tcase_add_test(tcase, forgotten_thread);
	tcase_add_test(tcase, no_trial);
}

int main(void)
{
	return made_main("trial", add);
}
