# The simulator: a model of machines and programs that drives the core itself. For `nsched sim` and the tests.
noinst_LTLIBRARIES += libnsched_sim.la
libnsched_sim_la_SOURCES = \
	sim/machine.c sim/machine.h sim/presets.c sim/params.def sim/random.h \
	sim/heap.c sim/heap.h sim/memory.c sim/memory.h \
	sim/workload.h sim/load.c sim/parse.c sim/parse_op.c sim/parse.h sim/number.c sim/number.h \
	sim/engine.c sim/engine.h sim/os_queue.h sim/os.c sim/os_queue.c sim/program.c sim/program_memory.c sim/program_messages.c sim/program.h \
	sim/join.c sim/join.h sim/hands.c sim/sources.c \
	sim/placed.c sim/placed.h sim/oracle.c sim/oracle.h \
	sim/worlds.c sim/worlds.h \
	sim/tables.c sim/tables.h sim/table_run.c sim/table_run.h \
	sim/run.c sim/run.h
libnsched_sim_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/sim -DNSCHED_WORKLOADS='"$(pkgdatadir)/workloads"'
libnsched_sim_la_LIBADD = libnsched_core.la

workloadsdir = $(pkgdatadir)/workloads
dist_workloads_DATA = \
	sim/workloads/hackbench.sim \
	sim/workloads/hybrid.sim \
	sim/workloads/kernbench.sim \
	sim/workloads/main-job.sim \
	sim/workloads/many.sim \
	sim/workloads/nas-sp.sim \
	sim/workloads/netperf.sim \
	sim/workloads/numa01-thread-alloc.sim \
	sim/workloads/numa01.sim \
	sim/workloads/numa02.sim \
	sim/workloads/numa_test.sim \
	sim/workloads/perf-process.sim \
	sim/workloads/perf-thread.sim \
	sim/workloads/schedbench.sim \
	sim/workloads/specjbb.sim \
	sim/workloads/stream.sim
