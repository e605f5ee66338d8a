# Harmless: programs end as they would without nsched. `make check` has a part of the table, `make check-harmless` all of it.
# docs/harmless.md says what is tried, and how often it was.
harmless_victim = tests/harmless/victim.c tests/harmless/victim.h tests/harmless/victim_ends.c tests/harmless/victim_children.c \
	tests/harmless/victim_lives.c tests/harmless/victim_openmp.c
EXTRA_DIST += tests/harmless/plugin.c tests/harmless/table

check_PROGRAMS += tests/harmless/victim-threads
tests_harmless_victim_threads_SOURCES = $(harmless_victim)
tests_harmless_victim_threads_LDADD = -lpthread -ldl

harmless_made = tests/harmless/plugin-gcc.so
if HAVE_LIBOMP
harmless_made += tests/harmless/victim-omp tests/harmless/plugin-llvm.so
endif
MOSTLYCLEANFILES += tests/harmless/victim-omp tests/harmless/plugin-gcc.so tests/harmless/plugin-llvm.so
# valgrind does not read clang's debugging information
tests/harmless/victim-omp: $(harmless_victim)
	$(AM_V_at)$(MKDIR_P) tests/harmless
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) -g0 -D_GNU_SOURCE= -I$(top_srcdir)/include $(addprefix $(top_srcdir)/,$(filter %.c,$(harmless_victim))) -lpthread -ldl -o $@
tests/harmless/plugin-llvm.so: tests/harmless/plugin.c
	$(AM_V_at)$(MKDIR_P) tests/harmless
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) -shared -fPIC $(top_srcdir)/tests/harmless/plugin.c -o $@
tests/harmless/plugin-gcc.so: tests/harmless/plugin.c | tests/stubs/two_nodes.la
	$(AM_V_at)$(MKDIR_P) tests/harmless
	$(example_v) $(CC) $(EXAMPLE_CFLAGS) -shared -fPIC $(top_srcdir)/tests/harmless/plugin.c -o $@ || :

EXTRA_DIST += tests/harmless/quick
if !SANITIZED
TESTS += tests/harmless/quick
check_SCRIPTS += $(harmless_made)
endif

# Each system call and request for memory fails in its turn; the list of places is made by the test itself.
check_PROGRAMS += tests/harmless/fail_calls
tests_harmless_fail_calls_SOURCES = tests/harmless/fail_calls.c
EXTRA_DIST += tests/harmless/fail_each tests/harmless/wrong.sh tests/harmless/fail_memory.c
EXTRA_LTLIBRARIES += tests/harmless/fail_memory.la
tests_harmless_fail_memory_la_SOURCES = tests/harmless/fail_memory.c
tests_harmless_fail_memory_la_CFLAGS = $(AM_CFLAGS) -fno-builtin -fno-omit-frame-pointer
tests_harmless_fail_memory_la_LDFLAGS = $(plugin_module_flags)

check-harmless: all $(check_PROGRAMS) tests/stubs/two_nodes.la tests/harmless/fail_memory.la $(harmless_made)
	$(srcdir)/tests/harmless/table
	srcdir=$(srcdir) $(srcdir)/tests/harmless/wrong.sh
	$(srcdir)/tests/harmless/fail_each
.PHONY: check-harmless

# What it takes does not grow: in SOAK_SECONDS of real time (1800 before a release), and a few rounds of it in `make check`; in hours
# of simulated time. A sanitizer's malloc does not say what it has given out.
SOAK_SECONDS = 60
check_PROGRAMS += tests/harmless/soak
tests_harmless_soak_SOURCES = tests/harmless/soak.c tests/harmless/dice.h tests/stubs/two_nodes.c
tests_harmless_soak_CFLAGS = $(AM_CFLAGS)
tests_harmless_soak_LDADD = libnsched_core.la -ldl -lpthread
EXTRA_DIST += tests/harmless/grows
if !SANITIZED
TESTS += tests/harmless/grows
endif
if HAVE_CHECK
check_PROGRAMS += tests/harmless/soak_clock
tests_harmless_soak_clock_SOURCES = tests/harmless/soak_clock.c
tests_harmless_soak_clock_CFLAGS = $(unit_cflags)
tests_harmless_soak_clock_LDADD = $(unit_libs)
if !SANITIZED
TESTS += tests/harmless/soak_clock
endif
endif
soak: tests/harmless/soak
	tests/harmless/soak $(SOAK_SECONDS)
.PHONY: soak
MOSTLYCLEANFILES += $(EXTRA_PROGRAMS)

# Threads, regions, forks and bindings at random: some seconds in `make check`, under the sanitizers too; STRESS_SECONDS in the emulated machine.
STRESS_SECONDS = 1800
STRESS_SEED = 1
check_PROGRAMS += tests/harmless/stress tests/harmless/stress-here
stress_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/ompt_plugin
tests_harmless_stress_SOURCES = tests/harmless/stress.c tests/harmless/dice.h tests/plugin/made_up.h
tests_harmless_stress_CPPFLAGS = $(stress_cppflags)
tests_harmless_stress_LDADD = libompt.la libnsched_core.la -ldl -lpthread
EXTRA_tests_harmless_stress_DEPENDENCIES = $(plugin_modules)
tests_harmless_stress_here_SOURCES = tests/harmless/stress.c tests/harmless/dice.h tests/plugin/made_up.h tests/stubs/two_nodes.c
tests_harmless_stress_here_CPPFLAGS = $(stress_cppflags) -DSTRESS_HERE
tests_harmless_stress_here_LDADD = libompt.la libnsched_core.la -ldl -lpthread
EXTRA_tests_harmless_stress_here_DEPENDENCIES = $(plugin_modules)
TESTS += tests/harmless/stress-here
stress: tests/harmless/stress
	NSCHED_NUMABOX=always $(srcdir)/tests/numabox/nodes-run -n 4 -c 2 -T $$(($(STRESS_SECONDS) * 2 + 600)) -- tests/harmless/stress $(STRESS_SECONDS) $(STRESS_SEED)
.PHONY: stress
