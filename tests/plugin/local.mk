# The plugins: the OpenMP tool against a libnsched that only records (tests/stubs), first with a made-up
# runtime, then under LLVM's, where there is one.
EXTRA_LTLIBRARIES = tests/plugin/libomp_made_up.la tests/plugin/small_tool.la tests/plugin/fake_ompt.la
plugin_module_flags = -module -avoid-version -shared -rpath /nowhere
plugin_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/ompt_plugin

tests_plugin_libomp_made_up_la_SOURCES = tests/plugin/made_up.c tests/plugin/made_up.h
tests_plugin_libomp_made_up_la_CPPFLAGS = $(plugin_cppflags)
tests_plugin_libomp_made_up_la_LDFLAGS = $(plugin_module_flags)
tests_plugin_small_tool_la_SOURCES = tests/plugin/small_tool.c
tests_plugin_small_tool_la_CPPFLAGS = $(plugin_cppflags)
tests_plugin_small_tool_la_LDFLAGS = $(plugin_module_flags)

# The plugin as it is, with the recording libnsched inside: for programs under a real runtime
tests_plugin_fake_ompt_la_SOURCES = tests/stubs/fake_nsched.c tests/stubs/fake_nsched.h
tests_plugin_fake_ompt_la_CPPFLAGS = $(plugin_cppflags)
tests_plugin_fake_ompt_la_LIBADD = libompt.la
tests_plugin_fake_ompt_la_LDFLAGS = $(ompt_ldflags) -rpath /nowhere

plugin_sequence = tests/plugin/sequence.c tests/plugin/sequence.h tests/plugin/made_up.h \
	tests/stubs/fake_nsched.c tests/stubs/fake_nsched.h
plugin_modules = tests/plugin/libomp_made_up.la tests/plugin/small_tool.la

# Needs the plugin's entry only. Against the real library (where it has something to do):
#   make check TESTS=tests/plugin/test_nosyscall_core
check_PROGRAMS += tests/plugin/test_nosyscall
TESTS += tests/plugin/test_nosyscall
tests_plugin_test_nosyscall_SOURCES = tests/plugin/test_nosyscall.c tests/plugin/made_up.h \
	tests/stubs/fake_nsched.c tests/stubs/fake_nsched.h
tests_plugin_test_nosyscall_CPPFLAGS = $(plugin_cppflags)
tests_plugin_test_nosyscall_LDADD = libompt.la -lpthread -ldl
EXTRA_tests_plugin_test_nosyscall_DEPENDENCIES = $(plugin_modules)

EXTRA_PROGRAMS += tests/plugin/test_nosyscall_core
tests_plugin_test_nosyscall_core_SOURCES = tests/plugin/test_nosyscall.c tests/plugin/made_up.h
tests_plugin_test_nosyscall_core_CPPFLAGS = $(plugin_cppflags)
tests_plugin_test_nosyscall_core_LDADD = libompt.la $(nsched_library) -lpthread -ldl
EXTRA_tests_plugin_test_nosyscall_core_DEPENDENCIES = $(plugin_modules)

# The sanitizers have their own in the place of these calls.
check_PROGRAMS += tests/plugin/test_nolock
tests_plugin_test_nolock_SOURCES = tests/plugin/test_nolock.c tests/plugin/made_up.h tests/stubs/two_nodes.c
tests_plugin_test_nolock_CPPFLAGS = $(plugin_cppflags)
tests_plugin_test_nolock_LDADD = libompt.la libnsched_core.la -lpthread -ldl
EXTRA_tests_plugin_test_nolock_DEPENDENCIES = $(plugin_modules)
if !SANITIZED
TESTS += tests/plugin/test_nolock
endif

if HAVE_CHECK
check_PROGRAMS += tests/plugin/test_region tests/plugin/test_events tests/plugin/test_session tests/plugin/test_chain
TESTS += tests/plugin/test_region tests/plugin/test_events tests/plugin/test_session tests/plugin/test_chain

plugin_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
plugin_ldadd = libompt.la $(CHECK_LIBS) -lpthread -ldl

tests_plugin_test_region_SOURCES = tests/plugin/test_region.c
tests_plugin_test_region_CPPFLAGS = $(plugin_cppflags)
tests_plugin_test_region_CFLAGS = $(plugin_cflags)
tests_plugin_test_region_LDADD = $(plugin_ldadd)

tests_plugin_test_events_SOURCES = tests/plugin/test_events.c $(plugin_sequence)
tests_plugin_test_events_CPPFLAGS = $(plugin_cppflags)
tests_plugin_test_events_CFLAGS = $(plugin_cflags)
tests_plugin_test_events_LDADD = $(plugin_ldadd)
EXTRA_tests_plugin_test_events_DEPENDENCIES = $(plugin_modules)

tests_plugin_test_session_SOURCES = tests/plugin/test_session.c $(plugin_sequence)
tests_plugin_test_session_CPPFLAGS = $(plugin_cppflags)
tests_plugin_test_session_CFLAGS = $(plugin_cflags)
tests_plugin_test_session_LDADD = $(plugin_ldadd)
EXTRA_tests_plugin_test_session_DEPENDENCIES = $(plugin_modules)

tests_plugin_test_chain_SOURCES = tests/plugin/test_chain.c $(plugin_sequence)
tests_plugin_test_chain_CPPFLAGS = $(plugin_cppflags)
tests_plugin_test_chain_CFLAGS = $(plugin_cflags)
tests_plugin_test_chain_LDADD = $(plugin_ldadd)
EXTRA_tests_plugin_test_chain_DEPENDENCIES = $(plugin_modules)
endif

# Under LLVM's runtime. Sanitized objects cannot be loaded into programs that are not.
EXTRA_DIST += tests/plugin/omp_run.sh tests/plugin/omp_copies.sh tests/plugin/omp_cases.c tests/plugin/race.c tests/plugin/omp_told.sh tests/plugin/omp_told.c
if HAVE_LIBOMP
if !SANITIZED
TESTS += tests/plugin/omp_run.sh tests/plugin/omp_told.sh tests/plugin/omp_copies.sh
check_SCRIPTS += tests/plugin/omp_told tests/plugin/omp_cases tests/plugin/omp_cases-gcc tests/plugin/race
endif
endif
MOSTLYCLEANFILES += tests/plugin/omp_told tests/plugin/omp_cases tests/plugin/omp_cases-gcc tests/plugin/race

# (The modules are made on the way: a rule for the test's log would replace automake's.)
tests/plugin/omp_cases: tests/plugin/omp_cases.c | tests/plugin/fake_ompt.la tests/plugin/small_tool.la
	$(AM_V_at)$(MKDIR_P) tests/plugin
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) $(srcdir)/tests/plugin/omp_cases.c -lpthread -o $@
tests/plugin/omp_told: tests/plugin/omp_told.c | tests/stubs/two_nodes.la libnsched_ompt.la
	$(AM_V_at)$(MKDIR_P) tests/plugin
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) $(srcdir)/tests/plugin/omp_told.c -o $@
tests/plugin/omp_cases-gcc: tests/plugin/omp_cases.c
	$(AM_V_at)$(MKDIR_P) tests/plugin
	$(example_v) $(CC) $(EXAMPLE_CFLAGS) $(srcdir)/tests/plugin/omp_cases.c -lpthread -o $@
# Not every compiler has ThreadSanitizer; the test says so then.
tests/plugin/race: tests/plugin/race.c
	$(AM_V_at)$(MKDIR_P) tests/plugin
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) -O1 -fsanitize=thread $(srcdir)/tests/plugin/race.c -o $@ || :
