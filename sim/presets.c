/* The machines of the published tables, and some others. Data only. Where a parameter was fitted, it was to
 * the table's `stay` column alone: docs/sim.md says how. */
#include "machine.h"

#define EIGHT_NEAR_FAR \
	10, 16, 16, 22, 16, 22, 16, 22, /* a hypercube with two distances */ \
	16, 10, 22, 16, 22, 16, 22, 16, \
	16, 22, 10, 16, 16, 22, 16, 22, \
	22, 16, 16, 10, 22, 16, 22, 16, \
	16, 22, 16, 22, 10, 16, 16, 22, \
	22, 16, 22, 16, 16, 10, 22, 16, \
	16, 22, 16, 22, 16, 22, 10, 16, \
	22, 16, 22, 16, 22, 16, 16, 10

static const unsigned itanium[] = { 10, 15, 15, 15, 15, 10, 15, 15, 15, 15, 10, 15, 15, 15, 15, 10 };
static const unsigned numaq[] = { 10, 40, 40, 40, 40, 10, 40, 40, 40, 40, 10, 40, 40, 40, 40, 10 };
static const unsigned flat4[] = { 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10 };
static const unsigned eight[] = { EIGHT_NEAR_FAR };

static const struct sim_preset presets[] = {
	{ "itanium16", "node:4(memory=4GB) core:4 pu:1", itanium,
	  "slice_ms=100 slice_least_ms=50 balance_ms=250 node_first=0 fork_spread=0 wake_idle=0 hot_ms=10 local_ns=200 remote=1.63 node_gbs=3 "
	  "link_gbs=1.5 page_move_ns=10000 noise_hz=20 spill=0.0005 message_ns=6000 message_far=105", "Focht's: Itanium, 4 nodes of 4 CPUs, O(1) scheduler" },
	{ "numaq16", "node:4(memory=4GB) core:4 pu:1", numaq,
	  "slice_ms=100 slice_least_ms=50 balance_ms=250 node_first=0 fork_spread=0 wake_idle=0 hot_ms=10 local_ns=300 remote=1.5 node_gbs=3 "
	  "link_gbs=1.5 page_move_ns=20000 noise_hz=20 spill=0.1", "Bligh's: NUMA-Q, 4 nodes of 4 CPUs, O(1) scheduler" },
	{ "p4smt8", "node:4(memory=1GB) core:1 pu:2", flat4,
	  "slice_ms=100 slice_least_ms=50 balance_ms=250 node_first=0 smt_first=0 fork_spread=0 wake_idle=0",
	  "Theurer's: 4 cores of 2 hardware threads, each core a node, one memory" },
	{ "westmere32", "node:4(memory=16GB) core:8 pu:1", NULL, "node_gbs=7.6 link_gbs=4", "Molnar's: 4 nodes of 8 CPUs, 64 GB, v3.7" },
	{ "eight64", "node:8(memory=32GB) core:8 pu:1", eight, "node_gbs=12 link_gbs=4", "Hladky's: 8 nodes of 8 cores, two distances" },
	{ "box", "node:4(memory=512MB) core:2 pu:1", NULL,
	  "remote=0.606 node_gbs=0.0076 link_gbs=10 knee=0 noise_hz=1 page_move_ns=300000 step_us=100000 sample_ns=900000 locate_ns=10000 "
	  "bind_us=1000",
	  "the emulated machine of the live tests: 4 nodes of 2 CPUs; all that nsched does is a hundred times as dear" },
	{ "flat8", "node:1(memory=32GB) core:8 pu:1", NULL, "", "8 CPUs and one memory" },
	{ "two16", "node:2(memory=32GB) core:8 pu:1", NULL, "", "2 nodes of 8 CPUs" },
	{ "smt32", "node:2(memory=32GB) core:8 pu:2", NULL, "", "2 nodes of 8 cores of 2 hardware threads" },
	{ "big1024", "node:16(memory=64GB) core:64 pu:1", NULL, "node_gbs=100 link_gbs=20", "16 nodes of 64 CPUs" },
};

const struct sim_preset *sim_preset_at(unsigned i)
{
	return i < sizeof presets / sizeof *presets ? &presets[i] : 0;
}
