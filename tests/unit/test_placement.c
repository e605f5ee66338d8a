/* Where chunks lie: shares from counted pages, entries that follow the chunk of their index, wrapping time. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "made.h"
#include "pure/placement.h"

static const struct fill_case {
	unsigned pages[4];
	int node[PLACEMENT_NODES];      /* -1: none */
	float share[PLACEMENT_NODES];
} fill_cases[] = {
	{ { 512, 0, 0, 0 }, { 0, -1, -1 }, { 1 } },
	{ { 0, 0, 0, 1 }, { 3, -1, -1 }, { 1 } },
	{ { 10, 30, 0, 0 }, { 1, 0, -1 }, { 0.75f, 0.25f } },
	{ { 10, 40, 30, 20 }, { 1, 2, 3 }, { 0.4f, 0.3f, 0.2f } },
	{ { 1, 1, 1, 1 }, { 0, 1, 2 }, { 0.25f, 0.25f, 0.25f } },
	{ { 1000, 1, 0, 0 }, { 0, 1, -1 }, { 1, 0.001f } },   /* few pages are not no pages */
	{ { 0, 0, 0, 0 }, { -1, -1, -1 }, { 0 } },
};

START_TEST(fill)
{
	const struct fill_case *c = &fill_cases[_i];
	struct placement_entry entry = { .flags = PLACEMENT_FIXED };
	memset(entry.where, 0xee, sizeof entry.where);
	placement_fill(&entry, c->pages, 4, 12345);
	bool absent = c->node[0] < 0;
	ck_assert_uint_eq(entry.flags, PLACEMENT_FIXED | PLACEMENT_KNOWN | (absent ? PLACEMENT_ABSENT : 0));
	ck_assert_uint_eq(entry.looked, 123);
	float rest = 1;
	for (unsigned k = 0; k < PLACEMENT_NODES; k++) {
		if (c->node[k] < 0) {
			ck_assert_uint_eq(entry.where[k].share, 0);
			continue;
		}
		ck_assert_int_eq(entry.where[k].node, c->node[k]);
		ck_assert(entry.where[k].share > 0 && fabsf(placement_share(&entry, (unsigned)c->node[k]) - c->share[k]) < 1.0f / PLACEMENT_WHOLE);
		rest -= placement_share(&entry, (unsigned)c->node[k]);
	}
	ck_assert(rest > -2.0f / PLACEMENT_WHOLE);
	ck_assert(placement_share(&entry, 60) == 0);
	if (!absent) return;
	placement_fill(&entry, fill_cases[0].pages, 4, 12345);   /* it came to be there */
	ck_assert_uint_eq(entry.flags, PLACEMENT_FIXED | PLACEMENT_KNOWN);
}
END_TEST

/* What is remembered of a chunk is forgotten when its index means another one. */
START_TEST(entries)
{
	struct placement p = { 0 };
	struct evidence_chunk chunk = { .page = 512, .pages = 512 };
	struct placement_entry *entry = placement_entry(&p, 5, &chunk);
	ck_assert_ptr_nonnull(entry);
	ck_assert_uint_eq(entry->flags, 0);
	entry->flags = PLACEMENT_FIXED;
	ck_assert_ptr_nonnull(placement_entry(&p, 100000, &chunk));   /* grows */
	ck_assert_uint_eq(placement_entry(&p, 5, &chunk)->flags, PLACEMENT_FIXED);
	chunk.pages = 256;
	ck_assert_uint_eq(placement_entry(&p, 5, &chunk)->flags, 0);
	placement_entry(&p, 5, &chunk)->flags = PLACEMENT_MOVED;
	chunk.page = 1024;
	ck_assert_uint_eq(placement_entry(&p, 5, &chunk)->flags, 0);
	placement_free(&p);
	ck_assert_uint_eq(p.room, 0);
}
END_TEST

static const struct age_case { uint64_t then, now; unsigned ms; } age_cases[] = {
	{ 0, 0, 0 }, { 0, 99, 0 }, { 0, 100, 100 }, { 1000, 61000, 60000 },
	{ 6553500, 6553700, 200 },       /* over the wrap */
	{ 0, 6553600, 0 },               /* one round later looks like now */
	{ 13107100, 13107200, 100 },
};

START_TEST(age)
{
	const struct age_case *c = &age_cases[_i];
	ck_assert_uint_eq(placement_age_ms(placement_time(c->then), c->now), c->ms);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, fill, fill_cases);
	tcase_add_test(tcase, entries);
	made_loop(tcase, age, age_cases);
}

int main(void)
{
	return made_main("placement", add);
}
