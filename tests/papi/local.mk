# Counters by the real PAPI library, with software-defined events.
if HAVE_CHECK
if HAVE_PAPI
check_PROGRAMS += tests/papi/test_papi tests/papi/test_counter_events
TESTS += tests/papi/test_counter_events
# PAPI 7 itself leaks, and the threads that read for themselves race with the stubs of the hands
if !SANITIZED
TESTS += tests/papi/test_papi
endif
EXTRA_LTLIBRARIES += tests/papi/fake_papi.la
tests_papi_fake_papi_la_SOURCES = tests/papi/fake_papi.c
tests_papi_fake_papi_la_LDFLAGS = $(plugin_module_flags)
tests_papi_test_papi_SOURCES = tests/papi/test_papi.c
tests_papi_test_papi_CFLAGS = $(unit_cflags)
tests_papi_test_papi_LDADD = $(unit_libs) -ldl
EXTRA_tests_papi_test_papi_DEPENDENCIES = tests/papi/fake_papi.la
tests_papi_test_counter_events_SOURCES = tests/papi/test_counter_events.c
tests_papi_test_counter_events_CFLAGS = $(unit_cflags)
tests_papi_test_counter_events_LDADD = $(unit_libs)
endif
endif
MOSTLYCLEANFILES += papi_root/proc/cpuinfo

# nsched's own figures, read by a program that is not ours
EXTRA_LTLIBRARIES += tests/stubs/two_nodes.la
tests_stubs_two_nodes_la_SOURCES = tests/stubs/two_nodes.c
tests_stubs_two_nodes_la_LDFLAGS = $(plugin_module_flags)
tests_stubs_two_nodes_la_LIBADD = -ldl
EXTRA_DIST += tests/papi/read.sh
if HAVE_PAPI
if !SANITIZED
TESTS += tests/papi/read.sh
check_PROGRAMS += tests/papi/reader
tests_papi_reader_SOURCES = tests/papi/reader.c
tests_papi_reader_LDADD = -lpapi -lpthread
EXTRA_tests_papi_reader_DEPENDENCIES = tests/stubs/two_nodes.la
endif
endif
