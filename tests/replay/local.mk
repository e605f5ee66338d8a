# Records and their replay.
if HAVE_CHECK
if HAVE_ZSTD
replay_tests = tests/replay/test_record tests/replay/test_replay
check_PROGRAMS += $(replay_tests)
TESTS += $(replay_tests)
replay_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/replay -I$(top_srcdir)/tests/unit
replay_libs = tests/unit/libmade.a libnsched_replay.la $(CHECK_LIBS) $(ZSTD_LIBS)
tests_replay_test_record_CPPFLAGS = $(replay_cppflags)
tests_replay_test_record_CFLAGS = $(unit_cflags)
tests_replay_test_record_LDADD = $(replay_libs)
tests_replay_test_replay_CPPFLAGS = $(replay_cppflags)
tests_replay_test_replay_CFLAGS = $(unit_cflags)
tests_replay_test_replay_LDADD = $(replay_libs)
endif
endif
