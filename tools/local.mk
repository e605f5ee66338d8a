include docs/local.mk

bin_PROGRAMS += tools/nsched
tools_nsched_SOURCES = \
	tools/nsched.c tools/command.h tools/cmd_run.c tools/cmd_sim.c \
	tools/sim_output.h tools/sim_text.c tools/sim_json.c tools/sim_table.c \
	tools/environment.c tools/environment.h \
	tools/options_text.c tools/options_text.h \
	tools/program.c tools/program.h \
	tools/report_name.c tools/report_name.h \
	tools/where.c tools/where.h
tools_nsched_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/sim $(JANSSON_CFLAGS) -DNSCHED_WORKLOADS='"$(pkgdatadir)/workloads"' -DNSCHED_BINDIR='"$(bindir)"' -DNSCHED_LIBDIR='"$(libdir)"'
tools_nsched_LDADD = libnsched_sim.la libnsched_config.la $(JANSSON_LIBS)

EXTRA_DIST += quickstart .ci/run build-aux/packages.debian build-aux/packages.sh build-aux/tests.sh build-aux/demo.sh \
	tests/live/debootstrap-proof
