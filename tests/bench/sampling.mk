# What watching costs a program. `make bench-sampling`
EXTRA_DIST += tests/bench/sampling.sh tests/bench/two_nodes.sh
EXTRA_PROGRAMS += tests/bench/pairs tests/bench/sampling
tests_bench_pairs_SOURCES = tests/bench/pairs.c tests/bench/pairs_side.c tests/bench/pairs.h
tests_bench_pairs_CFLAGS = $(AM_CFLAGS) -O2
tests_bench_pairs_LDADD = libnsched.la -lpthread -lm
tests_bench_sampling_SOURCES = tests/bench/sampling.c
tests_bench_sampling_CFLAGS = $(AM_CFLAGS) -O2
tests_bench_sampling_LDADD = -lpthread

bench-sampling: tests/bench/pairs tests/stubs/two_nodes.la
	@srcdir=$(srcdir) $(srcdir)/tests/bench/sampling.sh
.PHONY: bench-sampling

# What a record costs, and how large it gets. `make bench-record`
EXTRA_DIST += tests/bench/record.sh
bench-record: tests/bench/sampling tests/stubs/two_nodes.la tools/nsched libnsched_preload.la
	@srcdir=$(srcdir) $(srcdir)/tests/bench/record.sh
.PHONY: bench-record

# What finding out which evidence can be had takes. `make bench-probe`; RUNS=30
EXTRA_PROGRAMS += tests/bench/probe
tests_bench_probe_SOURCES = tests/bench/probe.c
tests_bench_probe_CFLAGS = $(AM_CFLAGS) -O2
tests_bench_probe_LDADD = libnsched.la
bench-probe: tests/bench/probe
	@tests/bench/probe $${RUNS:-30}
	@tests/bench/probe $${RUNS:-30} cold
.PHONY: bench-probe
