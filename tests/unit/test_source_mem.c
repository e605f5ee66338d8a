/* The source of hardware samples as a whole, on hardware that is made up: rings in memory in the place of the kernel's (-Wl,--wrap), into which the
 * test writes what processors and kernels write. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made.h"
#include "mem_records.h"
#include "sys/mem_pmu.h"
#include "sys/mem_sample.h"
#include "sys/perf_ring.h"
#include "sys/source.h"

enum { RINGS = 8, PERIOD_NS = 4000000, THREAD = 3, TID = 4711, DRAM = 300, LLC_MISS = 1 << 9, ADDR = 0x7000000 };

/* ---- the hardware ------------------------------------------------------------------------------------------------- */

static struct {
	enum mem_pmu_kind kind;
	bool silent;                              /* no sample comes of the probe */
	int open_error;
	struct perf_ring ring[RINGS];             /* as they were opened; the mapping is shared with the source's */
	uint64_t config[RINGS];
	unsigned n, enabled[RINGS];
} hardware;

static struct records records;

int __wrap_mem_pmu_find(const char *root, const char *release, struct mem_pmu *pmu, char why[MEM_WHY]);
int __wrap_perf_ring_open_more(struct perf_ring *ring, const struct perf_event_attr *attr, const struct perf_event_attr *leader, size_t aux_bytes, pid_t tid);
int __wrap_perf_ring_enable(struct perf_ring *ring, bool on);

int __wrap_mem_pmu_find(const char *root, const char *release, struct mem_pmu *pmu, char why[MEM_WHY])
{
	ck_assert(root[0] == 0 && release[0] && why);
	memset(pmu, 0, sizeof *pmu);
	pmu->kind = hardware.kind;
	pmu->name = "made-up hardware";
	pmu->has_stores = hardware.kind == MEM_PMU_INTEL;
	pmu->stores.config = 1;
	return 0;
}

static void append(uint8_t *area, size_t area_bytes, uint64_t *head, size_t from, size_t to)
{
	uint64_t at = *head;
	for (size_t i = from; i < to; i++) area[at++ % area_bytes] = records.data[i];
	__atomic_store_n(head, at, __ATOMIC_RELEASE);
}

/* What is in `records`, from and up to these bytes, is in the ring, or in its area. */
static void give_ring(unsigned i, size_t from, size_t to)
{
	struct perf_ring *ring = &hardware.ring[i];
	size_t page = ring->mapped_bytes / (1 + PERF_RING_PAGES);
	append((uint8_t *)ring->page + page, page * PERF_RING_PAGES, (uint64_t *)&ring->page->data_head, from, to);
}

static void give_area(unsigned i, size_t from, size_t to)
{
	append(hardware.ring[i].aux, hardware.ring[i].aux_bytes, (uint64_t *)&hardware.ring[i].page->aux_head, from, to);
}

static void spe(uint64_t addr)
{
	records_spe(&records, addr, LLC_MISS, DRAM, 0, 0, 0x01);
}

static void perf(uint64_t addr, uint64_t period)
{
	union perf_mem_data_src source = { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_LOC_RAM };
	records_perf(&records, addr, period, DRAM, source.val);
}

int __wrap_perf_ring_open_more(struct perf_ring *ring, const struct perf_event_attr *attr, const struct perf_event_attr *leader, size_t aux_bytes, pid_t tid)
{
	size_t bytes = (1 + PERF_RING_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	ck_assert(!leader && (tid == 0 || tid == TID));
	if (hardware.open_error) return hardware.open_error;
	ck_assert_uint_lt(hardware.n, RINGS);
	*ring = (struct perf_ring){ .fd = open("/dev/null", O_RDONLY | O_CLOEXEC), .mapped_bytes = bytes, .aux_bytes = aux_bytes };
	ring->page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (aux_bytes) ring->aux = mmap(NULL, aux_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(ring->page != MAP_FAILED && (void *)ring->aux != MAP_FAILED);
	hardware.ring[hardware.n] = *ring;
	hardware.config[hardware.n++] = attr->config;
	if (tid || hardware.silent) return 0;
	records.bytes = 0;
	if (aux_bytes) spe(ADDR);
	else perf(ADDR, 1000);
	if (aux_bytes) give_area(hardware.n - 1, 0, records.bytes);
	else give_ring(hardware.n - 1, 0, records.bytes);
	return 0;
}

int __wrap_perf_ring_enable(struct perf_ring *ring, bool on)
{
	ck_assert(on);
	for (unsigned i = 0; i < hardware.n; i++)
		if (hardware.ring[i].page == ring->page) hardware.enabled[i]++;
	return 0;
}

/* ---- what it hands over --------------------------------------------------------------------------------------------- */

static struct { uint64_t addr[4096]; unsigned n; double weight_ns; } got;

static void put(void *arg, const struct access *access)
{
	ck_assert_ptr_eq(arg, &got);
	ck_assert_uint_eq(access->thread, THREAD);
	ck_assert(access->kind == ACCESS_SAMPLE && access->weight_ns >= 0);
	got.weight_ns += (double)access->weight_ns;
	if (got.n < 4096) got.addr[got.n++] = access->addr;
}

static const struct sink sink = { put, &got, NULL };

/* One thread is watched; its ring is the second that was opened, its stores' the third. */
static void *watched(enum mem_pmu_kind kind)
{
	struct source_setup setup = { .period_ns = PERIOD_NS, .max_threads = 8 };
	char why[SOURCE_WHY] = "";
	void *state;
	memset(&hardware, 0, sizeof hardware);
	memset(&got, 0, sizeof got);
	hardware.kind = kind;
	ck_assert_msg(source_mem.start(&setup, &state, why) == 0, "%s", why);
	ck_assert_int_eq(source_mem.thread_add(state, THREAD, TID), 0);
	records.bytes = 0;
	return state;
}

static struct source_counts counts_of(const void *state)
{
	struct source_counts counts;
	source_mem.counts(state, &counts);
	return counts;
}

START_TEST(spe_samples)
{
	void *state = watched(MEM_PMU_SPE);
	for (unsigned i = 0; i < 100; i++) spe(ADDR + 0x1000u * i);
	size_t half = records.bytes / 2 + 3;                      /* in the middle of a record */
	give_area(1, 0, half);
	ck_assert_int_eq(source_mem.poll(state, &sink, 1000), (int)got.n);
	ck_assert(got.n >= 49 && got.n <= 51);
	give_area(1, half, records.bytes);
	ck_assert_int_gt(source_mem.poll(state, &sink, 1000), 0);
	ck_assert_uint_eq(got.n, 100);
	for (unsigned i = 0; i < 100; i++) ck_assert_uint_eq(got.addr[i], ADDR + 0x1000u * i);
	ck_assert_uint_eq(counts_of(state).samples, 100);
	ck_assert_uint_eq(counts_of(state).lost, 0);
	ck_assert_uint_eq(hardware.enabled[1], 0);
	source_mem.stop(state);
}
END_TEST

/* The area was full: the last record is cut off, the kernel says so and has stopped the event. It goes on, and what comes then is not
 * put together with what was cut; also where the kernel's word itself found no room. */
static const struct full_case { bool told; } full_cases[] = { { true }, { false } };

START_TEST(spe_full)
{
	void *state = watched(MEM_PMU_SPE);
	unsigned n = 0;
	for (unsigned round = 0; round < 3; round++) {
		size_t area = hardware.ring[1].aux_bytes;
		records.bytes = 0;
		unsigned first = n;
		do spe(ADDR + 0x1000u * n++);
		while (records.bytes < area && records.bytes < RECORDS_MOST - 256);
		size_t length = records.bytes - 5;                     /* of the last one */
		ck_assert_uint_gt(length, area / 2);
		give_area(1, 0, length);
		if (full_cases[_i].told) {
			records.bytes = 0;
			records_aux(&records, 0, length, PERF_AUX_FLAG_TRUNCATED);
			give_ring(1, 0, records.bytes);
		}
		got.n = 0;
		ck_assert_int_gt(source_mem.poll(state, &sink, 4096), 0);
		ck_assert_uint_eq(hardware.enabled[1], round + 1);
		ck_assert_uint_eq(got.addr[0], ADDR + 0x1000u * first);
		if (!full_cases[_i].told) break;                       /* then what was cut off comes to its end, as far as can be known */
		ck_assert_uint_eq(got.n, n - first - 1);               /* all but the last */
		ck_assert_uint_eq(counts_of(state).lost, round + 1);
		records.bytes = 0;
		spe(0x1234000);                                        /* the next one comes whole */
		give_area(1, 0, records.bytes);
		got.n = 0;
		ck_assert_int_eq(source_mem.poll(state, &sink, 4096), 1);
		ck_assert_uint_eq(got.addr[0], 0x1234000);
		ck_assert_uint_eq(hardware.enabled[1], round + 1);
	}
	source_mem.stop(state);
}
END_TEST

/* Samples that came too soon after one another, and records that found no room: counted as lost. */
START_TEST(spe_collided)
{
	void *state = watched(MEM_PMU_SPE);
	records_aux(&records, 0, 0, PERF_AUX_FLAG_COLLISION);
	records_lost(&records, 7);
	records_aux(&records, 0, 0, 0);
	give_ring(1, 0, records.bytes);
	ck_assert_int_eq(source_mem.poll(state, &sink, 100), 0);
	ck_assert_uint_eq(counts_of(state).lost, 8);
	ck_assert_uint_eq(hardware.enabled[1], 0);
	source_mem.stop(state);
}
END_TEST

/* Loads and stores in rings of their own; what a cache served, and what the kernel says besides, is not handed over. */
START_TEST(intel_samples)
{
	void *state = watched(MEM_PMU_INTEL);
	union perf_mem_data_src cached = { .mem_op = PERF_MEM_OP_LOAD, .mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3 };
	ck_assert_uint_eq(hardware.n, 3);
	ck_assert_uint_eq(hardware.config[2], 1);
	for (unsigned i = 0; i < 20; i++) perf(ADDR + 0x1000u * i, 1000);
	records_perf(&records, 0x99999000, 1000, 60, cached.val);
	records_lost(&records, 5);
	records_other(&records, 64);
	give_ring(1, 0, records.bytes);
	records.bytes = 0;
	perf(0x55555000, 1000);
	give_ring(2, 0, records.bytes);
	ck_assert_int_eq(source_mem.poll(state, &sink, 1000), 21);
	ck_assert_uint_eq(got.n, 21);
	for (unsigned i = 0; i < 20; i++) ck_assert_uint_eq(got.addr[i], ADDR + 0x1000u * i);
	ck_assert_uint_eq(got.addr[20], 0x55555000);
	ck_assert_uint_eq(counts_of(state).samples, 22);
	ck_assert_uint_eq(counts_of(state).resolved, 22);
	ck_assert_uint_eq(counts_of(state).lost, 5);
	source_mem.stop(state);
}
END_TEST

/* It is there and nothing comes; or it is refused. The reason, and nothing stays. */
START_TEST(closed)
{
	struct source_setup setup = { .period_ns = PERIOD_NS, .max_threads = 8 };
	char why[SOURCE_WHY] = "";
	void *state;
	memset(&hardware, 0, sizeof hardware);
	hardware.kind = _i ? MEM_PMU_IBS : MEM_PMU_SPE;
	hardware.silent = _i == 0;
	hardware.open_error = _i ? -EACCES : 0;
	int before = dup(0);
	close(before);
	ck_assert_int_eq(source_mem.start(&setup, &state, why), _i ? -EACCES : -ENODATA);
	ck_assert_str_eq(why, _i ? "made-up hardware: perf_event_open refused: kernel.perf_event_paranoid is above 2" : "made-up hardware is there, but no sample of an access came");
	int after = dup(0);
	close(after);
	ck_assert_int_eq(after, before);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, spe_samples);
	made_loop(tcase, spe_full, full_cases);
	tcase_add_test(tcase, spe_collided);
	tcase_add_test(tcase, intel_samples);
	tcase_add_loop_test(tcase, closed, 0, 2);
}

int main(void)
{
	return made_main("source_mem", add);
}
