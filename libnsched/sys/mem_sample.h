/* Hardware samples of memory accesses: what processors and kernels write, made into one form. All of it reads
 * bytes and touches nothing, so that recorded and made-up ones can be tried.
 *
 *   Intel (load latency), AMD since Linux 6.1   PERF_RECORD_SAMPLE with TID | ADDR | PERIOD | WEIGHT | DATA_SRC
 *   AMD before                                  TID | PERIOD | RAW: the registers of IBS, as the processor has them
 *   Arm                                         packets of the Statistical Profiling Extension in an AUX area */
#ifndef NSCHED_MEM_SAMPLE_H
#define NSCHED_MEM_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf_ring.h"

enum mem_served {
	SERVED_UNKNOWN,
	SERVED_CACHE,       /* a cache of its own, or one that is as near */
	SERVED_LOCAL,       /* its node's memory */
	SERVED_REMOTE,      /* another node's memory */
	SERVED_REMOTE_CACHE,
};

struct mem_sample {
	uint64_t addr;      /* of the data, never 0 and never the kernel's */
	uint64_t period;    /* accesses that it stands for; 0: not told */
	uint32_t cycles;    /* latency; 0: not known */
	uint8_t served;     /* enum mem_served */
	bool store;
};

/* sample_type of the two record layouts. */
#define MEM_SAMPLE_TYPE ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC))
#define MEM_SAMPLE_TYPE_IBS ((uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW))

/* False where the record is no such sample, or tells of no access to memory by the program. */
bool mem_sample_perf(const union perf_record *record, struct mem_sample *sample);
bool mem_sample_ibs(const union perf_record *record, struct mem_sample *sample);

/* The next sample of a stretch of SPE packets. `*at` is where it begins, and then where the next one does; at
 * `bytes` all are read. Packets that are no packets are skipped a byte at a time, up to where a record begins again;
 * each such gap is counted in *broken. A record that is cut off at the end is not read: *at stays before it. */
bool mem_sample_spe(const uint8_t *packets, size_t bytes, size_t *at, struct mem_sample *sample, uint64_t *broken);

#endif
