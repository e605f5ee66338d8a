/* What holds for every policy, on situations made at random. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "obeys.h"
#include "pure/snapshot.h"

enum { TEXT = 1 << 17 };

static const struct policy_rules rules[] = { { true, true }, { true, false }, { false, true }, { false, false } };

START_TEST(names)
{
	unsigned n = 0;
	for (; policy_at(n); n++) {
		ck_assert_ptr_nonnull(policy_at(n)->decide);
		ck_assert_ptr_eq(policy_find(policy_at(n)->name), policy_at(n));
	}
	ck_assert_uint_ge(n, 2);
	ck_assert_ptr_null(policy_at(n + 100));
	ck_assert_ptr_null(policy_find("jump"));
	ck_assert_ptr_null(policy_find(""));
	ck_assert_ptr_nonnull(policy_find("joint"));
	ck_assert_ptr_nonnull(policy_find("stay"));
}
END_TEST

static void check(const struct policy_ops *policy, const struct situation *s, const struct policy_rules *r, char *first, char *again)
{
	struct plan plan = { 0 }, second = { 0 };
	ck_assert_int_eq(policy->decide(s, r, &plan), 0);
	const char *wrong = plan_obeys(&plan, s, r);
	snapshot_print_plan(&plan, first, TEXT);
	if (wrong) snapshot_print(s, again, TEXT);
	ck_assert_msg(!wrong, "%s makes %s (from %g to %g)\n%s\n%s", policy->name, wrong, plan_cost_before(s), plan_cost_after(&plan, s), first, again);
	ck_assert_int_eq(policy->decide(s, r, &second), 0);
	snapshot_print_plan(&second, again, TEXT);
	ck_assert_str_eq(first, again);
	plan_free(&plan);
	plan_free(&second);
}

START_TEST(obeys)
{
	struct dice dice = { (uint64_t)_i };
	struct machine m;
	struct situation s;
	char *first = malloc(TEXT), *again = malloc(TEXT);
	made_random_machine(&m, &dice);
	made_random_situation(&s, &m, &dice);
	for (unsigned p = 0; policy_at(p); p++)
		for (unsigned r = 0; r < 4; r++) check(policy_at(p), &s, &rules[r], first, again);
	situation_free(&s);
	machine_free(&m);
	free(first);
	free(again);
}
END_TEST

/* A plan that was carried out is not followed by another one that undoes it, and after a few there is none. */
START_TEST(comes_to_rest)
{
	struct dice dice = { (uint64_t)_i };
	struct machine m;
	struct situation s;
	struct plan plan = { 0 };
	unsigned round = 0;
	made_random_machine(&m, &dice);
	made_random_situation(&s, &m, &dice);
	for (; round < 10; round++) {
		plan_clear(&plan);
		ck_assert_int_eq(policy_find("joint")->decide(&s, &rules[0], &plan), 0);
		if (!plan.n) break;
		for (unsigned i = 0; i < plan.n; i++) {
			const struct move *move = &plan.move[i];
			for (unsigned t = 0; t < s.n_threads && move->kind == MOVE_THREAD; t++) {
				if (s.thread[t].number != move->thread) continue;
				s.thread[t].node = move->to;
				s.thread[t].bound = true;
			}
			for (unsigned c = 0; c < s.n_chunks && move->kind == MOVE_PAGES; c++) {
				if (s.chunk[c].page < move->page || s.chunk[c].page >= move->page + move->pages) continue;
				for (unsigned k = 0; k < SITUATION_WHERE; k++) s.chunk[c].where[k].node = -1, s.chunk[c].where[k].share = 0;
				s.chunk[c].where[0].node = move->to;
				s.chunk[c].where[0].share = 1;
			}
		}
	}
	ck_assert_uint_lt(round, 10);
	plan_free(&plan);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* Nothing at all, threads without memory, memory without users. */
START_TEST(little)
{
	struct machine m;
	struct situation s;
	struct plan plan = { 0 };
	made_machine(&m, 2, 1);
	made_situation(&s, &m);
	for (unsigned step = 0; step < 3; step++) {
		for (unsigned p = 0; policy_at(p); p++) {
			ck_assert_int_eq(policy_at(p)->decide(&s, &rules[0], &plan), 0);
			ck_assert_uint_eq(plan.n, 0);
		}
		if (step == 0) made_thread(&s, 1, 0);
		if (step == 1) made_chunk(&s, 512, 1);
	}
	plan_free(&plan);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, little);
	tcase_add_loop_test(tcase, obeys, 0, 500);
	tcase_add_loop_test(tcase, comes_to_rest, 0, 300);
}

int main(void)
{
	return made_main("policy", add);
}
