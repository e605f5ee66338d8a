# What a user gets, measured: `make check-live`. One after the other, since they measure; some minutes.
live_tests = tests/live/one-node tests/live/no-syscall tests/live/perf-bench tests/live/main-job tests/live/doctor tests/live/sandbox tests/live/ranks tests/live/two-hosts
check_PROGRAMS += tests/live/crossed
tests_live_crossed_SOURCES = tests/live/crossed.c
tests_live_crossed_LDADD = -lpthread
EXTRA_DIST += $(live_tests) tests/live/doctor-inside tests/live/run-all tests/live/box.sh tests/live/figures.sh
EXTRA_DIST += tests/ranks/team.c tests/ranks/jam.c tests/ranks/pairs.c tests/ranks/abort.c tests/ranks/ends.sh

check-live: all $(omp_examples) tests/plugin/test_nosyscall_core tests/tools/refuse tests/live/crossed
	@srcdir=$(srcdir) $(srcdir)/tests/live/run-all $(live_tests)
.PHONY: check-live

clean-local:
	rm -rf tests/live/results tests/live/*.log tests/live/*.trs
