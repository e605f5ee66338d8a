# The options and what the launcher told, as a convenience library: for libnsched.so, which hides its
# inside, and for the tools, which print the option table.
noinst_LTLIBRARIES += libnsched_config.la
libnsched_config_la_SOURCES = \
	libnsched/config.c libnsched/config.h libnsched/options.def \
	libnsched/launch.c libnsched/launch.h \
	libnsched/pure/filename.c libnsched/pure/filename.h \
	libnsched/pure/launchers.c libnsched/pure/launchers.h \
	libnsched/pure/nearest.c libnsched/pure/nearest.h \
	libnsched/pure/policies.h libnsched/pure/pure.h

if HAVE_CHECK
check_PROGRAMS += tests/unit/test_config tests/unit/test_launch
TESTS += tests/unit/test_config tests/unit/test_launch
tests_unit_test_config_SOURCES = tests/unit/test_config.c
tests_unit_test_config_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_config_LDADD = libnsched_config.la $(CHECK_LIBS)
tests_unit_test_launch_SOURCES = tests/unit/test_launch.c
tests_unit_test_launch_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_launch_LDADD = libnsched_config.la $(CHECK_LIBS)
endif
