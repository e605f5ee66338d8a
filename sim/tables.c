/* The tables as their authors published them (kernel mailing list, 2002 to 2003, 2012 and 2020). Seconds where nothing else is said. */
#include "tables.h"

#include <math.h>
#include <string.h>

#define ROWS(rows) rows, sizeof rows / sizeof *rows

static const struct table_row focht[] = {
	{ "hackbench 10", "hackbench:groups=10,loops=100", 0, { 5.54, 5.37, 1.31, 2.45, 1.39 }, { .10, .06, .08, .44, .08 } },
	{ "hackbench 25", "hackbench:groups=25,loops=100", 0, { 15.28, 15.13, 2.91, 8.89, 2.92 }, { .03, .44, .12, 1.47, .09 } },
	{ "hackbench 50", "hackbench:groups=50,loops=100", 0, { 32.65, 31.96, 5.95, 21.98, 6.20 }, { .35, .49, .13, 1.08, .34 } },
	{ "hackbench 100", "hackbench:groups=100,loops=100", 0, { 67.67, 67.14, 13.37, 30.57, 14.30 }, { .69, .43, .11, 17.10, .28 } },
	{ "numa_test 4", "numa_test:N=4", 0, { 42.95, 35.08, 27.44, 27.42, 27.50 }, { 3.23, 2.24, .06, .08, .23 } },
	{ "numa_test 8", "numa_test:N=8", 0, { 42.75, 34.82, 29.29, 29.23, 29.08 }, { 2.31, 2.74, .47, .40, .06 } },
	{ "numa_test 16", "numa_test:N=16", 0, { 47.02, 41.82, 41.30, 39.89, 41.61 }, { .88, 8.26, 5.50, 6.42, 5.42 } },
	{ "numa_test 32", "numa_test:N=32", 0, { 83.52, 80.33, 77.84, 73.59, 69.86 }, { 2.25, 4.35, 4.10, 6.31, .41 } },
	{ "numa_test 64", "numa_test:N=64", 0, { 164.15, 149.63, 147.22, 139.32, 137.10 }, { 3.40, 2.89, 1.82, 5.26, 2.15 } },
	{ "user time 4", "numa_test:N=4", 1, { 30.40, 28.51, 27.14, 27.10, 27.10 }, { 0 } },
	{ "user time 8", "numa_test:N=8", 1, { 31.34, 29.76, 28.80, 28.76, 28.76 }, { 0 } },
	{ "user time 16", "numa_test:N=16", 1, { 33.80, 32.04, 31.80, 31.80, 31.76 }, { 0 } },
	{ "user time 32", "numa_test:N=32", 1, { 37.44, 33.86, 33.58, 33.20, 33.26 }, { 0 } },
	{ "user time 64", "numa_test:N=64", 1, { 38.73, 34.61, 34.41, 33.37, 33.40 }, { 0 } },
	{ "kernbench", "kernbench:jobs=24,ms=4300", 0, { 93.78, 93.47, 92.67, 93.19, 93.63 }, { .43, 1.57, 1.08, 1.45, 1.00 } },
};

static const struct table_row bligh[] = {
	{ "kernbench", "kernbench:jobs=32,ms=770", 0, { 20.012, 19.57 }, { 0 } },
	{ "schedbench 64", "schedbench:N=64,rounds=30", 0, { 608.81, 230.49 }, { 0 } },
	{ "user time 64", "schedbench:N=64,rounds=30", 1, { 147.16, 56.46 }, { 0 } },
};

static const struct table_row theurer[] = {
	{ "make -j4", "kernbench:jobs=4,ms=580", 0, { 56.523, 53.088 }, { 0 } },
};

static const struct table_row molnar[] = {
	{ "numa01", "numa01", 0, { 340.3, 216.9, 166.6 }, { 1.05, 18.0 } },
	{ "numa01_THREAD_ALLOC", "numa01-thread-alloc:seconds=41", 0, { 425.1, 118.7, 200.56 }, { 4.4, .58 } },
	{ "numa02", "numa02", 0, { 56.1, 17.0, 14.9 }, { .40, .03 } },
	{ "numa02_SMT", "numa02:threads=16,seconds=6", 0, { 56.1, 17.3, 14.6 }, { .24, .15 } },
};

static const struct table_row molnar_rates[] = {
	{ "Java SPEC", "specjbb", 0, { 494828, 627228 }, { 0 } },
	{ "4x4 shared", "perf-process:P=4,T=4,MiB=1024,node=63", 0, { 14.8, 32.9 }, { 0 } },
	{ "4x4 private", "perf-thread:P=4,T=4,MiB=1024,node=63", 0, { 17.0, 36.3 }, { 0 } },
};

static const struct table_row unified[] = {
	{ "2x1-bw-process", "perf-process:P=2,T=1,MiB=1024", 0, { 6.136, 9.647 }, { 0 } },
	{ "3x1-bw-process", "perf-process:P=3,T=1,MiB=1024", 0, { 7.250, 14.528 }, { 0 } },
	{ "4x1-bw-process", "perf-process:P=4,T=1,MiB=1024", 0, { 6.867, 18.903 }, { 0 } },
	{ "8x1-bw-process", "perf-process:P=8,T=1,MiB=512", 0, { 7.974, 26.829 }, { 0 } },
	{ "8x1-bw-process-NOTHP", "perf-process:P=8,T=1,MiB=512", 0, { 5.937, 22.237 }, { 0 } },
	{ "16x1-bw-process", "perf-process:P=16,T=1,MiB=256", 0, { 5.592, 29.294 }, { 0 } },
	{ "4x1-bw-thread", "perf-thread:P=1,T=4,MiB=256", 0, { 13.598, 19.290 }, { 0 } },
	{ "8x1-bw-thread", "perf-thread:P=1,T=8,MiB=256", 0, { 16.356, 26.391 }, { 0 } },
	{ "16x1-bw-thread", "perf-thread:P=1,T=16,MiB=128", 0, { 24.608, 29.557 }, { 0 } },
	{ "32x1-bw-thread", "perf-thread:P=1,T=32,MiB=64", 0, { 25.477, 30.232 }, { 0 } },
	{ "2x3-bw-thread", "perf-process:P=2,T=3,MiB=512", 0, { 8.785, 15.327 }, { 0 } },
	{ "4x4-bw-thread", "perf-process:P=4,T=4,MiB=512", 0, { 6.366, 27.957 }, { 0 } },
	{ "4x6-bw-thread", "perf-process:P=4,T=6,MiB=512", 0, { 6.287, 27.877 }, { 0 } },
	{ "4x8-bw-thread", "perf-process:P=4,T=8,MiB=512", 0, { 5.860, 28.439 }, { 0 } },
	{ "4x8-bw-thread-NOTHP", "perf-process:P=4,T=8,MiB=512", 0, { 6.167, 25.067 }, { 0 } },
	{ "3x3-bw-thread", "perf-process:P=3,T=3,MiB=512", 0, { 8.235, 21.560 }, { 0 } },
	{ "5x5-bw-thread", "perf-process:P=5,T=5,MiB=512", 0, { 5.762, 26.081 }, { 0 } },
	{ "2x16-bw-thread", "perf-process:P=2,T=16,MiB=512", 0, { 5.920, 23.269 }, { 0 } },
	{ "1x32-bw-thread", "perf-process:P=1,T=32,MiB=2048", 0, { 5.828, 18.985 }, { 0 } },
	{ "numa02-bw", "perf-thread:P=1,T=32,MiB=32", 0, { 29.054, 31.431 }, { 0 } },
	{ "numa02-bw-NOTHP", "perf-thread:P=1,T=32,MiB=32", 0, { 27.064, 29.104 }, { 0 } },
	{ "numa01-bw-thread", "perf-thread:P=2,T=16,MiB=192", 0, { 20.338, 28.607 }, { 0 } },
	{ "numa01-bw-thread-NOTHP", "perf-thread:P=2,T=16,MiB=192", 0, { 18.528, 21.119 }, { 0 } },
};

static const struct table_row hladky[] = {
	{ "SPECjbb 16 threads", "specjbb:threads=16", 0, { 1, 1.00 }, { 0 } },
	{ "SPECjbb 32 threads", "specjbb:threads=32", 0, { 1, 1.00 }, { 0 } },
	{ "NAS SP.C 8 threads", "nas-sp:threads=8", 0, { 1, 1.00, 2.78 }, { 0 } },
	{ "NAS SP.C 16 threads", "nas-sp:threads=16", 0, { 1, 1.00, 2.70 }, { 0 } },
	{ "NAS SP.C 32 threads", "nas-sp:threads=32", 0, { 1, 1.00, 1.37 }, { 0 } },
	{ "netperf TCP", "netperf:bytes=1024", 0, { 1, 1.006 }, { 0 } },
};

static const struct table_row hladky_stream[] = {
	{ "STREAM 16 threads", "stream:threads=16", 0, { 1, .346 }, { 0 } },
	{ "STREAM 32 threads", "stream:threads=32", 0, { 1, .234 }, { 0 } },
};

/* These kernels moved at most 128 MiB in 100 ms to each node, of which nsched's own limit is a fifth. */
#define KERNELS_LIMIT "budget_mib", .value = "1280"

static const struct table tables[] = {
	{ "focht", "Focht, 16-CPU Itanium, 4 nodes of 4: seconds", "itanium16",
	  .column = { "stay", "simple", "pool", "homenode", "homenode-dynamic" }, .row = ROWS(focht),
	  .lacks = "homenode in hackbench: nsched leaves processes alone that live so shortly, and why homes made them slower is not known" },
	{ "bligh", "Bligh, 16-way NUMA-Q: seconds", "numaq16", .column = { "stay", "concentric" }, .row = ROWS(bligh),
	  .lacks = "kernbench gains too much, perhaps since pages that a compiler shares with others are not simulated; the published pair spans two kernels" },
	{ "theurer", "Theurer, hardware threads as nodes: seconds", "p4smt8", .column = { "stay", "concentric" }, .row = ROWS(theurer) },
	{ "molnar", "Molnar, SCHED_NUMA for v3.7, 4 nodes of 8: seconds", "westmere32", .option = KERNELS_LIMIT,
	  .column = { "stay", "adaptive", "hard" }, .row = ROWS(molnar) },
	{ "molnar", "the same: transactions and GB a second", "westmere32", .option = KERNELS_LIMIT,
	  .column = { "stay", "adaptive" }, .higher = true, .row = ROWS(molnar_rates) },
	{ "unified", "Molnar, unified NUMA balancing v3, perf bench numa: GB/s", "westmere32", .option = KERNELS_LIMIT,
	  .column = { "balancenuma", "adaptive" }, .higher = true,
	  .row = ROWS(unified),
	  .lacks = "memory that a group on several nodes shares (2x16, 1x32): the gate lets it be parted only where the estimate sees a memory overloaded, and "
	           "what it serves comes from a rule" },
	{ "hladky", "Hladky and others, 8 nodes, low load: time in that of the first column", "eight64",
	  .column = { "adaptive", "reconciled", "packed", "stay" }, .ratios = true, .row = ROWS(hladky),
	  .lacks = "netperf's two threads are bound to nodes of their own, which a kernel that looks at wake-ups does not do" },
	{ "hladky", "the same, STREAM: time in that of packed", "eight64", .column = { "packed", "spread", "stay" }, .ratios = true,
	  .row = ROWS(hladky_stream) },
};

const struct table *table_at(unsigned i)
{
	return i < sizeof tables / sizeof *tables ? &tables[i] : NULL;
}

const struct table *table_find(const char *name)
{
	for (unsigned i = 0; table_at(i); i++)
		if (!strcmp(tables[i].name, name)) return &tables[i];
	return NULL;
}

static double rank(const double *a, unsigned n, unsigned i)
{
	double below = 0, equal = 0;
	for (unsigned k = 0; k < n; k++) {
		below += a[k] < a[i];
		equal += !(a[k] < a[i]) && !(a[k] > a[i]);
	}
	return below + (equal + 1) / 2;
}

double table_rank_correlation(const double *a, const double *b, unsigned n)
{
	double sum = 0, aa = 0, bb = 0, mean = (n + 1) / 2.0;
	for (unsigned i = 0; i < n; i++) {
		double x = rank(a, n, i) - mean, y = rank(b, n, i) - mean;
		sum += x * y;
		aa += x * x;
		bb += y * y;
	}
	return n >= 3 && aa > 0 && bb > 0 ? sum / sqrt(aa * bb) : 2;
}
