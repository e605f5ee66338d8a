# The doctor on recorded machines; tests/live/doctor is the real thing.
EXTRA_DIST += tests/doctor/README.md tests/doctor/record tests/doctor/cases tests/doctor/changes.h

if HAVE_CHECK
doctor_tests = tests/doctor/test_doctor tests/doctor/test_parts
check_PROGRAMS += $(doctor_tests)
TESTS += $(doctor_tests)
doctor_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
doctor_libs = libnsched_doctor.la libnsched_config.la $(JANSSON_LIBS) $(CHECK_LIBS)
tests_doctor_test_doctor_SOURCES = tests/doctor/test_doctor.c tests/doctor/case.c tests/doctor/case.h
tests_doctor_test_doctor_CFLAGS = $(doctor_cflags)
tests_doctor_test_doctor_LDADD = $(doctor_libs)
tests_doctor_test_parts_SOURCES = tests/doctor/test_parts.c tests/doctor/case.c tests/doctor/case.h
tests_doctor_test_parts_CFLAGS = $(doctor_cflags)
tests_doctor_test_parts_LDADD = $(doctor_libs)
endif
