# The simulator: a model of machines and programs that drives the core itself. For `nsched sim` and the tests.
noinst_LTLIBRARIES += libnsched_sim.la
libnsched_sim_la_SOURCES = \
	sim/machine.c sim/machine.h sim/presets.c sim/params.def sim/random.h \
	sim/heap.c sim/heap.h sim/memory.c sim/memory.h \
	sim/workload.h sim/load.c sim/parse.c sim/parse_op.c sim/parse.h sim/number.c sim/number.h \
	sim/engine.c sim/engine.h sim/os.c sim/program.c \
	sim/join.c sim/join.h sim/hands.c sim/sources.c \
	sim/placed.c sim/placed.h \
	sim/run.c sim/run.h
libnsched_sim_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/sim -DNSCHED_WORKLOADS='"$(pkgdatadir)/workloads"'
libnsched_sim_la_LIBADD = libnsched_core.la

workloadsdir = $(pkgdatadir)/workloads
dist_workloads_DATA = \
	sim/workloads/hackbench.sim sim/workloads/main-job.sim sim/workloads/numa_test.sim sim/workloads/thread-alloc.sim
