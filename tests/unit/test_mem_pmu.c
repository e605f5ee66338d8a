/* Hardware samples of memory accesses: which hardware takes them here, and what this kernel writes, which the same ring code reads. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made.h"
#include "mem_records.h"
#include "sys/mem_pmu.h"
#include "sys/mem_sample.h"

/* ---- what this kernel writes --------------------------------------------------------------------------------------- */

/* The record layout of the hardware's samples, asked for of page faults: the kernel fills in what it knows of them. */
START_TEST(of_this_kernel)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
	                                .sample_type = MEM_SAMPLE_TYPE, .exclude_kernel = 1, .exclude_hv = 1 };
	struct perf_event_attr leader = { .type = PERF_TYPE_SOFTWARE, .size = sizeof leader, .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	                                  .exclude_kernel = 1, .exclude_hv = 1 };
	struct perf_ring ring = { 0 };
	enum { PAGES = 300 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(memory != MAP_FAILED);
	madvise((void *)memory, PAGES * page, MADV_NOHUGEPAGE);
	int ret = perf_ring_open_more(&ring, &attr, _i ? &leader : NULL, 0, 0);
	if (ret) {
		printf("no events here: %s\n", perf_refusal(ret));
		return;
	}
	unsigned seen = 0;
	for (unsigned round = 0; round < 3; round++) {                  /* more than the ring holds: it wraps */
		for (unsigned i = round * 100; i < round * 100 + 100; i++) memory[i * page + 5 * i] = 1;
		struct perf_cursor cursor = perf_ring_begin(&ring);
		union perf_record record;
		while (perf_cursor_next(&cursor, &record)) {
			struct mem_sample sample;
			if (!mem_sample_perf(&record, &sample) || sample.addr - (uintptr_t)memory >= PAGES * page) continue;
			ck_assert_uint_eq(sample.addr, (uintptr_t)memory + seen * page + 5 * seen);
			ck_assert_uint_eq(sample.period, 1);
			ck_assert_int_eq(sample.served, SERVED_UNKNOWN);
			seen++;
		}
		perf_ring_read(&ring, &cursor);
	}
	ck_assert_uint_eq(seen, PAGES);
	perf_ring_close(&ring);
	ck_assert(fcntl(ring.fd, F_GETFD) < 0);
	munmap((void *)memory, PAGES * page);
}
END_TEST

/* What the hardware can't do is refused, and leaves no descriptor behind. */
START_TEST(refused)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
	                                .sample_type = MEM_SAMPLE_TYPE, .exclude_kernel = 1, .exclude_hv = 1 }, wrong = attr;
	struct perf_ring ring = { 0 };
	int before = dup(0);
	close(before);
	ck_assert_int_lt(perf_ring_open_more(&ring, &attr, NULL, 65536, 0), 0);     /* software has no AUX area */
	wrong.type = 0x7fffffff;
	ck_assert_int_lt(perf_ring_open_more(&ring, &wrong, NULL, 0, 0), 0);
	ck_assert_int_lt(perf_ring_open_more(&ring, &attr, &wrong, 0, 0), 0);
	ck_assert_int_lt(perf_ring_open_more(&ring, &wrong, &attr, 0, 0), 0);
	ck_assert_ptr_null(ring.page);
	int after = dup(0);
	ck_assert_int_eq(after, before);
}
END_TEST

/* ---- which hardware ------------------------------------------------------------------------------------------------ */

static void write_file(const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof path, "%s", name);
	for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		*at = 0;
		(void)mkdir(path, 0755);
		*at = '/';
	}
	FILE *out = fopen(path, "we");
	ck_assert_msg(out != NULL, "%s", path);
	fprintf(out, "%s\n", text);
	fclose(out);
}

#define DEVICES "pmu_root/sys/bus/event_source/devices/"
#define INTEL(device) DEVICES device "/type", "4", DEVICES device "/format/event", "config:0-7", DEVICES device "/format/umask", "config:8-15", \
	DEVICES device "/format/ldlat", "config1:0-15", DEVICES device "/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3", \
	DEVICES device "/events/mem-stores", "event=0xd0,umask=0x82"
#define IBS DEVICES "ibs_op/type", "11", DEVICES "ibs_op/format/cnt_ctl", "config:19"
#define SPE DEVICES "arm_spe_0/type", "9", DEVICES "arm_spe_0/format/load_filter", "config:33", DEVICES "arm_spe_0/format/store_filter", "config:34", \
	DEVICES "arm_spe_0/format/jitter", "config:16", DEVICES "arm_spe_0/format/min_latency", "config2:0-11"

static const struct pmu_case {
	const char *files[24], *release, *name;
	int ret;
	enum mem_pmu_kind kind;
	uint64_t type, config, config1, config2;
	bool exclude_kernel, leader;
	uint64_t leader_config, stores_config;
} pmu_cases[] = {
	{ { INTEL("cpu") }, "5.15.0-91-generic", "Intel load latency", 0, MEM_PMU_INTEL, 4, 0x1cd, 80, 0, true, false, 0, 0x82d0 },
	{ { INTEL("cpu_core"), DEVICES "cpu_core/events/mem-loads-aux", "event=0x03,umask=0x82" }, "6.8.0", "Intel load latency", 0, MEM_PMU_INTEL, 4, 0x1cd, 80, 0,
	  true, true, 0x8203, 0x82d0 },
	{ { IBS }, "5.14.0-503.el9.x86_64", "AMD IBS, raw", 0, MEM_PMU_IBS_RAW, 11, 1 << 19, 0, 0, false, false, 0, 0 },
	{ { IBS }, "6.1.0-13-amd64", "AMD IBS", 0, MEM_PMU_IBS, 11, 1 << 19, 0, 0, false, false, 0, 0 },
	{ { IBS, DEVICES "ibs_op/format/swfilt", "config2:0" }, "6.14.2", "AMD IBS", 0, MEM_PMU_IBS, 11, 1 << 19, 0, 1, true, false, 0, 0 },
	{ { SPE }, "6.6.0", "Arm SPE", 0, MEM_PMU_SPE, 9, UINT64_C(3) << 33 | 1 << 16, 0, 80, true, false, 0, 0 },
	{ { DEVICES "cpu/type", "4" }, "6.1.0", NULL, -ENODEV, MEM_PMU_INTEL, 0, 0, 0, 0, false, false, 0, 0 },
	{ { NULL }, "6.1.0", NULL, -ENODEV, MEM_PMU_INTEL, 0, 0, 0, 0, false, false, 0, 0 },
	{ { DEVICES "cpu/type", "4", DEVICES "cpu/events/mem-loads", "event=0xcd,surprise=1" }, "6.1.0", NULL, -EINVAL, MEM_PMU_INTEL, 0, 0, 0, 0, false, false, 0, 0 },
	{ { SPE, DEVICES "arm_spe_0/format/min_latency", "config2:0-3" }, "6.6.0", NULL, -EINVAL, MEM_PMU_SPE, 0, 0, 0, 0, false, false, 0, 0 },
	{ { SPE, DEVICES "arm_spe_0/format/min_latency", "elsewhere:0-11" }, "6.6.0", NULL, -EINVAL, MEM_PMU_SPE, 0, 0, 0, 0, false, false, 0, 0 },
};

START_TEST(which_pmu)
{
	const struct pmu_case *c = &pmu_cases[_i];
	struct mem_pmu pmu;
	char why[MEM_WHY] = "";
	if (system("rm -rf pmu_root")) ck_abort_msg("pmu_root stays");
	for (unsigned i = 0; c->files[i]; i += 2) write_file(c->files[i], c->files[i + 1]);
	ck_assert_int_eq(mem_pmu_find("pmu_root", c->release, &pmu, why), c->ret);
	ck_assert_int_eq(why[0] != 0, c->ret != 0);
	if (system("rm -rf pmu_root")) ck_abort_msg("pmu_root stays");
	if (c->ret) return;
	ck_assert_str_eq(pmu.name, c->name);
	ck_assert_int_eq(pmu.kind, c->kind);
	ck_assert_uint_eq(pmu.attr.type, c->type);
	ck_assert_uint_eq(pmu.attr.config, c->config);
	ck_assert_uint_eq(pmu.attr.config1, c->config1);
	ck_assert_uint_eq(pmu.attr.config2, c->config2);
	ck_assert_int_eq(pmu.attr.exclude_kernel, c->exclude_kernel);
	ck_assert_int_eq(pmu.has_leader, c->leader);
	if (c->leader) ck_assert_uint_eq(pmu.leader.config, c->leader_config);
	ck_assert_int_eq(pmu.has_stores, c->stores_config != 0);
	if (c->stores_config) ck_assert_uint_eq(pmu.stores.config, c->stores_config);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, of_this_kernel, 0, 2);
	tcase_add_test(tcase, refused);
	made_loop(tcase, which_pmu, pmu_cases);
}

int main(void)
{
	return made_main("mem_pmu", add);
}
