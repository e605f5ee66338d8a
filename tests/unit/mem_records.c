#include "mem_records.h"

#include <check.h>
#include <linux/perf_event.h>

static void put(struct records *r, uint64_t value, unsigned bytes)
{
	ck_assert_uint_le(r->bytes + bytes, RECORDS_MOST);
	for (unsigned i = 0; i < bytes; i++) r->data[r->bytes++] = (uint8_t)(value >> 8 * i);
}

static void put_header(struct records *r, uint32_t type, unsigned bytes)
{
	put(r, type, 4);
	put(r, PERF_RECORD_MISC_USER, 2);
	put(r, bytes, 2);
}

void records_perf(struct records *r, uint64_t addr, uint64_t period, uint64_t weight, uint64_t data_src)
{
	put_header(r, PERF_RECORD_SAMPLE, 48);
	put(r, 4711, 4);
	put(r, 4712, 4);
	put(r, addr, 8);
	put(r, period, 8);
	put(r, weight, 8);
	put(r, data_src, 8);
}

void records_ibs(struct records *r, uint64_t addr, uint64_t period, uint64_t data2, uint64_t data3, unsigned registers)
{
	unsigned raw = 4 + 8 * registers, padded = (4 + raw + 7) / 8 * 8;
	put_header(r, PERF_RECORD_SAMPLE, 8 + 8 + 8 + padded);
	put(r, 4711, 4);
	put(r, 4712, 4);
	put(r, period, 8);
	put(r, padded - 4, 4);                  /* the kernel counts the padding in */
	put(r, 0x3ff, 4);                       /* caps */
	const uint64_t reg[] = { 0x7000400000010000, 0x401136, 0x100000001000, data2, data3, addr, 0x123456780, 0x401200, 0 };
	for (unsigned i = 0; i < registers; i++) put(r, reg[i], 8);
	put(r, 0, padded - 4 - raw);
}

void records_lost(struct records *r, uint64_t lost)
{
	put_header(r, PERF_RECORD_LOST, 24);
	put(r, 99, 8);
	put(r, lost, 8);
}

void records_other(struct records *r, unsigned bytes)
{
	put_header(r, PERF_RECORD_MMAP2, bytes);
	for (unsigned i = 8; i < bytes; i++) put(r, 0x5a, 1);
}

void records_aux(struct records *r, uint64_t offset, uint64_t bytes, uint64_t flags)
{
	put_header(r, PERF_RECORD_AUX, 32);
	put(r, offset, 8);
	put(r, bytes, 8);
	put(r, flags, 8);
}

void records_spe(struct records *r, uint64_t addr, unsigned events, unsigned cycles, int store, int extra, uint8_t last)
{
	put(r, 0xb0, 1);                        /* address, index 0: the program counter, of exception level 0 */
	put(r, 0xaaaadeadbee8, 8);
	if (extra) {
		put(r, 0x64, 1);                    /* context, 4 bytes */
		put(r, 4712, 4);
	}
	if (events > 0xff) {
		put(r, 0x52, 1);                    /* events, 2 bytes */
		put(r, events, 2);
	} else {
		put(r, 0x42, 1);                    /* events, 1 byte */
		put(r, events, 1);
	}
	put(r, 0x49, 1);                        /* operation: load or store */
	put(r, store ? 1 : 0, 1);
	put(r, 0x99, 1);                        /* counter, index 1: issue latency */
	put(r, 7, 2);
	put(r, 0x98, 1);                        /* counter, index 0: the whole latency */
	put(r, cycles, 2);
	put(r, 0xb2, 1);                        /* address, index 2: the data's */
	put(r, addr, 8);
	if (extra) {
		put(r, 0x20, 1);                    /* extended header: index 8 and up */
		put(r, 0xb3, 1);
		put(r, 0x1234567890, 8);
		put(r, 0x43, 1);                    /* data source, 1 byte, the implementation's own */
		put(r, 0x0d, 1);
	}
	put(r, last, 1);
	if (last == 0x71) put(r, 0x1122334455667788, 8);
	if (extra) put(r, 0, 3);
}
