/* What moves did is judged by the simulated program's regions: what made them slower, for a reason that the estimate can't know, goes back and is
 * not tried again; what helped stays, however much times differ by chance. */
#include <check.h>
#include <stdio.h>

#include "made.h"
#include "sim_made.h"

enum { SEEDS = 5, THREADS = 4 };

/* Threads go through what they share, a quarter of it on each of four nodes. By latency all of that belongs on one node. But on
 * this machine no way is far, and a node's memory serves one thread: joint can't know, since it is told of distances only. It runs for
 * less time than what was taken back is remembered. */
static const char wrong_machine[] = "remote=0 node_gbs=5 link_gbs=100";
#define WRONG_WORK(regions) "workload 1\nabout made\nprocess p\nmemory all 64MiB\nthread main\nstart worker\nwait\n" \
                            "thread worker count 4" regions "\ntouch all slice\nrepeat 400\nrun 50ms vary 0.05 stall 0.9 rate 4GB/s on all\nbarrier\nend\n"

/* One has filled what eight threads on two nodes use, each its part: half of it goes to the other node, and that is right. Each visit takes up to
 * twice as long as another, and something else wants the CPUs fifty times a second. */
static const char right_machine[] = "noise_hz=50 noise_ms=2 node_gbs=10 link_gbs=4";
static const char right_work[] = "workload 1\nabout made\nprocess p\nmemory all 128MiB\nthread main\ntouch all\nstart worker\nwait\n"
                                 "thread worker count 8 openmp\nrepeat 400\nrun 25ms vary 0.33 stall 0.9 rate 2GB/s on all slice\nbarrier\nend\n";

static struct sim_result run(const char *machine, const char *sets, const char *work, const char *policy, uint64_t seed)
{
	struct sim_machine m;
	struct workload w;
	sim_made_machine(&m, machine, sets);
	sim_made_workload(&w, work);
	struct sim_result r = sim_made_run(&m, &w, policy, seed);
	workload_free(&w);
	sim_machine_free(&m);
	return r;
}

static double mean_time(bool regions, const char *policy, double *moves, double *reverts)
{
	double time = 0;
	*moves = *reverts = 0;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct sim_result r = run("node:4(memory=32GB) core:4 pu:1", wrong_machine, regions ? WRONG_WORK(" openmp") : WRONG_WORK(""), policy, seed);
		ck_assert_msg(!regions || r.reverts > 0 || !(r.thread_moves > 0), "seed %u: nothing is taken back", (unsigned)seed);
		ck_assert_msg(r.thread_moves <= 2 * THREADS, "seed %u: %g moves", (unsigned)seed, r.thread_moves);   /* there, back, and no more */
		time += r.time_s / SEEDS;
		*moves += r.thread_moves;
		*reverts += r.reverts;
	}
	return time;
}

START_TEST(wrong_is_taken_back)
{
	double moves, reverts, stay = mean_time(false, "stay", &moves, &reverts), unjudged = mean_time(false, "joint", &moves, &reverts);
	ck_assert_msg(unjudged > 1.6 * stay, "the plan is not wrong: %.1f s, stay %.1f s", unjudged, stay);
	ck_assert_double_eq(reverts, 0);
	double judged = mean_time(true, "joint", &moves, &reverts);
	ck_assert_msg(judged < 1.3 * stay, "%.1f s, stay %.1f s, unjudged %.1f s", judged, stay, unjudged);
	ck_assert_double_gt(moves, 0);
}
END_TEST

START_TEST(noise_does_not_fool)
{
	struct sim_result stay = run("two16", right_machine, right_work, "stay", (uint64_t)_i), joint = run("two16", right_machine, right_work, "joint", (uint64_t)_i);
	ck_assert_double_eq(joint.reverts, 0);
	ck_assert_double_gt(joint.moved_bytes, 50e6);
	ck_assert_msg(joint.time_s < 0.8 * stay.time_s, "joint %.2f s, stay %.2f s", joint.time_s, stay.time_s);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, wrong_is_taken_back);
	tcase_add_loop_test(tcase, noise_does_not_fool, 1, 1 + SEEDS);
}

int main(void)
{
	return made_main("trials", add);
}
