/* Hardware samples of memory accesses, as each vendor's hardware and kernel write them: made up, and read back byte for
 * byte, whole, wrapped, cut, lost and broken. */
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

/* ---- who served it ------------------------------------------------------------------------------------------- */

#define LVL(bits) ((uint64_t)(bits) << PERF_MEM_LVL_SHIFT)
#define NUM(n) ((uint64_t)(n) << PERF_MEM_LVLNUM_SHIFT)
#define REMOTE ((uint64_t)1 << PERF_MEM_REMOTE_SHIFT)
#define LOAD ((uint64_t)PERF_MEM_OP_LOAD)
#define STORE ((uint64_t)PERF_MEM_OP_STORE)
#define HIT PERF_MEM_LVL_HIT

static const struct perf_case { const char *what; uint64_t source; enum mem_served served; bool store; } perf_cases[] = {
	{ "Intel, L1", LOAD | LVL(HIT | PERF_MEM_LVL_L1) | NUM(1), SERVED_CACHE, false },
	{ "Intel, fill buffer", LOAD | LVL(HIT | PERF_MEM_LVL_LFB) | NUM(0xc), SERVED_UNKNOWN, false },
	{ "Intel, L3", LOAD | LVL(HIT | PERF_MEM_LVL_L3) | NUM(3), SERVED_CACHE, false },
	{ "Intel, local memory", LOAD | LVL(HIT | PERF_MEM_LVL_LOC_RAM) | NUM(0xd), SERVED_LOCAL, false },
	{ "Intel, local memory, before lvl_num", LOAD | LVL(HIT | PERF_MEM_LVL_LOC_RAM), SERVED_LOCAL, false },
	{ "Intel, remote memory", LOAD | LVL(HIT | PERF_MEM_LVL_REM_RAM1) | NUM(0xd) | REMOTE, SERVED_REMOTE, false },
	{ "Intel, another socket's cache", LOAD | LVL(HIT | PERF_MEM_LVL_REM_CCE1) | NUM(3) | REMOTE, SERVED_REMOTE_CACHE, false },
	{ "Intel, persistent memory over there", LOAD | NUM(0xe) | REMOTE, SERVED_REMOTE, false },
	{ "Intel, a store", STORE | LVL(HIT | PERF_MEM_LVL_L1) | NUM(1), SERVED_CACHE, true },
	{ "Intel, not said", PERF_MEM_OP_NA | LVL(PERF_MEM_LVL_NA) | NUM(0xf), SERVED_UNKNOWN, false },
	{ "AMD, 6.1 and later, DRAM", LOAD | LVL(HIT | PERF_MEM_LVL_LOC_RAM) | NUM(0xd), SERVED_LOCAL, false },
	{ "AMD, DRAM of the other socket", LOAD | LVL(HIT | PERF_MEM_LVL_REM_RAM1) | NUM(0xd) | REMOTE, SERVED_REMOTE, false },
	{ "AMD, the newest, level numbers only", LOAD | NUM(0xd) | REMOTE, SERVED_REMOTE, false },
	{ "AMD, another complex's cache", LOAD | NUM(0xb), SERVED_CACHE, false },
	{ "AMD, a cache over there", LOAD | NUM(0xb) | REMOTE, SERVED_REMOTE_CACHE, false },
};

static union perf_record record_of(const struct records *r)
{
	union perf_record record;
	struct perf_cursor cursor = { .data = r->data, .bytes = RECORDS_MOST, .head = r->bytes };
	ck_assert(perf_cursor_next(&cursor, &record));
	ck_assert_uint_eq(cursor.tail, r->bytes);
	return record;
}

static struct records made;

START_TEST(perf_served)
{
	const struct perf_case *c = &perf_cases[_i];
	struct mem_sample sample;
	made.bytes = 0;
	records_perf(&made, 0x7f0123456789, 100007, 412, c->source);
	union perf_record record = record_of(&made);
	ck_assert(mem_sample_perf(&record, &sample));
	ck_assert_msg(sample.served == c->served, "%s: %d", c->what, sample.served);
	ck_assert_int_eq(sample.store, c->store);
	ck_assert_uint_eq(sample.addr, 0x7f0123456789);
	ck_assert_uint_eq(sample.period, 100007);
	ck_assert_uint_eq(sample.cycles, 412);
}
END_TEST

#define IBS_DATA3(load, miss, l2, latency) \
	((uint64_t)((load) ? 1 : 2) | (uint64_t)(miss) << 7 | UINT64_C(1) << 17 | (uint64_t)(l2) << 20 | (uint64_t)(latency) << 32)

static const struct ibs_case { const char *what; uint64_t data2, data3; enum mem_served served; bool store; unsigned cycles; } ibs_cases[] = {
	{ "hit", 0, IBS_DATA3(1, 0, 0, 0), SERVED_CACHE, false, 0 },
	{ "L2", 0, IBS_DATA3(1, 1, 0, 17), SERVED_CACHE, false, 17 },
	{ "L3", 1, IBS_DATA3(1, 1, 1, 50), SERVED_CACHE, false, 50 },
	{ "another complex", 2, IBS_DATA3(1, 1, 1, 130), SERVED_CACHE, false, 130 },
	{ "DRAM", 3, IBS_DATA3(1, 1, 1, 300), SERVED_LOCAL, false, 300 },
	{ "DRAM, remote", 3 | 1 << 4, IBS_DATA3(1, 1, 1, 700), SERVED_REMOTE, false, 700 },
	{ "a cache, remote", 2 | 1 << 4, IBS_DATA3(1, 1, 1, 500), SERVED_REMOTE_CACHE, false, 500 },
	{ "Zen 4: a far cache", 5, IBS_DATA3(1, 1, 1, 500), SERVED_REMOTE_CACHE, false, 500 },
	{ "Zen 4: memory on a link", 0 | 1 << 6, IBS_DATA3(1, 1, 1, 900), SERVED_LOCAL, false, 900 },
	{ "Zen 4: a peer's memory", 4 | 1 << 6 | 1 << 4, IBS_DATA3(1, 1, 1, 900), SERVED_REMOTE, false, 900 },
	{ "device", 7, IBS_DATA3(1, 1, 1, 900), SERVED_UNKNOWN, false, 900 },
	{ "store", 3, IBS_DATA3(0, 1, 1, 55), SERVED_LOCAL, true, 0 },
};

START_TEST(ibs_served)
{
	const struct ibs_case *c = &ibs_cases[_i];
	for (unsigned registers = 7; registers <= 9; registers++) {
		struct mem_sample sample;
		made.bytes = 0;
		records_ibs(&made, 0x7f0123456789, 65536, c->data2, c->data3, registers);
		union perf_record record = record_of(&made);
		ck_assert(mem_sample_ibs(&record, &sample));
		ck_assert_msg(sample.served == c->served, "%s: %d", c->what, sample.served);
		ck_assert_int_eq(sample.store, c->store);
		ck_assert_uint_eq(sample.addr, 0x7f0123456789);
		ck_assert_uint_eq(sample.cycles, c->cycles);
		ck_assert_uint_eq(sample.period, 65536);
	}
}
END_TEST

static const struct spe_case { unsigned events; enum mem_served served; } spe_cases[] = {
	{ 1 << 1 | 1 << 2, SERVED_CACHE },                              /* L1, no refill */
	{ 1 << 1 | 1 << 2 | 1 << 3, SERVED_UNKNOWN },                   /* refilled, from where is not said */
	{ 1 << 1 | 1 << 2 | 1 << 3 | 1 << 8, SERVED_CACHE },            /* last level */
	{ 1 << 1 | 1 << 2 | 1 << 3 | 1 << 8 | 1 << 9, SERVED_LOCAL },
	{ 1 << 1 | 1 << 3 | 1 << 8 | 1 << 9 | 1 << 10, SERVED_REMOTE },
	{ 1 << 1 | 1 << 3 | 1 << 10, SERVED_REMOTE },
	{ 1 << 1 | 1 << 3 | 1 << 8 | 1 << 10, SERVED_REMOTE_CACHE },
};

START_TEST(spe_served)
{
	const struct spe_case *c = &spe_cases[_i];
	for (unsigned variant = 0; variant < 8; variant++) {
		struct mem_sample sample;
		uint64_t broken = 0;
		size_t at = 0;
		made.bytes = 0;
		records_spe(&made, UINT64_C(0xb400ffff12345678), c->events, 345, variant & 1, variant >> 1 & 1, variant & 4 ? 0x71 : 0x01);
		ck_assert(mem_sample_spe(made.data, made.bytes, &at, &sample, &broken));
		ck_assert_uint_eq(sample.addr, 0xffff12345678);             /* its tag is taken off */
		ck_assert_uint_eq(sample.cycles, 345);
		ck_assert_int_eq(sample.served, c->served);
		ck_assert_int_eq(sample.store, variant & 1);
		ck_assert(!mem_sample_spe(made.data, made.bytes, &at, &sample, &broken));
		ck_assert_uint_eq(at, made.bytes);
		ck_assert_uint_eq(broken, 0);
	}
}
END_TEST

/* ---- what is no sample ------------------------------------------------------------------------------------------ */

START_TEST(not_samples)
{
	struct mem_sample sample;
	static const uint64_t addresses[] = { 0, UINT64_C(0xffffffff81000000), UINT64_C(0x8000000000000000) };
	for (size_t i = 0; i < 3; i++) {
		made.bytes = 0;
		records_perf(&made, addresses[i], 1, 1, perf_cases[3].source);
		union perf_record record = record_of(&made);
		ck_assert(!mem_sample_perf(&record, &sample));
		made.bytes = 0;
		records_ibs(&made, addresses[i], 1, 3, IBS_DATA3(1, 1, 1, 300), 7);
		record = record_of(&made);
		ck_assert(!mem_sample_ibs(&record, &sample));
	}
	static const uint64_t data3[] = { 0, 1, 1 << 17, IBS_DATA3(1, 1, 1, 300) | 1 << 21 };  /* no access, no address, a prefetch */
	for (size_t i = 0; i < 4; i++) {
		made.bytes = 0;
		records_ibs(&made, 0x7f0000001000, 1, 3, data3[i], 7);
		union perf_record record = record_of(&made);
		ck_assert(!mem_sample_ibs(&record, &sample));
	}
	made.bytes = 0;
	records_ibs(&made, 0x7f0000001000, 1, 3, IBS_DATA3(1, 1, 1, 300), 6);    /* too few registers */
	union perf_record record = record_of(&made);
	ck_assert(!mem_sample_ibs(&record, &sample));
	made.bytes = 0;
	records_lost(&made, 17);
	record = record_of(&made);
	ck_assert(!mem_sample_perf(&record, &sample) && !mem_sample_ibs(&record, &sample));
	ck_assert_uint_eq(perf_record_lost(&record), 17);
	uint64_t broken = 0;
	size_t at = 0;
	made.bytes = 0;
	records_spe(&made, UINT64_C(0xffffffff81000000), 1 << 9, 300, 0, 0, 0x01); /* the kernel's */
	made.data[made.bytes++] = 0x4a;                                            /* a branch */
	made.data[made.bytes++] = 0x01;
	made.data[made.bytes++] = 0x01;
	ck_assert(!mem_sample_spe(made.data, made.bytes, &at, &sample, &broken));
	ck_assert_uint_eq(at, made.bytes);
	ck_assert_uint_eq(broken, 0);
}
END_TEST

/* ---- rings ------------------------------------------------------------------------------------------------------- */

enum { RING = 1 << 12, SAMPLES = 20 };

static bool read_one(unsigned vendor, const union perf_record *record, struct mem_sample *sample)
{
	return vendor ? mem_sample_ibs(record, sample) : mem_sample_perf(record, sample);
}

/* 20 samples, among them lost ones and records that nobody asked for; the i-th is of address 0x1000 * (i + 1). */
static void fill(unsigned vendor)
{
	made.bytes = 0;
	for (unsigned i = 0; i < SAMPLES; i++) {
		if (i % 7 == 3) records_lost(&made, i);
		if (i % 5 == 2) records_other(&made, 40 + 8 * i);
		if (i == 11) records_other(&made, 600);                /* longer than any that is read */
		if (vendor) records_ibs(&made, 0x1000u * (i + 1), i, 3, IBS_DATA3(1, 1, 1, 200 + i), 7 + i % 3);
		else records_perf(&made, 0x1000u * (i + 1), i, 200 + i, perf_cases[3].source);
	}
	ck_assert_uint_lt(made.bytes, RING);
}

static unsigned read_ring(unsigned vendor, const uint8_t *ring, uint64_t tail, uint64_t head, uint64_t *lost)
{
	struct perf_cursor cursor = { .data = ring, .bytes = RING, .tail = tail, .head = head };
	union perf_record record;
	unsigned n = 0;
	*lost = 0;
	while (perf_cursor_next(&cursor, &record)) {
		struct mem_sample sample;
		*lost += perf_record_lost(&record);
		if (!read_one(vendor, &record, &sample)) continue;
		made_hold(sample.addr == 0x1000u * (n + 1) && sample.cycles == 200 + n && sample.period == n);
		made_hold(sample.served == SERVED_LOCAL);
		n++;
	}
	made_hold(cursor.tail == head);
	return n;
}

/* Begun at every place of the ring, so that every record wraps at every byte. */
START_TEST(wrapped)
{
	static uint8_t ring[RING];
	fill((unsigned)_i);
	for (uint64_t begin = 0; begin < RING; begin += 8) {
		uint64_t lost;
		for (size_t i = 0; i < made.bytes; i++) ring[(begin + i) % RING] = made.data[i];
		ck_assert_uint_eq(read_ring((unsigned)_i, ring, begin, begin + made.bytes, &lost), SAMPLES);
		ck_assert_uint_eq(lost, 3 + 10 + 17);
	}
}
END_TEST

/* Cut at every length: what is whole is read, and nothing else. */
START_TEST(cut)
{
	static uint8_t ring[RING];
	unsigned before = 0;
	fill((unsigned)_i);
	memcpy(ring, made.data, made.bytes);
	for (size_t length = 0; length <= made.bytes; length++) {
		uint64_t lost;
		unsigned n = read_ring((unsigned)_i, ring, 0, length, &lost);
		ck_assert(n == before || n == before + 1);
		before = n;
	}
	ck_assert_uint_eq(before, SAMPLES);
}
END_TEST

/* Any bytes: no slip, no address that can't be. */
START_TEST(broken_rings)
{
	static uint8_t ring[RING];
	struct dice dice = { 7 };
	fill((unsigned)_i);
	for (unsigned round = 0; round < 20000; round++) {
		memcpy(ring, made.data, RING);
		for (unsigned k = 1 + dice_below(&dice, 8); k; k--) ring[dice_below(&dice, (unsigned)made.bytes)] = (uint8_t)dice_next(&dice);
		struct perf_cursor cursor = { .data = ring, .bytes = RING, .head = made.bytes };
		union perf_record record;
		struct mem_sample sample;
		while (perf_cursor_next(&cursor, &record))
			if (read_one((unsigned)_i, &record, &sample)) made_hold(sample.addr && sample.addr >> 56 == 0);
	}
}
END_TEST

/* What the kernel says of an area that the hardware writes to itself. */
static const struct aux_case { uint64_t flags; bool full; uint64_t lost; } aux_cases[] = {
	{ 0, false, 0 },
	{ PERF_AUX_FLAG_TRUNCATED, true, 1 },
	{ PERF_AUX_FLAG_COLLISION, false, 1 },
	{ PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_COLLISION, true, 1 },
	{ PERF_AUX_FLAG_OVERWRITE | PERF_AUX_FLAG_PARTIAL, false, 0 },
};

START_TEST(aux_told)
{
	struct perf_aux_told told = { false, 0 };
	union perf_record record = { .words = { 0 } };
	made.bytes = 0;
	records_aux(&made, 4096, 64, aux_cases[_i].flags);
	memcpy(&record, made.data, made.bytes);
	perf_record_aux(&record, &told);
	ck_assert_int_eq(told.full, aux_cases[_i].full);
	ck_assert_uint_eq(told.lost, aux_cases[_i].lost);
	record.header.size = 24;                                /* cut before the flags */
	told = (struct perf_aux_told){ false, 0 };
	perf_record_aux(&record, &told);
	ck_assert(!told.full && !told.lost);
	made.bytes = 0;
	records_other(&made, 40);
	memcpy(&record, made.data, made.bytes);
	perf_record_aux(&record, &told);
	ck_assert(!told.full && !told.lost);
}
END_TEST

static void fill_spe(void)
{
	made.bytes = 0;
	for (unsigned i = 0; i < SAMPLES; i++)
		records_spe(&made, 0x1000u * (i + 1), spe_cases[i % 7].events, 200 + i, i % 3 == 0, i % 2, i % 4 == 1 ? 0x71 : 0x01);
}

/* Cut at every byte: whole records come, then the rest once it is there, and none twice. */
START_TEST(spe_cut)
{
	fill_spe();
	for (size_t cut_at = 0; cut_at <= made.bytes; cut_at++) {
		struct mem_sample sample;
		uint64_t broken = 0;
		size_t at = 0;
		unsigned n = 0;
		for (unsigned part = 0; part < 2; part++)
			while (mem_sample_spe(made.data, part ? made.bytes : cut_at, &at, &sample, &broken)) {
				made_hold(sample.addr == 0x1000u * (n + 1) && sample.cycles == 200 + n && sample.store == (n % 3 == 0));
				n++;
			}
		ck_assert_uint_eq(n, SAMPLES);
		ck_assert_uint_eq(broken, 0);
		ck_assert_uint_eq(at, made.bytes);
	}
}
END_TEST

/* What was overwritten ends the record that it is in; those behind it are read. */
START_TEST(spe_broken)
{
	struct dice dice = { 11 };
	for (unsigned round = 0; round < 20000; round++) {
		struct mem_sample sample;
		uint64_t broken = 0;
		size_t at = 0;
		unsigned n = 0, last = 0;
		fill_spe();
		for (unsigned k = 1 + dice_below(&dice, 4); k; k--) made.data[dice_below(&dice, (unsigned)made.bytes / 2)] = (uint8_t)dice_next(&dice);
		while (mem_sample_spe(made.data, made.bytes, &at, &sample, &broken)) {
			made_hold(sample.addr && sample.addr >> 56 == 0);
			last = (unsigned)(sample.addr >> 12);
			n++;
		}
		made_hold(at <= made.bytes && n >= 5 && last == SAMPLES);
	}
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, perf_served, perf_cases);
	made_loop(tcase, ibs_served, ibs_cases);
	made_loop(tcase, spe_served, spe_cases);
	tcase_add_test(tcase, not_samples);
	tcase_add_loop_test(tcase, wrapped, 0, 2);
	tcase_add_loop_test(tcase, cut, 0, 2);
	tcase_add_loop_test(tcase, broken_rings, 0, 2);
	made_loop(tcase, aux_told, aux_cases);
	tcase_add_test(tcase, spe_cut);
	tcase_add_test(tcase, spe_broken);
}

int main(void)
{
	return made_main("mem_sample", add);
}
