/* The situation: a plain value that grows, its local share, its horizon. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "made.h"

START_TEST(grows)
{
	struct machine m;
	struct situation s;
	made_machine(&m, 2, 2);
	made_situation(&s, &m);
	for (unsigned i = 0; i < 1000; i++) {
		made_thread(&s, i, (int)(i % 2));
		struct situation_chunk *chunk = situation_add_chunk(&s);
		ck_assert_ptr_nonnull(chunk);
		ck_assert(chunk->n_uses == 0 && chunk->first_use == s.n_uses && !chunk->fixed && chunk->pages == 0);
		for (unsigned k = 0; k < SITUATION_WHERE; k++) ck_assert_int_eq(chunk->where[k].node, -1);
		for (unsigned u = 0; u < i % 4; u++) made_use(&s, i, 0.5f);
		ck_assert_uint_eq(s.chunk[i].n_uses, i % 4);
		ck_assert(fabsf(situation_traffic(&s, &s.chunk[i]) - 0.5f * (float)(i % 4)) < 1e-6f);
	}
	ck_assert_uint_eq(s.thread[999].number, 999);
	ck_assert_uint_eq(s.chunk[3].first_use, 3);   /* 0 + 1 + 2 */
	situation_clear(&s);
	ck_assert(s.n_threads == 0 && s.n_chunks == 0 && s.n_uses == 0 && s.room_threads >= 1000 && s.machine == &m);
	struct situation_thread *thread = situation_add_thread(&s);   /* zeroed, though used before */
	ck_assert(thread->number == 0 && thread->node == -1 && thread->home == -1 && thread->load == 0);
	situation_free(&s);
	ck_assert_ptr_null(s.thread);
	machine_free(&m);
}
END_TEST

static const struct local_case { int thread; float on[2]; unsigned permille; } local_cases[] = {
	{ 0, { 1, 0 }, 1000 }, { 1, { 1, 0 }, 0 }, { 0, { 0.25f, 0.75f }, 250 }, { 1, { 0.25f, 0.75f }, 750 },
	{ -1, { 1, 0 }, 1001 },
};

START_TEST(local)
{
	const struct local_case *c = &local_cases[_i];
	struct machine m;
	struct situation s;
	made_machine(&m, 2, 2);
	made_situation(&s, &m);
	ck_assert_uint_eq(situation_local_permille(&s), 1001);
	made_thread(&s, 5, c->thread);
	made_chunk(&s, 4, -1);
	for (int k = 0; k < 2; k++) {
		s.chunk[0].where[k].node = (int16_t)k;
		s.chunk[0].where[k].share = c->on[k];
	}
	ck_assert_uint_eq(situation_local_permille(&s), 1001);
	made_use(&s, 0, 0.004f);
	ck_assert_uint_eq(situation_local_permille(&s), c->permille);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* At least as long as it has run, no less than some seconds, no more than an hour. */
START_TEST(horizon)
{
	struct situation s = { .age_ns = 0 };
	uint64_t least = situation_horizon_ns(&s), hour = 3600000000000ull;
	ck_assert(least >= 1000000000ull && least <= 10000000000ull);
	s.age_ns = least + 1;
	ck_assert_uint_eq(situation_horizon_ns(&s), least + 1);
	s.age_ns = hour;
	ck_assert_uint_eq(situation_horizon_ns(&s), hour);
	s.age_ns = UINT64_MAX;
	ck_assert_uint_eq(situation_horizon_ns(&s), hour);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, grows);
	made_loop(tcase, local, local_cases);
	tcase_add_test(tcase, horizon);
}

int main(void)
{
	return made_main("situation", add);
}
