# What the bench runs. Compiled with the tests, under the same warnings, so that they stay right; run by `make bench` only.
bench_c_programs = tests/bench/programs/zero tests/bench/programs/numa_test tests/bench/programs/allocate \
	tests/bench/programs/transact tests/bench/programs/netstream tests/bench/programs/watch
check_PROGRAMS += $(bench_c_programs)
bench_common = tests/bench/programs/bench.c tests/bench/programs/bench.h tests/bench/programs/places.c tests/numabox/mark.h
tests_bench_programs_watch_SOURCES = tests/bench/programs/watch.c tests/numabox/mark.h
tests_bench_programs_zero_SOURCES = tests/bench/programs/zero.c $(bench_common)
tests_bench_programs_zero_LDADD = -lpthread
tests_bench_programs_numa_test_SOURCES = tests/bench/programs/numa_test.c $(bench_common)
tests_bench_programs_numa_test_LDADD = -lpthread
tests_bench_programs_allocate_SOURCES = tests/bench/programs/allocate.c $(bench_common)
tests_bench_programs_allocate_LDADD = -lpthread
tests_bench_programs_transact_SOURCES = tests/bench/programs/transact.c $(bench_common)
tests_bench_programs_transact_LDADD = -lpthread
tests_bench_programs_netstream_SOURCES = tests/bench/programs/netstream.c $(bench_common)
tests_bench_programs_netstream_LDADD = -lpthread
EXTRA_DIST += tests/bench/programs/compile.sh

check_LTLIBRARIES += tests/bench/programs/ballast.la
tests_bench_programs_ballast_la_SOURCES = tests/bench/programs/ballast.c
tests_bench_programs_ballast_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# The OpenMP ones, by a user's compiler and flags: for LLVM's runtime, where it is.
omp_bench_sources = tests/bench/programs/omp.c tests/bench/programs/omp_loops.c tests/bench/programs/omp_csr.c \
	tests/bench/programs/omp_tasks.c
EXTRA_DIST += $(omp_bench_sources) tests/bench/programs/omp.h
MOSTLYCLEANFILES += tests/bench/programs/omp
if HAVE_LIBOMP
bench_omp_programs = tests/bench/programs/omp
check_SCRIPTS += $(bench_omp_programs)
endif
tests/bench/programs/omp: $(omp_bench_sources) $(bench_common) tests/bench/programs/omp.h
	$(AM_V_at)$(MKDIR_P) tests/bench/programs
	$(example_v) cd $(srcdir)/tests/bench/programs && \
	  $(OMP_CC) $(EXAMPLE_CFLAGS) -Wextra omp.c omp_loops.c omp_csr.c omp_tasks.c bench.c places.c -lpthread -lm \
	  -o $(abs_builddir)/$@

bench_programs = $(bench_c_programs) $(bench_omp_programs) tests/bench/programs/ballast.la
