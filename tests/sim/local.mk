# Tests of the simulator itself, and of what the policies do in it.
sim_made = tests/sim/sim_made.c tests/sim/sim_made.h
EXTRA_DIST += $(sim_made)
if HAVE_CHECK
sim_tests = tests/sim/test_workload tests/sim/test_engine tests/sim/test_memory tests/sim/test_run tests/sim/test_holds tests/sim/test_trials
check_PROGRAMS += $(sim_tests)
TESTS += $(sim_tests)
sim_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
sim_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/sim -I$(top_srcdir)/tests/unit -I$(top_srcdir)/tests/fuzz
sim_libs = tests/unit/libmade.a libnsched_sim.la $(CHECK_LIBS)
tests_sim_test_workload_SOURCES = tests/sim/test_workload.c tests/fuzz/fuzz_workload.c $(sim_made)
tests_sim_test_workload_CFLAGS = $(sim_cflags)
tests_sim_test_workload_CPPFLAGS = $(sim_cppflags)
tests_sim_test_workload_LDADD = $(sim_libs)
tests_sim_test_engine_SOURCES = tests/sim/test_engine.c $(sim_made)
tests_sim_test_engine_CFLAGS = $(sim_cflags)
tests_sim_test_engine_CPPFLAGS = $(sim_cppflags)
tests_sim_test_engine_LDADD = $(sim_libs)
tests_sim_test_memory_CFLAGS = $(sim_cflags)
tests_sim_test_memory_CPPFLAGS = $(sim_cppflags)
tests_sim_test_memory_LDADD = $(sim_libs)
tests_sim_test_run_SOURCES = tests/sim/test_run.c $(sim_made)
tests_sim_test_run_CFLAGS = $(sim_cflags)
tests_sim_test_run_CPPFLAGS = $(sim_cppflags)
tests_sim_test_run_LDADD = $(sim_libs)
tests_sim_test_holds_SOURCES = tests/sim/test_holds.c $(sim_made)
tests_sim_test_holds_CFLAGS = $(sim_cflags)
tests_sim_test_holds_CPPFLAGS = $(sim_cppflags)
tests_sim_test_holds_LDADD = $(sim_libs)
tests_sim_test_trials_SOURCES = tests/sim/test_trials.c $(sim_made)
tests_sim_test_trials_CFLAGS = $(sim_cflags)
tests_sim_test_trials_CPPFLAGS = $(sim_cppflags)
tests_sim_test_trials_LDADD = $(sim_libs)
endif
