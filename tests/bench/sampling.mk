# What watching costs a program. `make bench-sampling`
EXTRA_DIST += tests/bench/sampling.sh tests/bench/two_nodes.sh
EXTRA_PROGRAMS += tests/bench/sampling
tests_bench_sampling_SOURCES = tests/bench/sampling.c
tests_bench_sampling_CFLAGS = $(AM_CFLAGS) -O2
tests_bench_sampling_LDADD = -lpthread

bench-sampling: tests/bench/sampling tests/stubs/two_nodes.la tools/nsched libnsched_preload.la
	@srcdir=$(srcdir) $(srcdir)/tests/bench/sampling.sh
.PHONY: bench-sampling

# What a record costs, and how large it gets. `make bench-record`
EXTRA_DIST += tests/bench/record.sh
bench-record: tests/bench/sampling tests/stubs/two_nodes.la tools/nsched libnsched_preload.la
	@srcdir=$(srcdir) $(srcdir)/tests/bench/record.sh
.PHONY: bench-record
