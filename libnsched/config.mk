# The options, as a convenience library: for libnsched.so, which hides its inside, and for the tools,
# which print the option table.
noinst_LTLIBRARIES += libnsched_config.la
libnsched_config_la_SOURCES = \
	libnsched/config.c libnsched/config.h libnsched/options.def \
	libnsched/pure/nearest.c libnsched/pure/nearest.h libnsched/pure/pure.h

if HAVE_CHECK
check_PROGRAMS += tests/unit/test_config
TESTS += tests/unit/test_config
tests_unit_test_config_SOURCES = tests/unit/test_config.c
tests_unit_test_config_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_config_LDADD = libnsched_config.la $(CHECK_LIBS)
endif
