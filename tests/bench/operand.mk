# What finding a sample's operands costs. `make bench-operand`; part of `make bench`.
EXTRA_PROGRAMS += tests/bench/operand_bench
tests_bench_operand_bench_SOURCES = tests/bench/operand_bench.c tests/operand/kernels.c
tests_bench_operand_bench_CFLAGS = $(AM_CFLAGS) -O3 $(CAPSTONE_CFLAGS)
tests_bench_operand_bench_CPPFLAGS = $(operand_cppflags) -I$(top_srcdir)/tests/operand
tests_bench_operand_bench_LDADD = tests/operand/libsources.a -ldl -lm -lpthread
CLEANFILES += tests/bench/operand_bench

EXTRA_DIST += tests/bench/operand_bench.sh
bench-operand: tests/bench/operand_bench
	@srcdir=$(srcdir) $(srcdir)/tests/bench/operand_bench.sh
.PHONY: bench-operand
