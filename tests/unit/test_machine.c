/* The machine: how it is put together, what its nodes serve, and what is refused. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "made.h"
#include "pure/machine.h"

static bool near(float a, float b)
{
	return fabsf(a - b) < 1e-4f * fmaxf(a, b);
}

START_TEST(put_together)
{
	struct machine m;
	const char *why = "?";
	ck_assert_int_eq(machine_init(&m, 3), 0);
	ck_assert_uint_eq(machine_add_node(&m, 4, 1 << 20), 0);
	ck_assert_uint_eq(machine_add_cpu(&m, 7, 1, 2), 0);
	ck_assert_uint_eq(machine_add_cpu(&m, 5, 1, 2), 1);
	ck_assert_uint_eq(machine_add_node(&m, 9, 0), 1);
	ck_assert_uint_eq(machine_add_cpu(&m, 6, 3, 4), 2);
	machine_set_distances(&m, NULL);
	ck_assert_int_eq(machine_check(&m, &why), 0);
	ck_assert_ptr_null(why);
	ck_assert(m.node[0].first_cpu == 0 && m.node[0].n_cpus == 2 && m.node[1].first_cpu == 2 && m.node[1].n_cpus == 1);
	ck_assert(m.cpu[2].node == 1 && m.cpu[2].os == 6 && m.cpu[2].core == 3 && m.cpu[2].l3 == 4);
	ck_assert_int_eq(machine_node_of_os(&m, 9), 1);
	ck_assert_int_eq(machine_node_of_os(&m, 4), 0);
	ck_assert_int_eq(machine_node_of_os(&m, 0), -1);
	machine_free(&m);
	ck_assert_uint_eq(m.n_nodes, 0);
	ck_assert_ptr_null(m.cpu);
}
END_TEST

START_TEST(sizes)
{
	struct machine m;
	ck_assert_int_eq(machine_init(&m, MACHINE_CPUS + 1), -E2BIG);
	machine_free(&m);
	ck_assert_int_eq(machine_init(&m, MACHINE_CPUS), 0);
	machine_free(&m);
	ck_assert_int_eq(machine_init(&m, 0), 0);
	machine_free(&m);
	made_machine(&m, MACHINE_NODES, 2);
	const char *why;
	ck_assert_int_eq(machine_check(&m, &why), 0);
	ck_assert(near(m.latency_ns[63][0], 189));
	machine_free(&m);
}
END_TEST

START_TEST(distances)
{
	static const unsigned odd[] = { 10, 30, 12, 10 };   /* not symmetrical: rows are the CPU's side */
	struct machine m;
	made_machine(&m, 2, 4);
	ck_assert(near(m.latency_ns[0][0], MACHINE_LOCAL_NS) && near(m.latency_ns[0][1], 189) && near(m.latency_ns[1][0], 189));
	ck_assert(near(m.node[0].lines_per_ns, MACHINE_STREAMS * 4 / 90));
	machine_set_distances(&m, odd);
	ck_assert(near(m.latency_ns[0][1], 270) && near(m.latency_ns[1][0], 108));
	machine_free(&m);
}
END_TEST

/* Memory without CPUs serves as the average node with CPUs, over its own latency. */
START_TEST(service_without_cpus)
{
	struct machine m;
	ck_assert_int_eq(machine_init(&m, 6), 0);
	machine_add_node(&m, 0, 1 << 30);
	for (unsigned c = 0; c < 4; c++) machine_add_cpu(&m, c, c, 0);
	machine_add_node(&m, 1, 0);
	for (unsigned c = 4; c < 6; c++) machine_add_cpu(&m, c, c, 1);
	machine_add_node(&m, 2, 1 << 30);
	machine_set_distances(&m, NULL);
	ck_assert(near(m.node[2].lines_per_ns, MACHINE_STREAMS * 3 / 90));
	ck_assert(near(m.node[1].lines_per_ns, MACHINE_STREAMS * 2 / 90));
	machine_free(&m);
}
END_TEST

static const struct refusal { const char *why; unsigned first_cpu, n_cpus, nodes; float latency; } refusals[] = {
	{ "the CPUs are not sorted by node", 1, 2, 2, 90 },
	{ "a CPU belongs to no node", 2, 1, 2, 90 },
	{ "a latency is missing", 2, 2, 2, 0 },
	{ "a latency is missing", 2, 2, 2, NAN },
	{ "there is no node", 2, 2, 0, 90 },
};

START_TEST(refused)
{
	const struct refusal *c = &refusals[_i];
	const char *why = NULL;
	struct machine m;
	made_machine(&m, 2, 2);
	m.node[1].first_cpu = (uint16_t)c->first_cpu;
	m.node[1].n_cpus = (uint16_t)c->n_cpus;
	m.n_nodes = c->nodes;
	m.latency_ns[1][1] = c->latency;
	ck_assert_int_eq(machine_check(&m, &why), -EINVAL);
	ck_assert_str_eq(why, c->why);
	machine_free(&m);
}
END_TEST

/* Two nodes, of which one has CPUs and two have memory or CPUs. */
static const struct worth_case { unsigned cpus[2]; uint64_t memory[2]; unsigned nodes; bool worthwhile; } worth_cases[] = {
	{ { 2, 2 }, { 1, 1 }, 2, true },
	{ { 2, 0 }, { 1, 1 }, 2, true },
	{ { 2, 2 }, { 1, 0 }, 2, true },
	{ { 2, 0 }, { 0, 1 }, 2, true },
	{ { 0, 0 }, { 1, 1 }, 2, false },
	{ { 2, 0 }, { 1, 0 }, 1, false },
};

START_TEST(worthwhile)
{
	const struct worth_case *c = &worth_cases[_i];
	struct machine m;
	ck_assert_int_eq(machine_init(&m, 4), 0);
	for (unsigned n = 0; n < c->nodes; n++) {
		machine_add_node(&m, n, c->memory[n]);
		for (unsigned k = 0; k < c->cpus[n]; k++) machine_add_cpu(&m, m.n_cpus, k, n);
	}
	machine_set_distances(&m, NULL);
	ck_assert(machine_worthwhile(&m) == c->worthwhile);
	machine_free(&m);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, put_together);
	tcase_add_test(tcase, sizes);
	tcase_add_test(tcase, distances);
	tcase_add_test(tcase, service_without_cpus);
	made_loop(tcase, refused, refusals);
	made_loop(tcase, worthwhile, worth_cases);
}

int main(void)
{
	return made_main("machine", add);
}
