# What a user gets, measured: `make check-live`. One after the other, since they measure; some minutes. `make check-live-more`:
# those that take long, or depend on the host's load more than a test may.
live_tests = tests/live/one-node tests/live/no-syscall tests/live/no-syscall-libomp tests/live/perf-bench tests/live/main-job
live_more = tests/live/replay tests/live/talk tests/live/sandbox tests/live/changes tests/live/two-hosts tests/live/ranks tests/live/doctor tests/live/sources \
  tests/live/footprint tests/live/counters
check_PROGRAMS += tests/live/crossed tests/live/owners tests/live/hot tests/live/counted
tests_live_crossed_SOURCES = tests/live/crossed.c tests/live/places.h
tests_live_crossed_LDADD = -lpthread
tests_live_counted_SOURCES = tests/live/counted.c tests/live/places.h
tests_live_counted_LDADD = libnsched.la -lpthread -ldl
tests_live_owners_SOURCES = tests/live/owners.c
tests_live_owners_LDADD = libnsched.la -lpthread
tests_live_hot_SOURCES = tests/live/hot.c tests/numabox/mark.h
tests_live_hot_LDADD = libnsched.la -lpthread
EXTRA_DIST += $(live_tests) $(live_more) tests/live/doctor-inside tests/live/agree docs/sources.md tests/live/run-all tests/live/box.sh tests/live/figures.sh
EXTRA_DIST += tests/ranks/team.c tests/ranks/jam.c tests/ranks/pairs.c tests/ranks/talk.c tests/ranks/abort.c tests/ranks/ends.sh

check-live: all $(omp_examples) tests/plugin/test_nosyscall_core tests/tools/refuse tests/live/crossed $(live_omp)
	@srcdir=$(srcdir) $(srcdir)/tests/live/run-all $(live_tests)
check-live-more: all $(omp_examples) tests/tools/refuse tests/live/crossed tests/live/owners tests/live/hot tests/live/counted
	@srcdir=$(srcdir) $(srcdir)/tests/live/run-all $(live_more)
.PHONY: check-live check-live-more

# What no-syscall-libomp runs
EXTRA_LTLIBRARIES += tests/live/trap_tool.la
tests_live_trap_tool_la_SOURCES = tests/live/trap_tool.c
tests_live_trap_tool_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/ompt_plugin
tests_live_trap_tool_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default
tests_live_trap_tool_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere
tests_live_trap_tool_la_LIBADD = -ldl
EXTRA_DIST += tests/live/small_regions.c
MOSTLYCLEANFILES += tests/live/small_regions
if HAVE_LIBOMP
live_omp = tests/live/small_regions tests/live/trap_tool.la
endif
tests/live/small_regions: tests/live/small_regions.c
	$(AM_V_at)$(MKDIR_P) tests/live
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) $(srcdir)/tests/live/small_regions.c -o $@

clean-local:
	rm -rf tests/live/results tests/live/*.log tests/live/*.trs
