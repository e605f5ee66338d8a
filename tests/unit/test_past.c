/* What policies are told beside the situation itself: load, groups, and what was before. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "pure/groups.h"
#include "pure/load.h"
#include "pure/past.h"
#include "pure/pool.h"

static bool near(float a, float b)
{
	return fabsf(a - b) < 1e-5f;
}

/* Two nodes of two CPUs, and threads there: three on node 0, one on node 1. */
static void made_three_and_one(struct machine *m, struct situation *s)
{
	made_machine(m, 2, 2);
	made_situation(s, m);
	for (unsigned t = 0; t < 4; t++) made_thread(s, t, t / 3 ? 1 : 0);
}

static void end(struct machine *m, struct situation *s)
{
	situation_free(s);
	machine_free(m);
}

START_TEST(loads)
{
	struct machine m;
	struct situation s;
	struct load l;
	made_three_and_one(&m, &s);
	s.thread[3].load = 0.5f;
	load_of(&l, &s, NULL);
	ck_assert(l.threads == 4 && l.running[0] == 3 && l.running[1] == 1 && l.cores[0] == 2);
	ck_assert(near(l.busy[1], 0.5f) && near(load_per_cpu(&l, 0), 1.5f));
	ck_assert(near(load_gain(&l, 0, 1), 1));       /* 9/2 + 1/2 falls to 4/2 + 4/2 */
	ck_assert(load_gain(&l, 1, 0) < 0 && load_gain(&l, 0, 0) < 0);
	ck_assert(load_is_short(&l, 1) && !load_is_short(&l, 0));
	ck_assert_uint_eq(load_queued(&l), 1);
	ck_assert_uint_eq(load_part(&l, 0), 2);
	ck_assert(load_class(&l, 0) == LOAD_OVERLOADED && load_class(&l, 1) == LOAD_SPARE);
	load_move(&l, 0, 1, 1);
	ck_assert_uint_eq(load_queued(&l), 0);
	ck_assert(load_class(&l, 0) == LOAD_BUSY && load_class(&l, 1) == LOAD_SPARE);   /* node 1 has CPU time left */
	ck_assert(near((float)load_unevenness(&l), 4));
	end(&m, &s);
}
END_TEST

/* CPUs 0 and 2, 1 and 3 are of one core each. */
START_TEST(cores)
{
	struct machine m;
	struct situation s;
	struct load l;
	ck_assert_int_eq(machine_init(&m, 4), 0);
	machine_add_node(&m, 0, 1 << 30);
	for (unsigned c = 0; c < 4; c++) machine_add_cpu(&m, c, c % 2, 0);
	machine_set_distances(&m, NULL);
	made_situation(&s, &m);
	load_of(&l, &s, NULL);
	ck_assert_uint_eq(l.cores[0], 2);
	end(&m, &s);
}
END_TEST

/* Each move to another node counts, one is forgotten each minute, and what the next must bring doubles with each. */
START_TEST(times)
{
	struct machine m;
	struct situation s;
	struct past p = { 0 };
	made_three_and_one(&m, &s);
	s.thread[0].bound = true;
	for (unsigned i = 0; i <= 3; i++) {
		s.thread[0].node = (int16_t)(i % 2);
		ck_assert_int_eq(past_look(&p, &s, 1000000000, false), 0);
		ck_assert_uint_eq(s.thread[0].times, i);
	}
	ck_assert(near(situation_again(&s.thread[0], 0.1f, 3), 0.4f) && near(situation_again(&s.thread[0], 0.1f, 0.3f), 0.3f));
	ck_assert(near(situation_again(&s.thread[1], 0.1f, 3), 0.1f));
	for (unsigned i = 0; i < 61; i++) ck_assert_int_eq(past_look(&p, &s, 1000000000, false), 0);
	ck_assert_uint_eq(s.thread[0].times, 2);
	past_free(&p);
	end(&m, &s);
}
END_TEST

/* Twelve threads of one process share two chunks, of each of which eight are kept, and as much again is unknown. A third has two users. */
START_TEST(pooled)
{
	struct machine m;
	struct situation s;
	float asks[12] = { 0 };
	made_machine(&m, 2, 8);
	made_situation(&s, &m);
	for (unsigned t = 0; t < 12; t++) made_thread(&s, t, t / 6 ? 1 : 0);
	for (unsigned c = 0; c < 2; c++) {
		made_chunk(&s, 512, 0);
		for (unsigned t = 0; t < 8; t++) made_use(&s, 4 * c + t, 1 + (float)(t % 3));
		s.chunk[c].crowded = true;
		s.chunk[c].unknown = 1;
	}
	made_chunk(&s, 512, 1);
	made_use(&s, 0, 3);
	made_use(&s, 1, 1);
	float known = situation_traffic(&s, &s.chunk[0]);
	ck_assert_int_eq(pool_users(&s), 0);
	for (unsigned c = 0; c < 2; c++) {
		ck_assert(s.chunk[c].n_uses == 12 && !s.chunk[c].crowded);
		ck_assert(fabsf(situation_traffic(&s, &s.chunk[c]) - 2 * known) < 0.01f * known);
		for (unsigned u = 0; u < 12; u++) asks[s.use[s.chunk[c].first_use + u].thread] += s.use[s.chunk[c].first_use + u].rate;
	}
	for (unsigned t = 1; t < 12; t++) ck_assert(fabsf(asks[t] - asks[0]) < 0.001f * asks[0]);
	ck_assert(s.chunk[2].n_uses == 2 && near(s.use[s.chunk[2].first_use].rate, 3));
	end(&m, &s);
}
END_TEST

START_TEST(homes)
{
	struct machine m;
	struct situation s;
	struct past p = { 0 };
	made_three_and_one(&m, &s);
	ck_assert_int_eq(past_look(&p, &s, 0, false), 0);
	ck_assert(s.step == 0 && s.thread[0].home == -1);      /* nobody has bound it */
	s.thread[0].bound = true;
	ck_assert_int_eq(past_look(&p, &s, 1, false), 0);
	ck_assert(s.step == 1 && s.thread[0].home == 0 && s.thread[1].home == -1);
	s.thread[0].node = 1;
	ck_assert_int_eq(past_look(&p, &s, 1, false), 0);
	ck_assert_int_eq(s.thread[0].home, 0);                 /* the first stays */
	past_forget_thread(&p, 0);
	past_forget_thread(&p, 12345);
	ck_assert_int_eq(past_look(&p, &s, 1, false), 0);
	ck_assert_int_eq(s.thread[0].home, 1);
	past_free(&p);
	end(&m, &s);
}
END_TEST

START_TEST(nodes)
{
	struct machine m;
	struct situation s;
	struct past p = { 0 };
	made_three_and_one(&m, &s);
	ck_assert_int_eq(past_look(&p, &s, 0, false), 0);
	ck_assert(near(s.past[0].load, 1.5f) && near(s.past[1].load, 0.5f));
	ck_assert_int_eq(past_look(&p, &s, 300000000, false), 0);
	ck_assert_int_eq(past_look(&p, &s, 100000000, false), 0);
	ck_assert(s.past[1].short_ms == 400 && s.past[0].short_ms == 0);
	s.thread[0].node = 1;
	ck_assert_int_eq(past_look(&p, &s, 100000000, false), 0);
	ck_assert(near(s.past[0].load, 1.25f) && near(s.past[1].load, 0.75f));   /* half of what was */
	ck_assert_uint_eq(s.past[1].short_ms, 0);
	past_free(&p);
	end(&m, &s);
}
END_TEST

START_TEST(touches)
{
	struct machine m;
	struct situation s;
	struct past p = { 0 };
	made_three_and_one(&m, &s);
	made_chunk(&s, 512, 0);
	made_use(&s, 3, 0.002f);
	made_use(&s, 0, 0.001f);
	ck_assert_int_eq(past_look(&p, &s, 0, true), 0);
	ck_assert_int_eq(s.chunk[0].last, -1);
	ck_assert_int_eq(past_look(&p, &s, 1, true), 0);
	ck_assert_int_eq(s.chunk[0].last, 1);
	s.chunk[0].page += 256;                                /* its second half alone */
	s.chunk[0].pages = 256;
	ck_assert_int_eq(past_look(&p, &s, 1, true), 0);
	ck_assert_int_eq(s.chunk[0].last, 1);
	s.chunk[0].page += 4096;
	ck_assert_int_eq(past_look(&p, &s, 1, true), 0);
	ck_assert_int_eq(s.chunk[0].last, -1);
	past_free(&p);
	end(&m, &s);
}
END_TEST

/* Users of three chunks, with rates in 1/1000; the groups that the threads are of. */
static const struct group_case {
	struct { unsigned thread; float rate; } use[3][4];
	int group[4];
} group_cases[] = {
	{ { { { 0, 5 }, { 1, 5 } }, { { 2, 5 }, { 3, 5 } } }, { 0, 0, 1, 1 } },
	{ { { { 0, 5 } }, { { 1, 5 } }, { { 2, 5 } } }, { -1, -1, -1, -1 } },
	{ { { { 0, 5 }, { 1, 5 }, { 2, 5 }, { 3, 5 } } }, { 0, 0, 0, 0 } },
	/* a rim that neighbours share joins nobody */
	{ { { { 0, 9 }, { 1, 1 } }, { { 1, 9 }, { 2, 1 } }, { { 2, 9 }, { 0, 1 } } }, { -1, -1, -1, -1 } },
	/* 1 and 2 by much of what 2 uses; 0 and 3 by themselves */
	{ { { { 1, 9 }, { 2, 3 } }, { { 2, 6 } }, { { 0, 5 } } }, { -1, 0, 0, -1 } },
};

START_TEST(groups)
{
	const struct group_case *c = &group_cases[_i];
	struct machine m;
	struct situation s;
	struct groups g;
	made_three_and_one(&m, &s);
	for (unsigned k = 0; k < 3; k++) {
		made_chunk(&s, 512, 0);
		for (unsigned u = 0; u < 4; u++)
			if (c->use[k][u].rate > 0) made_use(&s, c->use[k][u].thread, c->use[k][u].rate / 1000);
	}
	ck_assert_int_eq(groups_find(&g, &s), 0);
	for (unsigned t = 0; t < 4; t++) ck_assert_msg(g.of[t] == c->group[t], "thread %u is of group %d", t, g.of[t]);
	unsigned sum = 0, in = 0;
	for (unsigned i = 0; i < g.n; i++) sum += g.size[i];
	for (unsigned t = 0; t < 4; t++) in += c->group[t] >= 0;
	ck_assert_uint_eq(sum, in);
	groups_free(&g);
	end(&m, &s);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, loads);
	tcase_add_test(tcase, cores);
	tcase_add_test(tcase, homes);
	tcase_add_test(tcase, times);
	tcase_add_test(tcase, pooled);
	tcase_add_test(tcase, nodes);
	tcase_add_test(tcase, touches);
	made_loop(tcase, groups, group_cases);
}

int main(void)
{
	return made_main("past", add);
}
