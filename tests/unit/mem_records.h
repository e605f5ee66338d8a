/* Writes what processors and kernels write, byte by byte from the kernel's description of its records
 * (perf_event_open(2)), AMD's of the IBS registers and Arm's of the SPE packets. Knows nothing of what reads it. */
#ifndef TESTS_UNIT_MEM_RECORDS_H
#define TESTS_UNIT_MEM_RECORDS_H

#include <stddef.h>
#include <stdint.h>

enum { RECORDS_MOST = 1 << 16 };

struct records {
	uint8_t data[RECORDS_MOST];
	size_t bytes;
};

/* PERF_RECORD_SAMPLE with TID | ADDR | PERIOD | WEIGHT | DATA_SRC */
void records_perf(struct records *records, uint64_t addr, uint64_t period, uint64_t weight, uint64_t data_src);

/* PERF_RECORD_SAMPLE with TID | PERIOD | RAW, where RAW is IBS's: caps and `registers` registers, 7 to 9 */
void records_ibs(struct records *records, uint64_t addr, uint64_t period, uint64_t data2, uint64_t data3, unsigned registers);

/* PERF_RECORD_LOST, and a record of a kind that nobody asked for, of `bytes` bytes */
void records_lost(struct records *records, uint64_t lost);
void records_other(struct records *records, unsigned bytes);

/* PERF_RECORD_AUX: so many bytes have come, with these flags */
void records_aux(struct records *records, uint64_t offset, uint64_t bytes, uint64_t flags);

/* One SPE record: the program counter, then a load or store with these events, address and latency. `extra` adds what
 * processors may add: a context, a data source, the physical address behind an extended header, padding. `last` is how
 * it ends: 0x01 or 0x71. */
void records_spe(struct records *records, uint64_t addr, unsigned events, unsigned cycles, int store, int extra, uint8_t last);

#endif
