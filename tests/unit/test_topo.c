/* Machines as hwloc describes them: synthetic ones, one that lstopo wrote, and this one. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made.h"
#include "sys/measured.h"
#include "sys/topo.h"

static const struct shape { const char *description; unsigned nodes, cpus, cores, l3; } shapes[] = {
	{ "node:1 core:4 pu:1", 1, 4, 4, 4 },
	{ "node:4 core:2 pu:1", 4, 8, 8, 8 },
	{ "node:2 l3:2 core:2 pu:2", 2, 16, 8, 4 },
	{ "pack:2 node:2 core:3 pu:2", 4, 24, 12, 24 },
	{ "node:64 core:1 pu:1", 64, 64, 64, 64 },
};

static unsigned differing(const struct machine *m, bool l3)
{
	unsigned n = 0;
	for (unsigned c = 0; c < m->n_cpus; c++) {
		unsigned k = 0;
		while (k < c && (l3 ? m->cpu[k].l3 != m->cpu[c].l3 : m->cpu[k].core != m->cpu[c].core)) k++;
		n += k == c;
	}
	return n;
}

START_TEST(synthetic)
{
	const struct shape *c = &shapes[_i];
	const char *why;
	struct machine m;
	ck_assert_int_eq(topo_load_synthetic(&m, c->description), 0);
	ck_assert_int_eq(machine_check(&m, &why), 0);
	ck_assert_uint_eq(m.n_nodes, c->nodes);
	ck_assert_uint_eq(m.n_cpus, c->cpus);
	for (unsigned n = 0; n < m.n_nodes; n++) {
		ck_assert_uint_eq(m.node[n].n_cpus, c->cpus / c->nodes);
		ck_assert_uint_gt(m.node[n].memory_bytes, 0);
		ck_assert_uint_eq(m.node[n].os, n);
	}
	ck_assert_uint_eq(differing(&m, false), c->cores);
	ck_assert_uint_eq(differing(&m, true), c->l3);
	for (unsigned cpu = 0; cpu < m.n_cpus; cpu++)
		for (unsigned k = 0; k < cpu; k++) ck_assert_uint_ne(m.cpu[k].os, m.cpu[cpu].os);
	machine_free(&m);
}
END_TEST

static const struct refusal { const char *description; int result; } refusals[] = {
	{ "nodes and cores", -EINVAL }, { "", -EINVAL }, { "node:65 core:1 pu:1", -E2BIG },
};

START_TEST(refused)
{
	struct machine m;
	ck_assert_int_eq(topo_load_synthetic(&m, refusals[_i].description), refusals[_i].result);
}
END_TEST

/* Three nodes numbered 0, 2 and 5, of which 5 has no CPU; distances that are not symmetrical. */
START_TEST(xml)
{
	static const float latency[3][3] = { { 90, 189, 153 }, { 198, 90, 153 }, { 153, 153, 90 } };
	struct machine m;
	char path[512];
	snprintf(path, sizeof path, "%s/tests/fixtures/3n-one-without-cpus.xml", getenv("srcdir") ? getenv("srcdir") : ".");
	ck_assert_int_eq(topo_load_xml(&m, path), 0);
	ck_assert_uint_eq(m.n_nodes, 3);
	ck_assert_uint_eq(m.n_cpus, 4);
	ck_assert(m.node[0].os == 0 && m.node[1].os == 2 && m.node[2].os == 5);
	ck_assert(m.node[0].n_cpus == 2 && m.node[1].n_cpus == 2 && m.node[2].n_cpus == 0);
	ck_assert(m.cpu[0].os == 0 && m.cpu[1].os == 2 && m.cpu[2].os == 1 && m.cpu[3].os == 3);
	ck_assert_uint_eq(m.node[2].memory_bytes, 16ull << 30);
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 3; j++)
			ck_assert_msg(fabsf(m.latency_ns[i][j] - latency[i][j]) < 0.01f, "%u to %u: %g", i, j, (double)m.latency_ns[i][j]);
	machine_free(&m);
	ck_assert_int_eq(topo_load_xml(&m, "/nowhere.xml"), -EINVAL);
}
END_TEST

static bool within(const struct machine *m, const struct cpu_mask *mask)
{
	for (unsigned c = 0; c < m->n_cpus; c++)
		if (!mask_has(mask, m->cpu[c].os)) return false;
	return true;
}

/* What `nsched doctor --measure` has written of this machine counts; what is of another one, or not of all nodes, does not. */
START_TEST(measured_before)
{
	struct measured measured;
	struct machine claimed, m;
	char folder[] = "/tmp/nsched-topo.XXXXXX", path[512];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
	ck_assert_int_eq(measured_identify(&measured, ""), 0);
	ck_assert_int_eq(measured_path(measured.identity, path, sizeof path), 0);
	*strrchr(path, '/') = 0;
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(topo_load(&claimed, NULL), 0);
	for (int of_all = 1; of_all >= 0; of_all--) {
		for (unsigned i = 0; i < measured.n_nodes; i++)
			for (unsigned k = 0; k < measured.n_nodes; k++) measured.latency_ns[i][k] = of_all || i || k ? 123 : 0;
		measured_path(measured.identity, path, sizeof path);
		FILE *file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		measured_write(&measured, file);
		fclose(file);
		ck_assert_int_eq(topo_load(&m, NULL), 0);
		ck_assert(fabsf(m.latency_ns[0][0] - (of_all ? 123 : claimed.latency_ns[0][0])) < 0.01f);
		ck_assert(fabsf(m.node[0].lines_per_ns * m.latency_ns[0][0] / (claimed.node[0].lines_per_ns * claimed.latency_ns[0][0]) - 1) < 0.001f);
		machine_free(&m);
		unlink(path);
	}
	machine_free(&claimed);
	*strrchr(path, '/') = 0;
	rmdir(path);
	rmdir(folder);
}
END_TEST

START_TEST(this_machine)
{
	struct machine m;
	struct cpu_mask all, one;
	cpu_set_t before, after;
	ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
	ck_assert_int_eq(topo_cpuset(&all), 0);
	ck_assert_int_eq(topo_load(&m, NULL), 0);
	ck_assert_uint_ge(m.n_nodes, 1);
	ck_assert_uint_ge(m.n_cpus, 1);
	ck_assert(within(&m, &all));
	unsigned cpu_os = m.cpu[m.n_cpus - 1].os;
	machine_free(&m);
	mask_clear(&one);
	mask_add(&one, cpu_os);
	ck_assert_int_eq(topo_load(&m, &one), 0);
	ck_assert_uint_eq(m.n_cpus, 1);
	ck_assert_uint_eq(m.cpu[0].os, cpu_os);
	machine_free(&m);
	ck_assert_int_eq(sched_getaffinity(0, sizeof after, &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, synthetic, shapes);
	made_loop(tcase, refused, refusals);
	tcase_add_test(tcase, xml);
	tcase_add_test(tcase, measured_before);
	tcase_add_test(tcase, this_machine);
}

int main(void)
{
	return made_main("topo", add);
}
