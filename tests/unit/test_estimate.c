/* The estimate: figures done by hand, and moves taken one by one against a fresh start. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "pure/estimate.h"

static const float exact = 1e-5f;

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-4 * fmax(fabs(a), fabs(b)) + 1;
}

/* Two nodes of two CPUs: 90 and 189 ns, 0.02778 lines per ns. Thread 0 on node 0 uses chunk 0 (on 1), thread 1
 * on node 1 uses chunk 0 and 1 (on 1). */
static void made_small(struct machine *m, struct situation *s, float rate)
{
	made_machine(m, 2, 2);
	made_situation(s, m);
	made_thread(s, 10, 0);
	made_thread(s, 11, 1);
	made_chunk(s, 512, 1);
	made_use(s, 0, rate);
	made_use(s, 1, rate);
	made_chunk(s, 512, 1);
	made_use(s, 1, rate);
}

START_TEST(by_hand)
{
	struct machine m;
	struct situation s;
	struct estimate e;
	made_small(&m, &s, 0.001f);
	ck_assert_int_eq(estimate_init(&e, &s), 0);
	ck_assert(near(estimate_cost(&e), 0.189e9 + 2 * 0.09e9));
	ck_assert(near(estimate_thread(&e, 0), 0.189e9));
	ck_assert(near(estimate_thread_on(&e, 0, 1), 0.09e9));
	ck_assert(near(estimate_chunk(&e, 0), 0.279e9));
	ck_assert(near(estimate_chunk_on(&e, 0, 0), 0.279e9));
	ck_assert(near(estimate_chunk_on(&e, 1, 0), 0.189e9));
	ck_assert(fabsf(estimate_stretch(&e, 1, 0) - 1) < exact);
	ck_assert(fabsf(estimate_share(&e, 0, 1) - 1) < exact && estimate_share(&e, 0, 0) == 0);
	ck_assert_uint_eq(e.threads_on[0], 1);
	estimate_move_thread(&e, 0, 1);
	ck_assert(near(estimate_cost(&e), 3 * 0.09e9));
	ck_assert_uint_eq(e.threads_on[0], 0);
	ck_assert_uint_eq(e.threads_on[1], 2);
	estimate_move_chunk(&e, 0, 0);
	ck_assert(near(estimate_cost(&e), 2 * 0.189e9 + 0.09e9));
	ck_assert(estimate_share(&e, 0, 0) == 1 && estimate_share(&e, 0, 1) == 0);
	estimate_free(&e);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* Asked for three times what it serves, node 1 takes three times as long. */
START_TEST(overload)
{
	struct machine m;
	struct situation s;
	struct estimate e;
	made_small(&m, &s, 2 * 1.25f / 90);
	ck_assert_int_eq(estimate_init(&e, &s), 0);
	float rate = s.use[0].rate;
	ck_assert(fabsf(estimate_stretch(&e, 1, 0) - 3) < exact);
	ck_assert(fabsf(estimate_stretch(&e, 0, 0) - 1) < exact);
	ck_assert(fabsf(estimate_stretch(&e, 0, 3 * rate) - 3) < exact);
	ck_assert(near(estimate_cost(&e), 3 * rate * (189 + 90 + 90) * 1e9));
	estimate_move_chunk(&e, 0, 0);
	ck_assert(fabsf(estimate_stretch(&e, 0, 0) - 2) < exact);
	ck_assert(fabsf(estimate_stretch(&e, 1, 0) - 1) < exact);
	ck_assert(near(estimate_cost(&e), (2 * rate * (90 + 189) + rate * 90) * 1e9));
	estimate_free(&e);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* Streams for each CPU, and the mean over nodes that are full at 1/8, 1/4, 1/2, 1 and 2 of them. */
START_TEST(likely)
{
	static const struct { double streams, stretch; } cases[] = {
		{ 0, 1 }, { 0.125, 1 }, { 0.25, 1.2 }, { 0.375, 1.5 }, { 0.5, 1.8 }, { 1, 3.2 }, { 2, 6.2 }, { 4, 12.4 },
	};
	struct machine m;
	struct situation s;
	struct estimate e;
	for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
		ck_assert_msg(fabs(estimate_likely(cases[i].streams / (double)MACHINE_STREAMS) - cases[i].stretch) < 1e-6, "case %u", i);
	/* half a stream on each of two CPUs, all from node 1's memory */
	made_small(&m, &s, 1.0f / 3 / 90);
	ck_assert_int_eq(estimate_init(&e, &s), 0);
	ck_assert(near(estimate_cost(&e), s.use[0].rate * (189 + 90 + 90) * 1e9));
	ck_assert(near(estimate_likely_cost(&e), 1.8 * s.use[0].rate * (189 + 90 + 90) * 1e9));
	estimate_free(&e);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* A thread whose place is not known costs nothing, and is charged as if local in a chunk's cost. */
START_TEST(unknown_thread)
{
	struct machine m;
	struct situation s;
	struct estimate e;
	made_small(&m, &s, 0.001f);
	s.thread[0].node = -1;
	ck_assert_int_eq(estimate_init(&e, &s), 0);
	ck_assert(estimate_thread(&e, 0) == 0);
	ck_assert(near(estimate_chunk(&e, 0), 0.18e9));
	ck_assert_uint_eq(e.threads_on[0] + e.threads_on[1], 1);
	estimate_move_thread(&e, 0, 0);
	ck_assert_uint_eq(e.threads_on[0], 1);
	ck_assert(near(estimate_thread(&e, 0), 0.189e9));
	estimate_free(&e);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

START_TEST(empty)
{
	struct machine m;
	struct situation s;
	struct estimate e;
	made_machine(&m, 2, 1);
	made_situation(&s, &m);
	ck_assert_int_eq(estimate_init(&e, &s), 0);
	ck_assert(estimate_cost(&e) == 0);
	estimate_free(&e);
	machine_free(&m);
}
END_TEST

/* The situation with the estimate's moves done. */
static void done(const struct situation *s, const struct estimate *e, struct situation *after)
{
	made_situation(after, s->machine);
	for (unsigned t = 0; t < s->n_threads; t++) made_thread(after, s->thread[t].number, e->thread_node[t]);
	for (unsigned c = 0; c < s->n_chunks; c++) {
		made_chunk(after, s->chunk[c].pages, -1);
		memcpy(after->chunk[c].where, s->chunk[c].where, sizeof after->chunk[c].where);
		if (e->chunk_node[c] >= 0) {
			memset(after->chunk[c].where, -1, sizeof after->chunk[c].where);
			after->chunk[c].where[0].node = e->chunk_node[c];
			after->chunk[c].where[0].share = 1;
		}
		for (unsigned u = 0; u < s->chunk[c].n_uses; u++)
			made_use(after, s->use[s->chunk[c].first_use + u].thread, s->use[s->chunk[c].first_use + u].rate);
	}
}

START_TEST(moves_equal_a_fresh_estimate)
{
	struct dice dice = { (uint64_t)_i };
	struct machine m;
	struct situation s, after;
	struct estimate e, fresh;
	made_random_machine(&m, &dice);
	made_random_situation(&s, &m, &dice);
	ck_assert_int_eq(estimate_init(&e, &s), 0);
	for (unsigned k = 0; k < 100; k++) {
		unsigned node = dice_below(&dice, m.n_nodes);
		if (s.n_chunks && dice_below(&dice, 2)) estimate_move_chunk(&e, dice_below(&dice, s.n_chunks), node);
		else estimate_move_thread(&e, dice_below(&dice, s.n_threads), node);
	}
	done(&s, &e, &after);
	ck_assert_int_eq(estimate_init(&fresh, &after), 0);
	ck_assert_msg(near(estimate_cost(&e), estimate_cost(&fresh)), "%g, and afresh %g", estimate_cost(&e), estimate_cost(&fresh));
	for (unsigned n = 0; n < m.n_nodes; n++) {
		ck_assert_uint_eq(e.threads_on[n], fresh.threads_on[n]);
		ck_assert(fabs(e.demand[n] - fresh.demand[n]) < (double)exact);
	}
	for (unsigned t = 0; t < s.n_threads; t++)
		for (unsigned n = 0; n < m.n_nodes; n++) ck_assert(near(estimate_thread_on(&e, t, n), estimate_thread_on(&fresh, t, n)));
	for (unsigned c = 0; c < s.n_chunks; c++) ck_assert(near(estimate_chunk(&e, c), estimate_chunk(&fresh, c)));
	estimate_free(&e);
	estimate_free(&fresh);
	situation_free(&s);
	situation_free(&after);
	machine_free(&m);
}
END_TEST

/* What a move is said to cost is what it then costs. */
START_TEST(what_is_asked_is_what_comes)
{
	struct dice dice = { 1000 + (uint64_t)_i };
	struct machine m;
	struct situation s;
	struct estimate e;
	made_random_machine(&m, &dice);
	made_random_situation(&s, &m, &dice);
	ck_assert_int_eq(estimate_init(&e, &s), 0);
	for (unsigned k = 0; k < 100; k++) {
		unsigned node = dice_below(&dice, m.n_nodes), t = dice_below(&dice, s.n_threads);
		float asked = estimate_thread_on(&e, t, node);
		estimate_move_thread(&e, t, node);
		ck_assert(near(asked, estimate_thread(&e, t)));
		if (!s.n_chunks) continue;
		unsigned c = dice_below(&dice, s.n_chunks);
		node = dice_below(&dice, m.n_nodes);
		asked = estimate_chunk_on(&e, c, node);
		estimate_move_chunk(&e, c, node);
		ck_assert_msg(near(asked, estimate_chunk(&e, c)), "%g, then %g", (double)asked, (double)estimate_chunk(&e, c));
	}
	estimate_free(&e);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, by_hand);
	tcase_add_test(tcase, overload);
	tcase_add_test(tcase, likely);
	tcase_add_test(tcase, unknown_thread);
	tcase_add_test(tcase, empty);
	tcase_add_loop_test(tcase, moves_equal_a_fresh_estimate, 0, 200);
	tcase_add_loop_test(tcase, what_is_asked_is_what_comes, 0, 200);
}

int main(void)
{
	return made_main("estimate", add);
}
