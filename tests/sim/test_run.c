/* Whole runs with the real session: what nsched brings in the simulator, that a run is the same each time, and the oracle. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "oracle.h"
#include "pure/policy.h"
#include "sim_made.h"
#include "tables.h"

static const char *const shipped[] = { "hackbench:groups=2,loops=5", "hybrid:seconds=2", "kernbench:files=40,ms=400", "main-job:seconds=3",
	"nas-sp:threads=8,seconds=1", "netperf", "numa01-thread-alloc:seconds=3", "numa01:seconds=3", "numa02:seconds=2",
	"numa_test:N=8,seconds=2", "perf-process:MiB=64", "perf-thread:MiB=32", "schedbench:N=8,rounds=2", "specjbb:threads=8", "stream:threads=8" };

/* The same seed, the same result to the last bit, alone or beside others; another seed, another. */
START_TEST(same_again)
{
	struct sim_machine m;
	struct workload w;
	struct sim_run runs[4] = { { 0 } };
	sim_made_machine(&m, "smt32", "noise_hz=4");
	sim_made_shipped(&w, shipped[_i]);
	if (w.limit_ns > 0) w.limit_ns = 1.5e9;
	for (unsigned i = 0; i < 4; i++) {
		runs[i].machine = &m;
		runs[i].workload = &w;
		runs[i].seed = i < 3 ? 5 : 6;
		config_defaults(&runs[i].config);
	}
	sim_run_all(runs, 2, 2, NULL, NULL);
	sim_run_all(runs + 2, 2, 1, NULL, NULL);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(runs[i].result.error, 0);
		ck_assert_uint_eq(runs[i].result.stuck_line, 0);
	}
	ck_assert(!memcmp(&runs[0].result, &runs[1].result, sizeof runs[0].result));
	ck_assert(!memcmp(&runs[0].result, &runs[2].result, sizeof runs[0].result));
	ck_assert(memcmp(&runs[0].result, &runs[3].result, sizeof runs[0].result) != 0);
	workload_free(&w);
	sim_machine_free(&m);
}
END_TEST

/* Arrays that one thread filled come to those that use them, and that is worth it. */
START_TEST(joint_brings_memory_home)
{
	struct sim_machine m;
	struct workload w;
	sim_made_machine(&m, "westmere32", "noise_hz=1");
	sim_made_shipped(&w, "numa02");
	struct sim_result stay = sim_made_run(&m, &w, "stay", 1), joint = sim_made_run(&m, &w, "joint", 1);
	ck_assert_double_eq(stay.moved_bytes, 0);
	ck_assert_double_eq(stay.thread_moves, 0);
	ck_assert_msg(joint.time_s < 0.7 * stay.time_s, "joint %.2f s, stay %.2f s", joint.time_s, stay.time_s);
	ck_assert_double_gt(joint.local, 0.8);
	workload_free(&w);
	sim_machine_free(&m);
}
END_TEST

/* On one node no policy does anything, and nothing is watched. */
START_TEST(one_node)
{
	struct sim_machine m;
	struct workload w;
	sim_made_machine(&m, "flat8", "");
	sim_made_shipped(&w, "numa02:seconds=2,threads=8");
	for (unsigned i = 0; policy_at(i); i++) {
		struct sim_result r = sim_made_run(&m, &w, policy_at(i)->name, 1);
		ck_assert_double_eq(r.thread_moves, 0);
		ck_assert_double_eq(r.moved_bytes, 0);
		ck_assert_double_eq(r.own_permille, 0);
	}
	workload_free(&w);
	sim_machine_free(&m);
}
END_TEST

static const struct best { const char *machine, *workload; bool small; } bests[] = {
	{ "node:2 core:1 pu:1", "perf-process:P=2,T=1,MiB=16", true },
	{ "two16", "numa02:threads=16,seconds=1,MiB=64", false },
};

/* What the oracle finds is not worse than any rule's placement, and it says how it was found. */
START_TEST(oracle)
{
	struct sim_machine m;
	struct workload w;
	struct placed best, rule;
	char how[ORACLE_HOW];
	sim_made_machine(&m, bests[_i].machine, "");
	sim_made_shipped(&w, bests[_i].workload);
	if (w.limit_ns > 0) w.limit_ns = 5e8;
	struct sim_run run = { .machine = &m, .workload = &w, .seed = 3 };
	config_defaults(&run.config);
	ck_assert_int_eq(oracle_search(&run, 24, 2, &best, how, NULL, NULL), 0);
	ck_assert_msg(!strncmp(how, bests[_i].small ? "the best of all" : "the best of a search", 15), "%s", how);
	nsched_error_t error;
	ck_assert_int_ge(nsched_config_set(&run.config, "policy", "stay", &error), 0);
	run.config.sample_hz = 0;
	run.placed = &best;
	sim_run(&run);
	double found = run.result.metric;
	for (unsigned k = ORACLE_BLOCKS; k <= ORACLE_PACKED; k++) {
		ck_assert_int_eq(oracle_rule(&w, &m.known, (enum oracle_rule)k, &rule), 0);
		run.placed = &rule;
		sim_run(&run);
		ck_assert_double_le(sim_ratio(w.metric, found, run.result.metric), 1 + 1e-9);
		free(rule.node);
	}
	free(best.node);
	workload_free(&w);
	sim_machine_free(&m);
}
END_TEST

START_TEST(perturbed)
{
	struct sim_machine m, p;
	char error[SIM_ERROR];
	ck_assert_int_eq(sim_machine_load(&m, "westmere32", error), 0);
	ck_assert_int_eq(sim_machine_load(&p, "westmere32", error), 0);
	sim_machine_perturb(&p, 0.3, 1);
	ck_assert(memcmp(&m.params, &p.params, sizeof m.params) != 0);
	ck_assert_double_le(p.params.node_gbs, 1.3 * m.params.node_gbs);
	ck_assert_double_ge(p.params.node_gbs, 0.7 * m.params.node_gbs);
	ck_assert(!memcmp(m.known.latency_ns, p.known.latency_ns, sizeof m.known.latency_ns));
	sim_machine_free(&m);
	sim_machine_free(&p);
}
END_TEST

static const struct machine_error { const char *spec, *set, *says; } machine_errors[] = {
	{ "westmer32", NULL, "did you mean westmere32?" }, { "nothing at all", NULL, "is no machine" }, { "node:0", NULL, "is no machine" },
	{ "nowhere.xml", NULL, "is no machine" }, { "two16", "node_gb=1", "did you mean node_gbs?" }, { "two16", "node_gbs=-1", "wanted is a number" },
	{ "two16", "node_gbs", "wanted is a number" }, { "two16", "node_gbs=1x", "wanted is a number" }, { "two16", "smt=nan", "wanted is a number" },
};

START_TEST(machine_wrong)
{
	const struct machine_error *c = &machine_errors[_i];
	struct sim_machine m;
	char error[SIM_ERROR] = "";
	int ret = sim_machine_load(&m, c->spec, error);
	if (c->set) {
		ck_assert_int_eq(ret, 0);
		ret = sim_machine_set(&m, c->set, error);
		sim_machine_free(&m);
	}
	ck_assert_int_ne(ret, 0);
	ck_assert_msg(strstr(error, c->says) != NULL, "said \"%s\", wanted \"%s\"", error, c->says);
}
END_TEST

/* Every preset, and every row of every table, can be loaded. */
START_TEST(data)
{
	struct sim_machine m;
	struct workload w;
	char error[SIM_ERROR];
	for (unsigned i = 0; sim_preset_at(i); i++) {
		ck_assert_msg(!sim_machine_load(&m, sim_preset_at(i)->name, error), "%s", error);
		sim_machine_free(&m);
	}
	for (unsigned i = 0; table_at(i); i++) {
		ck_assert_msg(!sim_machine_load(&m, table_at(i)->machine, error), "%s", error);
		sim_machine_free(&m);
		for (unsigned r = 0; r < table_at(i)->n_rows; r++) {
			sim_made_shipped(&w, table_at(i)->row[r].workload);
			workload_free(&w);
		}
	}
}
END_TEST

START_TEST(ranks)
{
	double a[] = { 1, 2, 3, 4 }, b[] = { 10, 20, 30, 40 }, c[] = { 4, 3, 2, 1 }, d[] = { 1, 1, 1, 1 }, e[] = { 1, 3, 2, 4 };
	ck_assert_double_eq_tol(table_rank_correlation(a, b, 4), 1, 1e-12);
	ck_assert_double_eq_tol(table_rank_correlation(a, c, 4), -1, 1e-12);
	ck_assert_double_eq_tol(table_rank_correlation(a, e, 4), 0.8, 1e-12);
	ck_assert_double_gt(table_rank_correlation(a, d, 4), 1.5);
	ck_assert_double_gt(table_rank_correlation(a, b, 2), 1.5);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, same_again, shipped);
	tcase_add_test(tcase, joint_brings_memory_home);
	tcase_add_test(tcase, one_node);
	made_loop(tcase, oracle, bests);
	tcase_add_test(tcase, perturbed);
	made_loop(tcase, machine_wrong, machine_errors);
	tcase_add_test(tcase, data);
	tcase_add_test(tcase, ranks);
}

int main(void)
{
	return made_main("run", add);
}
