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
