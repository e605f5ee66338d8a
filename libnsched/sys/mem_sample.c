#include "mem_sample.h"

#include <string.h>

/* User addresses of 64-bit kernels are below; above is the kernel, or what no address can be. */
#define USER_MOST (UINT64_C(1) << 56)

static bool is_user(uint64_t addr)
{
	return addr != 0 && addr < USER_MOST;
}

/* ---- what the kernel has made one form of ------------------------------------------------------------------ */

struct perf_sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, period, weight;
	union perf_mem_data_src source;
};

/* Old kernels fill mem_lvl, new ones mem_lvl_num and mem_remote too, and may leave the old one at "not available". */
static uint8_t served(union perf_mem_data_src source)
{
	unsigned level = source.mem_lvl, number = source.mem_lvl_num;

	if (level & (PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2))
		return SERVED_REMOTE_CACHE;
	if (level & (PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2))
		return SERVED_REMOTE;
	if (level & PERF_MEM_LVL_LOC_RAM)
		return source.mem_remote ? SERVED_REMOTE : SERVED_LOCAL;
	if (number == PERF_MEM_LVLNUM_RAM || number == PERF_MEM_LVLNUM_PMEM)
		return source.mem_remote ? SERVED_REMOTE : SERVED_LOCAL;
	if (number == PERF_MEM_LVLNUM_ANY_CACHE || (number >= PERF_MEM_LVLNUM_L1 && number <= PERF_MEM_LVLNUM_L4))
		return source.mem_remote ? SERVED_REMOTE_CACHE : SERVED_CACHE;
	/* the fill buffer: the line is on its way, from where is not said */
	if (number == PERF_MEM_LVLNUM_LFB || level & PERF_MEM_LVL_LFB)
		return SERVED_UNKNOWN;
	if (level & PERF_MEM_LVL_HIT && level & (PERF_MEM_LVL_L1 | PERF_MEM_LVL_L2 | PERF_MEM_LVL_L3))
		return SERVED_CACHE;
	return SERVED_UNKNOWN;
}

bool mem_sample_perf(const union perf_record *record, struct mem_sample *sample)
{
	const struct perf_sample *raw = (const struct perf_sample *)record;

	if (record->header.type != PERF_RECORD_SAMPLE || record->header.size < sizeof(*raw) || !is_user(raw->addr))
		return false;
	*sample = (struct mem_sample){
		.addr = raw->addr,
		.period = raw->period,
		.cycles = raw->weight > UINT32_MAX ? UINT32_MAX : (uint32_t)raw->weight,
		.served = served(raw->source),
		.store = (raw->source.mem_op & PERF_MEM_OP_STORE) != 0,
	};
	return true;
}

/* ---- AMD's registers ------------------------------------------------------------------------------------------ */

/* Behind the caps, in this order. */
enum { IBS_OP_CTL, IBS_OP_RIP, IBS_OP_DATA, IBS_OP_DATA2, IBS_OP_DATA3, IBS_DC_LIN_AD, IBS_DC_PHYS_AD, IBS_REGS };

struct ibs_sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t period;
	uint32_t raw_bytes, caps;
	uint64_t reg[IBS_REGS];
};

/* IBS_OP_DATA3: what the operation was, whether it missed, and for how long. */
#define IBS_LOAD (UINT64_C(1) << 0)
#define IBS_STORE (UINT64_C(1) << 1)
#define IBS_DC_MISS (UINT64_C(1) << 7)
#define IBS_LIN_VALID (UINT64_C(1) << 17)
#define IBS_L2_MISS (UINT64_C(1) << 20)
#define IBS_SW_PREFETCH (UINT64_C(1) << 21)
enum { IBS_LATENCY_SHIFT = 32, IBS_LATENCY_MASK = 0xffff };

/* IBS_OP_DATA2: who had the data, of this node or another. Bits 6 and 7 are of Zen 4 and later, and 0 before. */
#define IBS_REMOTE (UINT64_C(1) << 4)
enum {
	IBS_SRC_NEAR_CACHE = 1,    /* this complex of cores */
	IBS_SRC_CACHE = 2,         /* another core's, or complex's, cache of the node */
	IBS_SRC_DRAM = 3,
	IBS_SRC_FAR_CACHE_OLD = 4, /* another node's cache, before Zen 4 */
	IBS_SRC_FAR_CACHE = 5,
	IBS_SRC_PMEM = 6,
	IBS_SRC_IO = 7,
	IBS_SRC_EXTENSION = 8,     /* memory on a link */
	IBS_SRC_PEER = 12,
};

static uint8_t ibs_served(uint64_t data2, uint64_t data3)
{
	unsigned source = (unsigned)((data2 & 7) | (data2 >> 6 & 3) << 3);
	bool remote = (data2 & IBS_REMOTE) != 0;

	if (!(data3 & IBS_DC_MISS) || !(data3 & IBS_L2_MISS))
		return SERVED_CACHE;
	switch (source) {
	case IBS_SRC_NEAR_CACHE:
	case IBS_SRC_CACHE:
		return remote ? SERVED_REMOTE_CACHE : SERVED_CACHE;
	case IBS_SRC_FAR_CACHE_OLD:
	case IBS_SRC_FAR_CACHE:
		return SERVED_REMOTE_CACHE;
	case IBS_SRC_DRAM:
	case IBS_SRC_PMEM:
	case IBS_SRC_EXTENSION:
	case IBS_SRC_PEER:
		return remote ? SERVED_REMOTE : SERVED_LOCAL;
	default:
		return SERVED_UNKNOWN;
	}
}

bool mem_sample_ibs(const union perf_record *record, struct mem_sample *sample)
{
	const struct ibs_sample *raw = (const struct ibs_sample *)record;
	const size_t behind_size = sizeof(*raw) - offsetof(struct ibs_sample, caps);
	uint64_t data3;

	if (record->header.type != PERF_RECORD_SAMPLE || record->header.size < sizeof(*raw) || raw->raw_bytes < behind_size)
		return false;
	data3 = raw->reg[IBS_OP_DATA3];
	if (!(data3 & (IBS_LOAD | IBS_STORE)) || !(data3 & IBS_LIN_VALID) || data3 & IBS_SW_PREFETCH || !is_user(raw->reg[IBS_DC_LIN_AD]))
		return false;
	*sample = (struct mem_sample){
		.addr = raw->reg[IBS_DC_LIN_AD],
		.period = raw->period,
		/* the latency is of load misses only; a hit's takes as long as a hit does, which is not told */
		.cycles = data3 & IBS_LOAD && data3 & IBS_DC_MISS ? (uint32_t)(data3 >> IBS_LATENCY_SHIFT & IBS_LATENCY_MASK) : 0,
		.served = ibs_served(raw->reg[IBS_OP_DATA2], data3),
		.store = !(data3 & IBS_LOAD),
	};
	return true;
}
