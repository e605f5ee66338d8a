include docs/local.mk

bin_PROGRAMS += tools/nsched
tools_nsched_SOURCES = \
	tools/nsched.c tools/command.h tools/cmd_run.c \
	tools/environment.c tools/environment.h \
	tools/launcher.c tools/launcher.h \
	tools/ranks.c tools/ranks.h \
	tools/cmd_report.c tools/report_read.c tools/report_read.h \
	tools/partition.c tools/partition.h \
	tools/mpi_plugins.c tools/mpi_plugins.h \
	tools/options_text.c tools/options_text.h \
	tools/program.c tools/program.h \
	tools/report_name.c tools/report_name.h \
	tools/where.c tools/where.h
tools_nsched_CPPFLAGS = $(AM_CPPFLAGS) -DNSCHED_BINDIR='"$(bindir)"' -DNSCHED_LIBDIR='"$(libdir)"'
tools_nsched_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SCOTCH_CFLAGS)
tools_nsched_LDADD = libnsched_board.la libnsched_config.la $(JANSSON_LIBS) $(SCOTCH_LIBS) -lm

EXTRA_DIST += quickstart .ci/run build-aux/packages.debian build-aux/packages.sh build-aux/tests.sh build-aux/demo.sh \
	tests/live/debootstrap-proof
