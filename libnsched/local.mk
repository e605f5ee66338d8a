# The core. libnsched_core.la is all of it with its inside in sight, for the tests and the simulator;
# libnsched.so is the same with only the public calls exported.
include libnsched/config.mk
include libnsched/sys/sources.mk

nsched_library = libnsched.la

core_pure = \
	libnsched/pure/machine.c libnsched/pure/machine.h \
	libnsched/pure/evidence.c libnsched/pure/evidence.h libnsched/pure/evidence_inside.h \
	libnsched/pure/evidence_blocks.c libnsched/pure/evidence_blocks.h \
	libnsched/pure/evidence_learn.c \
	libnsched/pure/evidence_seen.c libnsched/pure/evidence_seen.h \
	libnsched/pure/evidence_users.c libnsched/pure/evidence_users.h \
	libnsched/pure/segments.c libnsched/pure/segments.h \
	libnsched/pure/placement.c libnsched/pure/placement.h \
	libnsched/pure/situation.c libnsched/pure/situation.h \
	libnsched/pure/estimate.c libnsched/pure/estimate.h \
	libnsched/pure/plan.c libnsched/pure/plan.h \
	libnsched/pure/policy.c libnsched/pure/policy.h \
	libnsched/pure/policy_stay.c libnsched/pure/policy_joint.c \
	libnsched/pure/gate.c libnsched/pure/gate.h \
	libnsched/pure/snapshot.c libnsched/pure/snapshot_print.c libnsched/pure/snapshot.h \
	libnsched/pure/snapshot_words.c libnsched/pure/snapshot_words.h

core_sys = \
	libnsched/sys/topo.c libnsched/sys/topo.h \
	libnsched/sys/nodes.c libnsched/sys/nodes.h \
	libnsched/sys/cpulist.c libnsched/sys/cpulist.h libnsched/sys/cpumask.h \
	libnsched/sys/threads.c libnsched/sys/threads.h \
	libnsched/sys/clock.c libnsched/sys/clock.h \
	libnsched/sys/actuator.h libnsched/sys/actuator_linux.c libnsched/sys/actuator_dry.c \
	$(SOURCES_FILES)

core_root = \
	libnsched/nsched.c \
	libnsched/process.c libnsched/process.h \
	libnsched/loop.c libnsched/loop.h \
	libnsched/log.c libnsched/log.h \
	libnsched/registry.c libnsched/registry.h \
	libnsched/region.c libnsched/region.h \
	libnsched/binding.c libnsched/binding.h \
	libnsched/ranges.c libnsched/ranges.h \
	libnsched/history.c libnsched/history.h \
	libnsched/session.c libnsched/session.h \
	libnsched/session_threads.c libnsched/session_sources.c \
	libnsched/session_memory.c libnsched/session_view.c libnsched/session_apply.c \
	libnsched/report.c libnsched/report.h \
	libnsched/report_text.c libnsched/report_json.c

noinst_LTLIBRARIES += libnsched_core.la
libnsched_core_la_SOURCES = $(core_pure) $(core_sys) $(core_root)
libnsched_core_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(CAPSTONE_CFLAGS) $(JANSSON_CFLAGS)
libnsched_core_la_LIBADD = libnsched_config.la $(HWLOC_LIBS) $(CAPSTONE_LIBS) $(JANSSON_LIBS) -lpthread -lm

# nodelete: helper thread, signal handler and atfork handlers live in it
lib_LTLIBRARIES += libnsched.la
libnsched_la_SOURCES =
libnsched_la_LIBADD = libnsched_core.la
libnsched_la_LDFLAGS = -shared -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,defs -Wl,--version-script=$(top_srcdir)/libnsched/libnsched.map
libnsched_la_DEPENDENCIES = libnsched_core.la libnsched/libnsched.map
EXTRA_DIST += libnsched/libnsched.map
