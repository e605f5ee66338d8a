# Counters by the real PAPI library, with software-defined events.
if HAVE_CHECK
if HAVE_PAPI
papi_tests = tests/papi/test_papi tests/papi/test_counter_events
check_PROGRAMS += $(papi_tests)
TESTS += $(papi_tests)
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
