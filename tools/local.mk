include docs/local.mk

bin_PROGRAMS += tools/nsched
tools_nsched_SOURCES = \
	tools/nsched.c tools/command.h tools/cmd_run.c tools/cmd_doctor.c tools/cmd_sim.c tools/cmd_replay.c \
	tools/doctor_tools.c tools/doctor_measure.c \
	tools/sim_output.h tools/sim_text.c tools/sim_json.c tools/sim_table.c tools/sim_standing.c tools/sim_random.c \
	tools/environment.c tools/environment.h \
	tools/launcher.c tools/launcher.h \
	tools/ranks.c tools/ranks.h tools/ranks_meet.c tools/ranks_meet.h \
	tools/ranks_decide.c tools/ranks_decide.h tools/ranks_follow.c tools/ranks_follow.h \
	tools/cmd_report.c tools/report_read.c tools/report_read.h \
	tools/report_nodes.c tools/report_nodes.h tools/partition.c tools/partition.h \
	tools/mpi_plugins.c tools/mpi_plugins.h \
	tools/options_text.c tools/options_text.h \
	tools/program.c tools/program.h \
	tools/report_name.c tools/report_name.h \
	tools/where.c tools/where.h
tools_nsched_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/sim -I$(top_srcdir)/replay $(JANSSON_CFLAGS) -DNSCHED_WORKLOADS='"$(pkgdatadir)/workloads"' -DNSCHED_BINDIR='"$(bindir)"' -DNSCHED_LIBDIR='"$(libdir)"'
tools_nsched_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SCOTCH_CFLAGS)
tools_nsched_LDADD = libnsched_doctor.la libnsched_replay.la libnsched_sim.la libnsched_board.la libnsched_config.la $(JANSSON_LIBS) $(SCOTCH_LIBS) -lpthread -ldl -lm

# The doctor, as a convenience library: its tests give it recorded machines. It is not linked with the core, whose
# libraries `nsched run` need not wait for: it loads it.
noinst_LTLIBRARIES += libnsched_doctor.la
libnsched_doctor_la_SOURCES = \
	tools/doctor.h tools/doctor_find.h \
	tools/doctor_files.c tools/doctor_files.h \
	tools/doctor_machine.c tools/doctor_limits.c tools/doctor_process.c tools/doctor_memory.c \
	tools/doctor_rank.c tools/doctor_job.c tools/doctor_binders.c tools/doctor_remedy.c \
	tools/doctor_findings.c tools/doctor_find_machine.c tools/doctor_find_threads.c \
	tools/doctor_find_ranks.c tools/doctor_find_memory.c \
	tools/doctor_text.c tools/doctor_json.c \
	libnsched/sys/measured.c libnsched/sys/measured.h \
	libnsched/sys/cpulist.c libnsched/sys/cpulist.h \
	libnsched/sys/threads.c libnsched/sys/threads.h
libnsched_doctor_la_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)

EXTRA_DIST += quickstart .ci/run build-aux/packages.debian build-aux/packages.sh build-aux/tests.sh build-aux/demo.sh \
	tests/live/debootstrap-proof
