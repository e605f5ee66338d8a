/* The gate: each cause that holds a move back, alone; budgets; the order that stays. */
#include <check.h>
#include <string.h>

#include "made.h"
#include "pure/gate.h"

#define COST 1.536e6f
#define NEVER UINT32_MAX

/* One move of 512 pages at 0x1000, or of thread 7, against age 10 s, a cooldown of 1000 ms, 1000 pages. */
static const struct gate_case {
	const char *what;
	struct move move;
	uint32_t moved_ms_ago;
	struct gate_held held;
} gate_cases[] = {
	{ "pays", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, false, 1e8f, COST, "" }, NEVER, { 0 } },
	{ "pays just so", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, false, COST * 0.151f, COST, "" }, NEVER, { 0 } },
	{ "doesn't pay", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, false, COST * 0.149f, COST, "" }, NEVER, { .cost = 1 } },
	{ "gains nothing", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, false, 0, COST, "" }, NEVER, { .cost = 1 } },
	{ "loses", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, false, -1e8f, COST, "" }, NEVER, { .cost = 1 } },
	{ "rests", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, true, 1e8f, COST, "" }, 999, { .cooldown = 1 } },
	{ "has rested", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, true, 1e8f, COST, "" }, 1000, { 0 } },
	{ "back for half", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 500, true, 1e8f, COST, "" }, 5000, { .reversal = 1 } },
	{ "back for 749", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 749, true, 1e8f, COST, "" }, 5000, { .reversal = 1 } },
	{ "back for 750", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 750, true, 1e8f, COST, "" }, 5000, { 0 } },
	{ "the first time for half", { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 500, false, 1e8f, COST, "" }, NEVER, { 0 } },
	{ "not a chunk's", { MOVE_PAGES, 0, 0x9000, 512, 0, 0, 1, 1000, false, 1e8f, COST, "" }, 0, { 0 } },
	{ "before all chunks", { MOVE_PAGES, 0, 0x10, 512, 0, 0, 1, 1000, false, 1e8f, COST, "" }, 0, { 0 } },
	{ "a thread", { MOVE_THREAD, 7, 0, 0, 0, 0, 1, 0, false, 0, 1e5f, "" }, NEVER, { 0 } },
	{ "a thread to a CPU", { MOVE_THREAD, 7, 0, 0, 0, 0, 1, 0, false, -1e8f, 1e5f, "" }, NEVER, { 0 } },
	{ "a thread that rests", { MOVE_THREAD, 7, 0, 0, 0, 0, 1, 0, true, 1e8f, 1e5f, "" }, 10, { .cooldown = 1 } },
	{ "a hold", { MOVE_THREAD, 7, 0, 0, 0, 0, 0, 0, true, 0, 0, "" }, 10, { 0 } },
	{ "a thread that is not there", { MOVE_THREAD, 8, 0, 0, 0, 0, 1, 0, true, 1e8f, 1e5f, "" }, 10, { 0 } },
};

static void made(struct machine *m, struct situation *s, uint32_t moved_ms_ago)
{
	made_machine(m, 2, 2);
	made_situation(s, m);
	made_thread(s, 7, 0);
	s->thread[0].moved_ms_ago = moved_ms_ago;
	for (unsigned c = 0; c < 4; c++) made_chunk(s, 512, 0);
	s->chunk[0].moved_ms_ago = moved_ms_ago;
}

START_TEST(causes)
{
	const struct gate_case *c = &gate_cases[_i];
	struct gate_limits limits = { .budget_pages = 1000, .cooldown_ms = 1000 };
	struct machine m;
	struct situation s;
	struct plan plan = { 0 };
	struct gate_held held = { 9, 9, 9, 9 };
	made(&m, &s, c->moved_ms_ago);
	ck_assert_int_eq(plan_add(&plan, &c->move), 0);
	gate_filter(&plan, &s, &limits, &held);
	unsigned n = c->held.cost + c->held.cooldown + c->held.reversal + c->held.budget;
	ck_assert_msg(held.cost == c->held.cost && held.cooldown == c->held.cooldown && held.reversal == c->held.reversal &&
	              held.budget == c->held.budget, "%s: held %u %u %u %u", c->what, held.cost, held.cooldown, held.reversal, held.budget);
	ck_assert_msg(plan.n == 1 - n, "%s", c->what);
	if (plan.n) ck_assert_mem_eq(&plan.move[0], &c->move, sizeof c->move);
	plan_free(&plan);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* 3 moves of 512 pages against a budget: whole, cut, none. */
static const struct budget_case { uint64_t pages; unsigned n; uint32_t last; unsigned held; } budget_cases[] = {
	{ 1ull << 40, 3, 512, 0 }, { 1536, 3, 512, 0 }, { 1535, 3, 511, 0 }, { 1025, 3, 1, 0 }, { 1024, 2, 512, 1 }, { 300, 1, 300, 2 }, { 0, 0, 0, 3 },
};

START_TEST(budget)
{
	const struct budget_case *c = &budget_cases[_i];
	struct gate_limits limits = { .budget_pages = c->pages };
	struct machine m;
	struct situation s;
	struct plan plan = { 0 };
	struct gate_held held;
	made(&m, &s, NEVER);
	struct move thread = { .kind = MOVE_THREAD, .thread = 7, .to = 1, .reason = "" };
	ck_assert_int_eq(plan_add(&plan, &thread), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct move move = { MOVE_PAGES, 0, 0x1000 + 512 * i, 512, 0, 0, (int16_t)(i % 2), 1000, false, 1e8f, COST, "" };
		ck_assert_int_eq(plan_add(&plan, &move), 0);
	}
	gate_filter(&plan, &s, &limits, &held);
	ck_assert_uint_eq(plan.n, 1 + c->n);   /* a thread takes nothing of it */
	ck_assert_uint_eq(held.budget, c->held);
	for (unsigned i = 0; i < c->n; i++) {
		const struct move *move = &plan.move[1 + i];
		ck_assert_uint_eq(move->page, 0x1000 + 512 * i);
		ck_assert_uint_eq(move->pages, i + 1 == c->n ? c->last : 512);
		ck_assert_uint_eq(move->range, move->pages < 512 ? 512 : 0);
		float part = (float)move->pages / 512;
		ck_assert(move->gain_ns_per_s > 0.99e8f * part && move->gain_ns_per_s < 1.01e8f * part && move->cost_ns < 1.01f * COST * part);
	}
	plan_free(&plan);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* A program that has run longer lets dearer moves through. */
START_TEST(horizon)
{
	struct gate_limits limits = { .budget_pages = 1000 };
	struct machine m;
	struct situation s;
	struct gate_held held;
	made(&m, &s, NEVER);
	for (unsigned i = 0; i < 2; i++) {
		struct plan plan = { 0 };
		struct move move = { MOVE_PAGES, 0, 0x1000, 512, 0, 0, 1, 1000, false, COST * 0.01f, COST, "" };
		s.age_ns = i ? 3000000000000 : 100000000000;
		ck_assert_int_eq(plan_add(&plan, &move), 0);
		gate_filter(&plan, &s, &limits, &held);
		ck_assert_uint_eq(plan.n, i);
		plan_free(&plan);
	}
	situation_free(&s);
	machine_free(&m);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, causes, gate_cases);
	made_loop(tcase, budget, budget_cases);
	tcase_add_test(tcase, horizon);
}

int main(void)
{
	return made_main("gate", add);
}
