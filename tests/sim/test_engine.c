/* The engine against arithmetic: what a workload takes that one can work out by hand. */
#include <check.h>
#include <math.h>

#include "made.h"
#include "sim_made.h"

#define P "workload 1\nprocess p\nmemory m 64MiB\n"
#define QUIET "switch_ns=0 refill_gbs=10000 touch_ns=0 knee=0 fork_us=0 step_us=0 sample_ns=0 locate_ns=0 bind_us=0 "

/* On this machine these lines take so many seconds, within a hundredth. */
static const struct timed { const char *what, *machine, *sets, *text; double s, within; } timed[] = {
	{ "one computes", "two16", QUIET, P "thread t\nrun 10s\n", 10, .001 },
	{ "two on one CPU", "node:1 core:1 pu:1", QUIET, P "thread t count 2\nrun 10s\n", 20, .001 },
	{ "three on two CPUs", "node:1 core:2 pu:1", QUIET, P "thread t count 3\nrun 10s\n", 15, .15 },
	{ "two hardware threads of a core", "node:1 core:1 pu:2", QUIET "smt=1.5", P "thread t count 2\nrun 10s\n", 15, .001 },
	{ "four on eight hardware threads take four cores", "p4smt8", QUIET "smt_first=1 fork_spread=1", P "thread t count 4\nrun 10s\n", 10, .02 },
	{ "memory of its own node", "node:2 core:1 pu:1", QUIET, P "thread t\nrun 10s stall 1 on m\n", 10, .001 },
	{ "half of the time waits, all memory remote", "node:1 core:1 pu:1", QUIET "local_ns=100", P "thread t\nrun 10s stall 0.5 on m\n", 10, .001 },
	{ "asleep", "two16", QUIET, P "thread t\nsleep 3s\nrun 1s\n", 4, .001 },
	{ "a barrier waits for the last", "two16", QUIET,
	  P "thread t\nstart u\nrun 1s\nwait\nthread u count 2\nrepeat 5\nrun 1s\nbarrier\nend\n", 5, .001 },
	{ "the same, spinning", "two16", QUIET, P "thread t\nstart u\nrun 1s\nwait\nthread u count 2\nrepeat 5\nrun 1s\nbarrier spin\nend\n", 5, .001 },
	{ "starts and waits for children", "two16", QUIET, P "thread t\nstart u\nwait\nrun 1s\nthread u count 4\nrun 2s\n", 3, .001 },
	{ "spawns, two at a time", "two16", QUIET,
	  P "thread t\nrepeat 4\nwait below 2\nspawn q\nend\nwait\nprocess q count 0\nthread v\nrun 1s\n", 2, .001 },
	{ "repeats inside repeats", "two16", QUIET, P "thread t\nrepeat 3\nrepeat 4\nrun 100ms\nend\nrepeat 0\nrun 9s\nend\nend\n", 1.2, .001 },
	{ "sends and receives", "node:1 core:2 pu:1", QUIET "message_ns=1000000",
	  P "thread t\nstart u\nrepeat 100\nsend u\nreceive 1\nend\nwait\nthread u\nrepeat 100\nreceive 1\nsend t\nend\n", .4, .01 },
	{ "a full inbox waits", "node:1 core:2 pu:1", QUIET "message_ns=1000",
	  P "thread t\nstart u\nrepeat 1000\nsend u\nend\nwait\nthread u\nrepeat 1000\nreceive 1\nrun 1ms\nend\n", 1, .01 },
	{ "the limit ends it", "two16", QUIET, "workload 1\nlimit 2s\nprocess p\nthread t\nrun 10s\n", 2, .001 },
	{ "those aside are not waited for", "two16", QUIET, P "thread t\nrun 1s\nprocess q aside\nthread v\nrun 9s\n", 1, .001 },
	{ "a loop of nothing takes time, not for ever", "two16", QUIET, P "thread t\nrepeat 1000000\nend\n", 0.000244, .1 },
	{ "first touch", "two16", QUIET "touch_ns=1000", P "thread t\ntouch m\n", 0.016384, .001 },
};

START_TEST(takes)
{
	const struct timed *c = &timed[_i];
	struct sim_result r = sim_made_result(c->machine, c->sets, c->text, "stay");
	ck_assert_uint_eq(r.stuck_line, 0);
	ck_assert_msg(fabs(r.time_s - c->s) <= c->within * c->s, "%s: %.6f s, not %.6f", c->what, r.time_s, c->s);
}
END_TEST

/* Where they wait for ever, and the line of it. */
static const struct stuck { const char *text; unsigned line; } stucks[] = {
	{ P "thread t\nrun 1s\nreceive 1\n", 6 },
	{ P "thread t\nstart u\nthread u count 2\nbarrier\nthread v\nreceive 1\n", 0 },
	{ P "thread t\nstart u\nreceive 1\nthread u count 2\nbarrier spin\nreceive 1\n", 6 },
};

START_TEST(stuck)
{
	struct sim_result r = sim_made_result("two16", QUIET, stucks[_i].text, "stay");
	ck_assert_uint_eq(r.stuck_line, stucks[_i].line);
}
END_TEST

/* Eight threads ask for twice what one node serves: they get what it serves, and the link what it carries. */
static const struct served { const char *machine, *sets; double gbs; } served[] = {
	{ "node:1 core:8 pu:1", QUIET "node_gbs=8", 8 },
	{ "node:2 core:4 pu:1", QUIET "node_gbs=8 link_gbs=100", 8 },
	{ "node:1 core:8 pu:1", QUIET "node_gbs=1000", 16 },
};

START_TEST(bandwidth)
{
	const struct served *c = &served[_i];
	struct sim_result r = sim_made_result(c->machine, c->sets,
		"workload 1\nmetric bandwidth\nlimit 5s\nprocess p\nmemory m 64MiB\nthread t\ntouch m\nstart u\nwait\nthread u count 8\n"
		"repeat 1000000\nrun 10ms stall 1 rate 2GB/s on m\nend\n", "stay");
	ck_assert_msg(fabs(r.metric - c->gbs) < 0.05 * c->gbs, "%.3f GB/s, not %.3f", r.metric, c->gbs);
}
END_TEST

static double placed_time(unsigned thread_node, const char *sets)
{
	struct sim_machine m;
	struct workload w;
	uint8_t nodes[2] = { 0, (uint8_t)thread_node };
	sim_made_machine(&m, "node:2 core:2 pu:1", sets);
	/* the first fills the memory where it is, and never runs on it; the second only runs on it */
	sim_made_workload(&w, P "thread t\ntouch m\nstart u\nwait\nrun 1us on m slice\nthread u\nrun 10s stall 0.5 on m\n");
	struct placed placed = { .workload = &w, .n = 2, .fixed = 2, .node = nodes, .nodes = 2 };
	struct sim_run run = { .machine = &m, .workload = &w, .seed = 1, .placed = &placed };
	config_defaults(&run.config);
	run.config.sample_hz = 0;
	nsched_error_t error;
	ck_assert_int_ge(nsched_config_set(&run.config, "policy", "stay", &error), 0);
	sim_run(&run);
	ck_assert_int_eq(run.result.error, 0);
	workload_free(&w);
	sim_machine_free(&m);
	return run.result.time_s;
}

/* Distance 21: all accesses take 2.1 times as long, and half of the time was waiting. */
START_TEST(distance)
{
	ck_assert_double_eq_tol(placed_time(0, QUIET), 10, 0.01);
	ck_assert_double_eq_tol(placed_time(1, QUIET), 15.5, 0.02);
	ck_assert_double_eq_tol(placed_time(1, QUIET "remote=2"), 21, 0.03);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, takes, timed);
	made_loop(tcase, stuck, stucks);
	made_loop(tcase, bandwidth, served);
	tcase_add_test(tcase, distance);
}

int main(void)
{
	return made_main("engine", add);
}
