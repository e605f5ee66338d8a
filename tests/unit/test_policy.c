/* What holds for every policy, on machines and workloads made at random from a fixed list of seeds. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "obeys.h"
#include "pure/past.h"
#include "pure/policy.h"
#include "pure/renumber.h"
#include "pure/snapshot.h"

enum {
	TEXT = 1 << 17,
	LOOKS = 60,          /* of a workload that stays as it is, at 100 ms */
	QUIET_LOOKS = 25,    /* the last of them, in which nothing may move: more than the policies wait for anything */
	SEEDS = 300,         /* 800 were tried */
};

static const struct policy_rules rules[] = { { true, true }, { true, false }, { false, true }, { false, false } };

static unsigned count_policies(void)
{
	unsigned n = 0;
	while (policy_at(n)) n++;
	return n;
}

START_TEST(names)
{
	static const char *const all[] = { "joint", "stay", "simple", "pool", "homenode", "homenode-dynamic", "concentric", "balancenuma",
	                                   "autonuma", "adaptive", "reconciled" };
	for (unsigned n = 0; n < sizeof all / sizeof *all; n++) {
		ck_assert_msg(policy_find(all[n]) != NULL, "no %s", all[n]);
		ck_assert_ptr_nonnull(policy_find(all[n])->decide);
		ck_assert_str_eq(policy_at(n)->name, all[n]);
	}
	ck_assert_uint_eq(count_policies(), sizeof all / sizeof *all);
	ck_assert_ptr_null(policy_at(count_policies()));
	ck_assert_ptr_null(policy_at(1000));
	ck_assert_ptr_null(policy_find("jump"));
	ck_assert_ptr_null(policy_find(""));
}
END_TEST

/* A machine and a workload of one seed, for one policy after the other. */
struct stage {
	const struct policy_ops *policy;
	struct dice dice;
	struct machine m;
	struct situation s;
	struct past past;
	char *text, *again;
};

static void begin(struct stage *g, const struct policy_ops *policy, int seed)
{
	memset(g, 0, sizeof *g);
	g->policy = policy;
	g->dice.state = (uint64_t)seed;
	made_random_machine(&g->m, &g->dice);
	made_random_situation(&g->s, &g->m, &g->dice);
	g->text = malloc(TEXT);
	g->again = malloc(TEXT);
}

static void end(struct stage *g)
{
	past_free(&g->past);
	situation_free(&g->s);
	machine_free(&g->m);
	free(g->text);
	free(g->again);
}

static void decide(const struct stage *g, const struct policy_rules *r, struct plan *plan, char *text)
{
	plan_clear(plan);
	ck_assert_int_eq(policy_decide(g->policy, &g->s, r, plan), 0);
	if (text) ck_assert_uint_lt(snapshot_print_plan(plan, text, TEXT), TEXT);
}

static void check_rules(struct stage *g, int seed, const struct policy_rules *r)
{
	struct plan plan = { 0 };
	decide(g, r, &plan, g->text);
	const char *wrong = plan_obeys(&plan, g->policy, &g->s, r);
	if (wrong) snapshot_print(&g->s, g->again, TEXT);
	ck_assert_msg(!wrong, "%s, seed %d, makes %s\n%.1500s\n%.2000s", g->policy->name, seed, wrong, g->text, g->again);
	decide(g, r, &plan, g->again);
	ck_assert_str_eq(g->text, g->again);
	plan_free(&plan);
}

/* Nothing fixed, nothing against the rules, no node beyond its part, no cost above what is; and the same twice. */
static void obeys(const struct policy_ops *policy, int seed)
{
	struct stage g;
	begin(&g, policy, seed);
	for (unsigned r = 0; r < 4; r++) check_rules(&g, seed, &rules[r]);
	end(&g);
}

/* What a snapshot has of the situation is all that the policy goes by. */
static void same_from_snapshot(const struct policy_ops *policy, int seed)
{
	struct stage g;
	struct plan plan = { 0 };
	struct machine m;
	struct situation s;
	struct snapshot_error error;
	begin(&g, policy, seed);
	ck_assert_int_eq(past_look(&g.past, &g.s, 0, true), 0);
	ck_assert_int_eq(past_look(&g.past, &g.s, 100000000, true), 0);
	decide(&g, &rules[0], &plan, g.text);
	size_t bytes = snapshot_print(&g.s, g.again, TEXT);
	ck_assert_msg(bytes < TEXT && snapshot_parse(g.again, bytes, &m, &s, &error) == 0, "%s", error.text);
	plan_clear(&plan);
	ck_assert_int_eq(policy_decide(g.policy, &s, &rules[0], &plan), 0);
	snapshot_print_plan(&plan, g.again, TEXT);
	ck_assert_str_eq(g.text, g.again);
	situation_free(&s);
	machine_free(&m);
	plan_free(&plan);
	end(&g);
}

/* The nodes in another order, each with what is its own: the same plan under the other names. */
static void renumbered_plan(const struct policy_ops *policy, int seed)
{
	struct stage g;
	struct plan plan = { 0 }, other = { 0 };
	struct renumbered r;
	unsigned order[MACHINE_NODES];
	begin(&g, policy, seed);
	ck_assert_int_eq(past_look(&g.past, &g.s, 0, true), 0);
	for (unsigned n = 0; n < g.m.n_nodes; n++) {
		unsigned at = dice_below(&g.dice, n + 1);
		order[n] = order[at];
		order[at] = n;
	}
	ck_assert_int_eq(renumber(&r, &g.s, order), 0);
	decide(&g, &rules[0], &plan, g.text);
	ck_assert_int_eq(policy_decide(g.policy, &r.situation, &rules[0], &other), 0);
	for (unsigned i = 0; i < other.n; i++) {
		if (other.move[i].from >= 0) other.move[i].from = (int16_t)order[other.move[i].from];
		other.move[i].to = (int16_t)order[other.move[i].to];
	}
	snapshot_print_plan(&other, g.again, TEXT);
	ck_assert_str_eq(g.text, g.again);
	renumber_free(&r);
	plan_free(&plan);
	plan_free(&other);
	end(&g);
}

static void pass_time(struct situation *s, uint32_t ms)
{
	s->age_ns += ms * 1000000ull;
	for (unsigned t = 0; t < s->n_threads; t++)
		if (s->thread[t].moved_ms_ago < UINT32_MAX - ms) s->thread[t].moved_ms_ago += ms;
	for (unsigned c = 0; c < s->n_chunks; c++)
		if (s->chunk[c].moved_ms_ago < UINT32_MAX - ms) s->chunk[c].moved_ms_ago += ms;
}

/* Plans are carried out while the workload stays as it is: after a while there is nothing to do, and no CPU has two threads while
 * another has none. */
static void comes_to_rest(const struct policy_ops *policy, int seed)
{
	struct stage g;
	struct plan plan = { 0 };
	unsigned quiet = 0;
	begin(&g, policy, seed);
	g.s.age_ns %= 3600000000000ull;
	for (unsigned look = 0; look < LOOKS; look++) {
		ck_assert_int_eq(past_look(&g.past, &g.s, look ? 100000000 : 0, g.policy->touches), 0);
		decide(&g, &rules[0], &plan, g.text);
		quiet = plan.n ? 0 : quiet + 1;
		plan_carry_out(&plan, &g.s);
		pass_time(&g.s, 100);
	}
	if (quiet < QUIET_LOOKS) snapshot_print(&g.s, g.again, TEXT);
	ck_assert_msg(quiet >= QUIET_LOOKS, "%s, seed %d, still moves\n%.1500s\n%.2000s", g.policy->name, seed, g.text, g.again);
	bool lacks = strcmp(g.policy->name, "stay") && plan_lacks(&g.s);
	if (lacks) snapshot_print(&g.s, g.again, TEXT);
	ck_assert_msg(!lacks, "%s, seed %d, leaves two threads on a CPU\n%.3500s", g.policy->name, seed, g.again);
	plan_free(&plan);
	end(&g);
}

/* On one node there is nothing to decide, whatever the load. */
START_TEST(one_node)
{
	struct dice dice = { (uint64_t)_i };
	struct machine m;
	struct situation s;
	struct plan plan = { 0 };
	made_machine(&m, 1, 1 + dice_below(&dice, 8));
	made_random_situation(&s, &m, &dice);
	for (unsigned p = 0; policy_at(p); p++) {
		ck_assert_int_eq(policy_decide(policy_at(p), &s, &rules[0], &plan), 0);
		ck_assert_uint_eq(plan.n, 0);
	}
	plan_free(&plan);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

/* Nothing at all, memory without users: nothing to move. */
START_TEST(little)
{
	struct machine m;
	struct situation s;
	struct plan plan = { 0 };
	made_machine(&m, 2, 1);
	made_situation(&s, &m);
	for (unsigned step = 0; step < 3; step++) {
		for (unsigned p = 0; policy_at(p); p++) {
			plan_clear(&plan);
			ck_assert_int_eq(policy_decide(policy_at(p), &s, &rules[0], &plan), 0);
			for (unsigned i = 0; i < plan.n; i++) ck_assert_msg(plan.move[i].from == plan.move[i].to, "%s moves", policy_at(p)->name);
		}
		if (step == 0) made_thread(&s, 1, 0);
		if (step == 1) made_chunk(&s, 512, 1);
	}
	plan_free(&plan);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

START_TEST(seed)
{
	static void (*const holds[])(const struct policy_ops *policy, int seed) = { obeys, same_from_snapshot, renumbered_plan, comes_to_rest };
	for (unsigned h = 0; h < sizeof holds / sizeof *holds; h++)
		for (unsigned p = 0; policy_at(p); p++) holds[h](policy_at(p), _i);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, little);
	tcase_add_loop_test(tcase, one_node, 0, 50);
	tcase_add_loop_test(tcase, seed, 0, SEEDS);
}

int main(void)
{
	return made_main("policy", add);
}
