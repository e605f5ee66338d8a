# Replay: a record, and the session that takes its decisions again. For `nsched replay` and the tests.
noinst_LTLIBRARIES += libnsched_replay.la
libnsched_replay_la_SOURCES = \
	replay/file.c replay/file.h \
	replay/player.c replay/player_start.c replay/player_ops.c replay/player.h \
	replay/pages.c replay/pages.h replay/whatif.c replay/whatif.h
libnsched_replay_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/replay $(zstd_cppflags)
libnsched_replay_la_LIBADD = libnsched_core.la $(ZSTD_LIBS)
