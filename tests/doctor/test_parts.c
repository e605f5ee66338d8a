/* The doctor's readers, by tables: lists, cgroups of both versions, numa_maps, environments, refusals, and the file of
 * what was measured. */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "libnsched/sys/cpulist.h"

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static const struct {
	const char *in, *out;
	size_t bytes;
} lists[] = {
	{ "0", "0", 64 }, { "0-3", "0-3", 64 }, { "0-1", "0-1", 64 }, { "0,2,4-7,8191", "0,2,4-7,8191", 64 }, { "1,2,3", "1-3", 64 },
	{ "0,2,4,6,8,10,12,14,16", "0,2,4,6,8...", 24 }, { "8190-8191", "8190-8191", 16 },
};

START_TEST(list_printed)
{
	struct cpu_mask mask;
	char text[64];

	ck_assert_int_eq(cpulist_parse(lists[_i].in, &mask), 0);
	ck_assert_str_eq(list_text(&mask, text, lists[_i].bytes), lists[_i].out);
}
END_TEST

/* ---- cgroups ------------------------------------------------------------------------------------------------------- */

static const struct limits_case {
	const char *what, *cgroup;
	struct { const char *name, *text; } file[6];
	const char *cpus, *path;
	double quota;
} limits[] = {
	{ "no cgroup", NULL, { { NULL, NULL } }, "0-7", "", 0 },
	{ "version 2, the root", "0::/", { { NULL, NULL } }, "0-7", "/", 0 },
	{ "version 2", "0::/job/step",
	  { { "/sys/fs/cgroup/job/step/cpuset.cpus.effective", "2-3" }, { "/sys/fs/cgroup/job/step/cpu.max", "max 100000" } }, "2-3", "/job/step", 0 },
	{ "version 2, the controller is on further up", "0::/job/step", { { "/sys/fs/cgroup/job/cpuset.cpus.effective", "4-5" } }, "4-5", "/job/step", 0 },
	{ "version 2, in a container", "0::/", { { "/sys/fs/cgroup/cpuset.cpus.effective", "1" }, { "/sys/fs/cgroup/cpu.max", "150000 100000" } }, "1", "/", 1.5 },
	{ "version 2, the tightest quota counts", "0::/job/step",
	  { { "/sys/fs/cgroup/job/cpu.max", "200000 100000" }, { "/sys/fs/cgroup/job/step/cpu.max", "800000 100000" } }, "0-7", "/job/step", 2 },
	{ "version 2, a period of its own", "0::/job", { { "/sys/fs/cgroup/job/cpu.max", "50000 20000" } }, "0-7", "/job", 2.5 },
	{ "version 1", "5:cpu,cpuacct:/a\n4:cpuset:/b\n0::/c",
	  { { "/sys/fs/cgroup/cpuset/b/cpuset.effective_cpus", "0,2" }, { "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000" },
	    { "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000" } }, "0,2", "/c", 3 },
	{ "version 1, no quota", "5:cpu:/a\n4:cpuset:/b",
	  { { "/sys/fs/cgroup/cpuset/b/cpuset.cpus", "6" }, { "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1" },
	    { "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000" } }, "6", "/b", 0 },
	{ "version 1, a folder that is not in the container", "4:cpuset:/docker/123", { { "/sys/fs/cgroup/cpuset/cpuset.cpus", "0-1" } }, "0-1", "/docker/123", 0 },
	{ "CPUs that are off", "0::/j", { { "/sys/fs/cgroup/j/cpuset.cpus.effective", "6-9" } }, "6-7", "/j", 0 },
	{ "an empty list", "0::/j", { { "/sys/fs/cgroup/j/cpuset.cpus.effective", "" } }, "0-7", "/j", 0 },
	{ "not a list", "0::/j", { { "/sys/fs/cgroup/j/cpuset.cpus.effective", "x" } }, "0-7", "/j", 0 },
};

START_TEST(cgroup)
{
	const struct limits_case *l = &limits[_i];
	struct recorded c = { .pid = 7, .section = calloc(16, sizeof(struct section)) };
	char cpus[64];

	case_edit(&c, "/sys/devices/system/cpu/online", "0-7");
	if (l->cgroup != NULL)
		case_edit(&c, "/proc/7/cgroup", l->cgroup);
	for (int i = 0; l->file[i].name != NULL; i++)
		case_edit(&c, l->file[i].name, l->file[i].text);

	struct doctor *doctor = case_doctor(&c);

	ck_assert_msg(strcmp(list_text(&doctor->own.cpus, cpus, sizeof(cpus)), l->cpus) == 0, "%s: %s", l->what, cpus);
	ck_assert_str_eq(doctor->own.cgroup, l->path);
	ck_assert_msg(doctor->own.quota_cpus > l->quota - 0.01 && doctor->own.quota_cpus < l->quota + 0.01, "%s: %f", l->what, doctor->own.quota_cpus);
	case_forget(doctor);
	case_free(&c);
}
END_TEST

/* ---- numa_maps ------------------------------------------------------------------------------------------------------ */

static const struct {
	const char *text;
	uint64_t kib[3];         /* of nodes 0, 1, 4 */
	const char *policy;      /* of the first kind, or NULL */
	uint64_t policy_kib;
} maps[] = {
	{ "7f00 default anon=2 dirty=2 N0=1 N4=1 kernelpagesize_kB=4", { 4, 0, 4 }, NULL, 0 },
	{ "7f00 default heap anon=3 N1=3 kernelpagesize_kB=4\n7f01 default stack:5 anon=1 N0=1 kernelpagesize_kB=4", { 4, 12, 0 }, NULL, 0 },
	{ "7f00 default file=/usr/lib/libc.so mapped=100 N0=100 kernelpagesize_kB=4", { 0, 0, 0 }, NULL, 0 },
	{ "7f00 default file=/dev/shm/x dirty=4 N0=4 kernelpagesize_kB=4", { 16, 0, 0 }, NULL, 0 },
	{ "7f00 default file=/anon_hugepage\\040(deleted) huge anon=2 N1=2 kernelpagesize_kB=2048", { 0, 4096, 0 }, NULL, 0 },
	{ "7f00 bind:0-1 anon=2 N0=2 kernelpagesize_kB=4\n7f01 bind:0-1 anon=1 N1=1 kernelpagesize_kB=4", { 8, 4, 0 }, "bind:0-1", 12 },
	{ "7f00 prefer (many):1 anon=2 N1=2 kernelpagesize_kB=4", { 0, 8, 0 }, "prefer (many):1", 8 },
	{ "7f00 bind=static:4 anon=2 N4=2 kernelpagesize_kB=4", { 0, 0, 8 }, "bind=static:4", 8 },
	{ "7f00 local anon=2 N0=2 kernelpagesize_kB=4", { 8, 0, 0 }, NULL, 0 },
	{ "7f00 default anon=2 N9=2 kernelpagesize_kB=4", { 0, 0, 0 }, NULL, 0 },
	{ "7f00 default anon=2 N0=2", { 8, 0, 0 }, NULL, 0 },
	{ "", { 0, 0, 0 }, NULL, 0 }, { "7f00", { 0, 0, 0 }, NULL, 0 }, { "N0=5", { 0, 0, 0 }, NULL, 0 }, { "7f00 default N=5 N0 N1=", { 0, 0, 0 }, NULL, 0 },
};

START_TEST(numa_maps)
{
	struct recorded c = { .section = calloc(4, sizeof(struct section)) };
	struct unpacked u;
	struct doctor_memory memory;
	static struct doctor_machine machine;

	machine.n_nodes = 3;
	machine.node[1].os = 1;
	machine.node[2].os = 4;
	case_edit(&c, "/proc/7/numa_maps", maps[_i].text);
	case_unpack(&c, &u);

	struct doctor_files files = { .root = u.now };

	memory_look(&memory, &files, &machine, 7);
	ck_assert(memory.known);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(memory.node_kib[i], maps[_i].kib[i]);
	ck_assert_uint_eq(memory.n_policies, maps[_i].policy != NULL);
	if (maps[_i].policy != NULL) {
		ck_assert_str_eq(memory.policy[0].text, maps[_i].policy);
		ck_assert_uint_eq(memory.policy[0].kib, maps[_i].policy_kib);
	}
	memory_look(&memory, &files, &machine, 8);
	ck_assert(!memory.known);
	ck_assert_ptr_nonnull(strstr(files.gap[0], "process 8: where its memory lies"));
	case_remove(&u);
	case_free(&c);
}
END_TEST

/* ---- environments ----------------------------------------------------------------------------------------------------- */

static const struct {
	const char *variable, *who; /* NULL: binds nobody */
} binding[] = {
	{ "OMP_PROC_BIND=close", "OpenMP" }, { "OMP_PROC_BIND=TRUE", "OpenMP" }, { "OMP_PROC_BIND=false", NULL }, { "OMP_PROC_BIND=", NULL },
	{ "OMP_PROC_BIND=spread,close", "OpenMP" }, { "OMP_PLACES=cores", "OpenMP" }, { "GOMP_CPU_AFFINITY=0-3", "OpenMP" },
	{ "KMP_AFFINITY=compact", "LLVM, Intel" }, { "KMP_AFFINITY=verbose,granularity=fine,scatter", "LLVM, Intel" },
	{ "KMP_AFFINITY=verbose,none", NULL }, { "KMP_AFFINITY=disabled", NULL }, { "KMP_AFFINITY=proclist=[0,1],explicit", "LLVM, Intel" },
	{ "LD_PRELOAD=/usr/lib/liblikwidpin.so", "preload" }, { "LD_PRELOAD=/usr/lib/libm.so", NULL }, { "OMPI_MCA_orte_bound_at_launch=1", "Open MPI" },
	{ "OMPI_MCA_hwloc_base_binding_policy=none", NULL }, { "I_MPI_PIN=1", "Intel MPI" }, { "I_MPI_PIN=off", NULL },
	{ "MV2_ENABLE_AFFINITY=0", NULL }, { "SLURM_CPU_BIND_TYPE=mask_cpu:", "Slurm" }, { "SLURM_CPU_BIND_TYPE=none", NULL },
	{ "XOMP_PROC_BIND=close", NULL }, { "OMP_PROC_BIND", NULL }, { "HOME=/OMP_PROC_BIND=close", NULL },
};

START_TEST(binder)
{
	struct doctor_binders binders = { 0 };
	char environment[128];
	size_t bytes = (size_t)snprintf(environment, sizeof(environment), "A=1%c%s", 0, binding[_i].variable) + 1;

	binders_of(&binders, 7, environment, bytes);
	binders_of(&binders, 8, environment, bytes); /* ranks with the same are told once */
	ck_assert_uint_eq(binders.n, binding[_i].who != NULL);
	if (binding[_i].who != NULL) {
		ck_assert_str_eq(binders.binder[0].who, binding[_i].who);
		ck_assert_str_eq(binders.binder[0].setting, binding[_i].variable);
	}
}
END_TEST

static const struct {
	const char *variables; /* separated by ; */
	const char *launcher, *job;
	long rank;
} ranks[] = {
	{ "OMPI_COMM_WORLD_RANK=3;OMPI_COMM_WORLD_SIZE=4;PMIX_NAMESPACE=12;SLURM_PROCID=0;SLURM_STEP_ID=1", "Open MPI", "12", 3 },
	{ "PMI_RANK=1;PMI_SIZE=2;MPI_LOCALRANKID=1", "MPICH", "of process 5", 1 },
	{ "PMI_RANK=1;PMI_SIZE=2", "PMI", "of process 5", 1 }, { "PMIX_RANK=1;PMIX_NAMESPACE=n", "PMIx", "n", 1 },
	{ "SLURM_PROCID=2;SLURM_JOB_ID=7;SLURM_STEP_ID=0", "Slurm", "7.0", 2 },
	{ "SLURM_PROCID=0;SLURM_JOB_ID=7", NULL, "", -1 },
	{ "FLUX_TASK_RANK=6;FLUX_JOB_ID=f1", "Flux", "f1", 6 }, { "PALS_RANKID=5;PALS_APID=x", "PALS", "x", 5 },
	{ "MV2_COMM_WORLD_RANK=0", "MVAPICH2", "of process 5", 0 }, { "", NULL, "", -1 },
};

START_TEST(rank)
{
	struct doctor_rank found;
	char environment[256];
	size_t bytes = strlen(ranks[_i].variables) + 1;

	memcpy(environment, ranks[_i].variables, bytes);
	for (size_t i = 0; i < bytes; i++)
		environment[i] = environment[i] == ';' ? '\0' : environment[i];
	rank_look(&found, environment, bytes, 5);
	ck_assert_int_eq(found.launcher != NULL, ranks[_i].launcher != NULL);
	if (found.launcher != NULL)
		ck_assert_str_eq(found.launcher, ranks[_i].launcher);
	ck_assert_str_eq(found.job, ranks[_i].job);
	ck_assert_int_eq(found.rank, ranks[_i].rank);
	rank_look(&found, NULL, 0, 5);
	ck_assert_ptr_null(found.launcher);
}
END_TEST

/* ---- refusals -------------------------------------------------------------------------------------------------------------- */

#define ADMIN (UINT64_C(1) << 21)
#define PERFMON (UINT64_C(1) << 38)

static const struct {
	int error, seccomp, paranoid;
	bool is_perf;
	uint64_t capabilities;
	const char *why, *remedy; /* a part of it */
} refusals[] = {
	{ 0, 0, 3, true, 0, "", "" },
	{ -EACCES, 0, 3, true, 0, "", "sysctl -w kernel.perf_event_paranoid=2" },
	{ -EPERM, 0, 4, true, 0, "", "sysctl -w kernel.perf_event_paranoid=2" },
	{ -EPERM, 2, 2, true, 0, "", "--cap-add PERFMON" },
	{ -EPERM, 2, 2, true, ADMIN, "", "--security-opt seccomp=" },
	{ -EPERM, 0, 2, true, 0, "", "kernel.perf_event_mlock_kb" },
	{ -EPERM, 0, 3, true, PERFMON, "", "kernel.perf_event_mlock_kb" },
	{ -EPERM, 2, 2, false, 0, "", "--security-opt seccomp=" },
	{ -EPERM, 0, 2, false, 0, "", "security module" },
	{ -ENOENT, 0, 2, true, 0, "no such event", "" },
	{ -ENODATA, 0, 2, false, 0, "kernel.numa_balancing is 0", "sysctl -w kernel.numa_balancing=1" },
	{ -EMFILE, 0, 2, true, 0, "", "ulimit -n" },
	{ -EACCES, 0, 2, true, 0, "to count for the whole machine", "kernel.perf_event_paranoid=0" },
	{ -EACCES, 0, 0, true, 0, "to count for the whole machine", "security module" },
	{ -EACCES, 0, 2, true, PERFMON, "to count for the whole machine", "security module" },
	{ -EPERM, 2, 2, true, 0, "to count for the whole machine", "--cap-add PERFMON" },
};

START_TEST(remedy)
{
	struct doctor_limits own = { .seccomp = refusals[_i].seccomp, .capabilities = refusals[_i].capabilities };
	static struct doctor_machine machine;
	char text[DOCTOR_LINE];

	machine.perf_paranoid = refusals[_i].paranoid;
	machine.perf_paranoid_known = true;
	remedy_for(refusals[_i].why, refusals[_i].error, refusals[_i].is_perf, &own, &machine, text);
	if (refusals[_i].remedy[0] == '\0')
		ck_assert_str_eq(text, "");
	else
		ck_assert_msg(strstr(text, refusals[_i].remedy) != NULL, "%s", text);
}
END_TEST

/* ---- what was measured ------------------------------------------------------------------------------------------------------ */

static struct measured made(void)
{
	struct measured m = { .identity = 0x1234abcd, .cpu = "A processor", .when = "2026-01-02T03:04:05Z", .n_nodes = 3, .os = { 0, 1, 8 } };

	for (unsigned i = 0; i < 2; i++) {      /* node 8 has no CPUs */
		for (unsigned j = 0; j < 3; j++) {
			m.latency_ns[i][j] = 90.5f + (float)(i != j) * 60;
			m.bandwidth_mbs[i][j] = 10000 - 100 * (float)j;
		}
	}
	return m;
}

static char *written(const struct measured *m)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	measured_write(m, out);
	fclose(out);
	return text;
}

START_TEST(measured_round)
{
	struct measured m = made(), back = m;
	char *text = written(&m);

	memset(back.latency_ns, 0, sizeof(back.latency_ns));
	memset(back.bandwidth_mbs, 0, sizeof(back.bandwidth_mbs));
	memset(back.when, 0, sizeof(back.when));
	ck_assert_int_eq(measured_parse(&back, text), 0);
	ck_assert_str_eq(back.when, m.when);
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned j = 0; j < 3; j++) {
			ck_assert_float_eq_tol(back.latency_ns[i][j], m.latency_ns[i][j], 0.01f);
			ck_assert_float_eq_tol(back.bandwidth_mbs[i][j], m.bandwidth_mbs[i][j], 1.0f);
		}
	}
	free(text);
}
END_TEST

#define HEAD "nsched-machine 1\nidentity 000000001234abcd\n"
#define NODES "node 0\nnode 1\nnode 8\n"

static const struct {
	const char *text;
	int result;
} files[] = {
	{ HEAD NODES, 0 },
	{ HEAD NODES "something new 5\nlatency_ps 0 90000 150000 -\n", 0 },
	{ HEAD NODES "latency_ps 0 90000 150000 -", 0 },
	{ "", -EINVAL }, { "nsched", -EINVAL }, { "nsched-machine 1\n", -EINVAL }, { HEAD, -EINVAL },
	{ "nsched-machine 2\nidentity 000000001234abcd\n" NODES, -ESTALE },
	{ "nsched-machine 1\nidentity 000000001234abce\n" NODES, -ESTALE }, { "nsched-machine 1\nidentity 1234abcd\n" NODES, -ESTALE },
	{ HEAD "node 0\nnode 1\n", -EINVAL }, { HEAD "node 1\nnode 0\nnode 8\n", -EINVAL }, { HEAD NODES "node 9\n", -EINVAL },
	{ HEAD NODES "latency_ps 0 90000 150000\n", -EINVAL }, { HEAD NODES "latency_ps 0 90000 150000 - 7\n", -EINVAL },
	{ HEAD NODES "latency_ps 2 90000 150000 -\n", -EINVAL }, { HEAD NODES "latency_ps 0 x 150000 -\n", -EINVAL },
	{ HEAD NODES "latency_ps 0 0 150000 -\n", -EINVAL }, { HEAD NODES "bandwidth_mbs 0 9999999999 1 1\n", -EINVAL },
	{ HEAD NODES "latency_ps 0 90.5 150000 -\n", -EINVAL }, { HEAD NODES "latency_ps\n", 0 }, { HEAD NODES "latency_ps \n", -EINVAL },
};

START_TEST(measured_file)
{
	struct measured m = made();

	ck_assert_msg(measured_parse(&m, files[_i].text) == files[_i].result, "%s", files[_i].text);
	if (files[_i].result != 0)
		ck_assert_float_eq_tol(m.latency_ns[0][0], 90.5f, 0.01f); /* what there was is still there */
}
END_TEST

START_TEST(measured_cut)
{
	struct measured m = made();
	char *text = written(&m);

	for (size_t length = strlen(text); length > 0; length--) {
		struct measured back = made();

		text[length - 1] = '\0';
		(void)measured_parse(&back, text); /* no crash; a shorter number can't be told from a whole one */
	}
	free(text);
}
END_TEST

/* The same for equal machines, another for each that differs. */
START_TEST(measured_identity)
{
	static const struct {
		const char *file, *text;
		bool same;
	} edits[] = {
		{ "/proc/sys/kernel/hostname", "other", true },
		{ "/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  469000 kB\nNode 0 MemFree: 5 kB", true },
		{ "/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  938232 kB\nNode 0 MemFree: 5 kB", false },
		{ "/sys/devices/system/node/node0/distance", "10 31 21 21", false }, { "/sys/devices/system/node/node1/cpulist", "2", false },
		{ "/proc/cpuinfo", "model name	: another", false }, { "/sys/devices/system/node/online", "0-2", false },
	};

	for (int i = 0; i < COUNT(edits); i++) {
		struct recorded c;
		struct unpacked u;
		struct measured before, after;

		case_load(&c, "one-node");
		case_unpack(&c, &u);
		ck_assert_int_eq(measured_identify(&before, u.now), 0);
		case_remove(&u);
		case_edit(&c, edits[i].file, edits[i].text);
		case_unpack(&c, &u);
		ck_assert_int_eq(measured_identify(&after, u.now), 0);
		ck_assert_msg((before.identity == after.identity) == edits[i].same, "%s", edits[i].file);
		ck_assert_uint_eq(before.n_nodes, 4);
		case_remove(&u);
		case_free(&c);
	}
}
END_TEST

START_TEST(measured_where)
{
	char path[512];

	setenv("XDG_CACHE_HOME", "/cache", 1);
	setenv("HOME", "/home/me", 1);
	ck_assert_int_eq(measured_path(0xab, path, sizeof(path)), 0);
	ck_assert_str_eq(path, "/cache/nsched/machine-00000000000000ab");
	ck_assert_int_eq(measured_path(0xab, path, 8), -ENAMETOOLONG);
	setenv("XDG_CACHE_HOME", "relative", 1);
	ck_assert_int_eq(measured_path(0xab, path, sizeof(path)), 0);
	ck_assert_str_eq(path, "/home/me/.cache/nsched/machine-00000000000000ab");
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	ck_assert_int_eq(measured_path(0xab, path, sizeof(path)), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor's parts");
	TCase *parts = tcase_create("parts");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, parts);
	tcase_set_timeout(parts, 60);
	tcase_add_loop_test(parts, list_printed, 0, COUNT(lists));
	tcase_add_loop_test(parts, cgroup, 0, COUNT(limits));
	tcase_add_loop_test(parts, numa_maps, 0, COUNT(maps));
	tcase_add_loop_test(parts, binder, 0, COUNT(binding));
	tcase_add_loop_test(parts, rank, 0, COUNT(ranks));
	tcase_add_loop_test(parts, remedy, 0, COUNT(refusals));
	tcase_add_test(parts, measured_round);
	tcase_add_loop_test(parts, measured_file, 0, COUNT(files));
	tcase_add_test(parts, measured_cut);
	tcase_add_test(parts, measured_identity);
	tcase_add_test(parts, measured_where);
	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
