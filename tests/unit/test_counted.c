/* What counters say of a thread, by tables of readings. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "made.h"
#include "pure/counted.h"

#define MS 1000000ull
#define HALF_LIFE (2000 * MS)

/* Readings every 100 ms of a thread that makes so many accesses in each ns. */
static uint64_t feed(struct counted *c, uint64_t at_ns, unsigned readings, float local, float remote)
{
	uint64_t value[COUNTED_KINDS] = { c->last[COUNTED_LOCAL], c->last[COUNTED_REMOTE] };
	for (unsigned i = 0; i < readings; i++) {
		at_ns += 100 * MS;
		value[COUNTED_LOCAL] += (uint64_t)(local * 100e6f);
		value[COUNTED_REMOTE] += (uint64_t)(remote * 100e6f);
		counted_add(c, at_ns, value, HALF_LIFE);
	}
	return at_ns;
}

static const struct part_case { float local, remote, sampled; enum counted_cover cover; float part; } part_cases[] = {
	{ 0.005f, 0.005f, 0.01f, COUNTED_ALL, 1 },
	{ 0.005f, 0.005f, 0.005f, COUNTED_ALL, 1 },         /* more than samples say: misses overlap */
	{ 0.0005f, 0.0005f, 0.01f, COUNTED_ALL, 0.1f },
	{ 0.0005f, 0.0005f, 0.01f, COUNTED_DEMAND, 0.8f },  /* the prefetcher has the rest */
	{ 0, 0, 0.01f, COUNTED_ALL, 0 },
	{ 0, 0, 0, COUNTED_ALL, 1 },
	{ 0.0001f, 0, 0.01f, COUNTED_DEMAND, 0.08f },
};

START_TEST(part_that_is_true)
{
	const struct part_case *p = &part_cases[_i];
	struct counted c = { 0 };
	feed(&c, 1000 * MS, 30, p->local, p->remote);
	float part = counted_part(&c, p->sampled, p->cover);
	ck_assert_msg(fabsf(part - p->part) < 0.02f, "%f", (double)part);
}
END_TEST

START_TEST(nothing_is_known_at_first)
{
	struct counted c = { 0 };
	ck_assert(!counted_known(&c));
	ck_assert(counted_part(&c, 1, COUNTED_ALL) >= 1);
	uint64_t at = feed(&c, 1000 * MS, 3, 0, 0);
	ck_assert(!counted_known(&c));                        /* three readings are two times */
	feed(&c, at, 1, 0, 0);
	ck_assert(counted_known(&c));
	ck_assert(counted_part(&c, 1, COUNTED_ALL) <= 0);
	ck_assert(counted_remote_share(&c) <= 0);
}
END_TEST

/* The first readings are not drawn to zero by what was not seen before them. */
START_TEST(rate_is_right_at_once)
{
	struct counted c = { 0 };
	feed(&c, 1000 * MS, 4, 0.03f, 0.01f);
	ck_assert(fabsf(c.rate[COUNTED_LOCAL] - 0.03f) < 0.001f);
	ck_assert(fabsf(counted_remote_share(&c) - 0.25f) < 0.01f);
}
END_TEST

START_TEST(half_life)
{
	struct counted c = { 0 };
	uint64_t at = feed(&c, 1000 * MS, 50, 0.04f, 0);
	feed(&c, at, 20, 0, 0);
	ck_assert(fabsf(c.rate[COUNTED_LOCAL] - 0.02f) < 0.002f);
}
END_TEST

/* A counter that was started anew, and a time that goes back, begin again. */
START_TEST(begins_again)
{
	struct counted c = { 0 };
	uint64_t at = feed(&c, 1000 * MS, 20, 0.01f, 0), less[COUNTED_KINDS] = { 5, 0 };
	counted_add(&c, at + 100 * MS, less, HALF_LIFE);
	ck_assert(fabsf(c.rate[COUNTED_LOCAL] - 0.01f) < 0.001f);
	counted_add(&c, at, less, HALF_LIFE);
	ck_assert(fabsf(c.rate[COUNTED_LOCAL] - 0.01f) < 0.001f);
	feed(&c, at, 50, 0.01f, 0);
	ck_assert(fabsf(c.rate[COUNTED_LOCAL] - 0.01f) < 0.001f);
}
END_TEST

static const struct judge_case { float before, settling, after; enum counted_verdict verdict; } judge_cases[] = {
	{ 0.01f, 0.01f, 0, COUNTED_HELPED },
	{ 0.01f, 0.01f, 0.005f, COUNTED_HELPED },
	{ 0.01f, 0.01f, 0.01f, COUNTED_NO_HELP },
	{ 0.01f, 0.01f, 0.0095f, COUNTED_NO_HELP },
	{ 0, 0.01f, 0.01f, COUNTED_NO_HELP },      /* worse than before */
	{ 0.01f, 0.01f, -1, COUNTED_OPEN },        /* it made no accesses: nothing to judge by */
};

START_TEST(judges)
{
	const struct judge_case *j = &judge_cases[_i];
	struct counted c = { 0 };
	uint64_t at = feed(&c, 1000 * MS, 30, 0.01f - j->before, j->before), moved = at;
	counted_moved(&c, moved);
	at = feed(&c, at, 3, 0.01f - j->settling, j->settling);
	for (unsigned i = 0; i < 19; i++) {
		at = feed(&c, at, 1, j->after < 0 ? 0 : 0.01f - j->after, j->after < 0 ? 0 : j->after);
		ck_assert_int_eq(counted_judge(&c, at), COUNTED_OPEN);
	}
	at = feed(&c, at, 1, 0, 0);
	ck_assert_int_eq(counted_judge(&c, at), j->verdict);
	ck_assert_int_eq(counted_judge(&c, at + 10000 * MS), COUNTED_OPEN);      /* told once */
}
END_TEST

/* Moves that come while one is on trial join it: what counts is how it was before the first. */
START_TEST(moves_join)
{
	struct counted c = { 0 };
	uint64_t at = feed(&c, 1000 * MS, 30, 0, 0.01f);
	for (unsigned i = 0; i < 10; i++) {
		counted_moved(&c, at);
		at = feed(&c, at, 5, 0.002f, 0.008f);
		ck_assert_int_eq(counted_judge(&c, at), COUNTED_OPEN);
	}
	at = feed(&c, at, 30, 0.002f, 0.008f);
	ck_assert_int_eq(counted_judge(&c, at), COUNTED_HELPED);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, part_that_is_true, part_cases);
	tcase_add_test(tcase, nothing_is_known_at_first);
	tcase_add_test(tcase, rate_is_right_at_once);
	tcase_add_test(tcase, half_life);
	tcase_add_test(tcase, begins_again);
	made_loop(tcase, judges, judge_cases);
	tcase_add_test(tcase, moves_join);
}

int main(void)
{
	return made_main("counted", add);
}
