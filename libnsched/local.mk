# The core. libnsched_core.la is all of it with its inside in sight, for the tests and the simulator;
# libnsched.so is the same with only the public calls exported.
include libnsched/config.mk
include libnsched/sys/sources.mk

nsched_library = libnsched.la

# What the processes of a job share, for the core and for the launcher.
noinst_LTLIBRARIES += libnsched_board.la
libnsched_board_la_SOURCES = \
	libnsched/pure/machine.c libnsched/pure/machine.h \
	libnsched/pure/slot.c libnsched/pure/slot.h \
	libnsched/pure/share.c libnsched/pure/share.h \
	libnsched/pure/cut.c libnsched/pure/cut.h \
	libnsched/sys/board.c libnsched/sys/board.h libnsched/sys/board_map.h \
	libnsched/sys/board_find.c libnsched/sys/board_owner.c libnsched/sys/board_machine.c \
	libnsched/sys/nodes.c libnsched/sys/nodes.h \
	libnsched/sys/files.c libnsched/sys/files.h libnsched/sys/quiet.c libnsched/sys/quiet.h libnsched/sys/room.c libnsched/sys/room.h \
	libnsched/sys/cpulist.c libnsched/sys/cpulist.h libnsched/sys/cpumask.h \
	libnsched/sys/topo.c libnsched/sys/topo.h libnsched/sys/measured.c libnsched/sys/measured.h
libnsched_board_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS)
libnsched_board_la_LIBADD = $(HWLOC_LIBS)

core_pure = \
	libnsched/pure/evidence.c libnsched/pure/evidence.h libnsched/pure/evidence_inside.h \
	libnsched/pure/evidence_blocks.c libnsched/pure/evidence_blocks.h \
	libnsched/pure/evidence_learn.c \
	libnsched/pure/evidence_seen.c libnsched/pure/evidence_seen.h \
	libnsched/pure/evidence_users.c libnsched/pure/evidence_users.h \
	libnsched/pure/segments.c libnsched/pure/segments.h \
	libnsched/pure/placement.c libnsched/pure/placement.h \
	libnsched/pure/situation.c libnsched/pure/situation.h \
	libnsched/pure/estimate.c libnsched/pure/estimate.h \
	libnsched/pure/load.c libnsched/pure/load.h \
	libnsched/pure/groups.c libnsched/pure/groups.h \
	libnsched/pure/pool.c libnsched/pure/pool.h \
	libnsched/pure/past.c libnsched/pure/past.h \
	libnsched/pure/renumber.c libnsched/pure/renumber.h libnsched/pure/rows.h \
	libnsched/pure/plan.c libnsched/pure/plan.h \
	libnsched/pure/policy.c libnsched/pure/policy.h \
	libnsched/pure/tape.c libnsched/pure/tape.h \
	libnsched/pure/digest.c libnsched/pure/digest.h \
	libnsched/pure/draft.c libnsched/pure/draft.h \
	libnsched/pure/balance.c libnsched/pure/balance.h \
	libnsched/pure/homes.c libnsched/pure/homes.h \
	libnsched/pure/touch.c libnsched/pure/touch.h \
	libnsched/pure/joint.c libnsched/pure/joint_threads.c libnsched/pure/joint_memory.c libnsched/pure/joint_talks.c libnsched/pure/joint_build.c libnsched/pure/joint.h \
	libnsched/pure/counted.c libnsched/pure/counted.h \
	libnsched/pure/throttle.c libnsched/pure/throttle.h \
	libnsched/pure/uncore.c libnsched/pure/uncore.h \
	libnsched/pure/trial.c libnsched/pure/trial.h \
	libnsched/pure/policy_stay.c libnsched/pure/policy_joint.c \
	libnsched/pure/policy_simple.c libnsched/pure/policy_pool.c \
	libnsched/pure/policy_homenode.c libnsched/pure/policy_homenode_dynamic.c \
	libnsched/pure/policy_concentric.c libnsched/pure/policy_balancenuma.c \
	libnsched/pure/policy_autonuma.c libnsched/pure/policy_adaptive.c \
	libnsched/pure/policy_reconciled.c \
	libnsched/pure/gate.c libnsched/pure/gate.h \
	libnsched/pure/team.c libnsched/pure/team.h libnsched/pure/team_homes.c libnsched/pure/team_plan.c \
	libnsched/pure/snapshot.c libnsched/pure/snapshot_print.c libnsched/pure/snapshot.h \
	libnsched/pure/snapshot_words.c libnsched/pure/snapshot_words.h

core_sys = \
	libnsched/sys/numa_maps.c libnsched/sys/numa_maps.h \
	libnsched/sys/migrate.c libnsched/sys/migrate.h libnsched/sys/shared.c libnsched/sys/shared.h \
	libnsched/sys/threads.c libnsched/sys/threads.h \
	libnsched/sys/clock.c libnsched/sys/clock.h \
	libnsched/sys/eyes.h libnsched/sys/eyes_linux.c \
	libnsched/sys/actuator.h libnsched/sys/actuator_linux.c libnsched/sys/actuator_dry.c \
	libnsched/sys/publish.c libnsched/sys/publish.h \
	libnsched/sys/record_file.c libnsched/sys/record_file.h \
	libnsched/sys/own_file.c libnsched/sys/own_file.h \
	libnsched/sys/kernel_faults.c libnsched/sys/kernel_faults.h \
	libnsched/sys/counter.h $(papi_files) \
	libnsched/sys/bandwidth.h libnsched/sys/bandwidth_uncore.c \
	$(SOURCES_FILES)

core_root = \
	libnsched/nsched.c \
	libnsched/process.c libnsched/process_children.c libnsched/process.h \
	libnsched/probe.c libnsched/probe.h \
	libnsched/loop.c libnsched/loop.h \
	libnsched/log.c libnsched/log.h \
	libnsched/registry.c libnsched/registry.h \
	libnsched/region.c libnsched/region.h \
	libnsched/binding.c libnsched/binding.h \
	libnsched/ranges.c libnsched/ranges.h \
	libnsched/exchange.c libnsched/exchange.h \
	libnsched/history.c libnsched/history.h \
	libnsched/recorder.c libnsched/recorder_ops.c libnsched/recorder.h libnsched/record.h libnsched/witness.h \
	libnsched/neighbours.c libnsched/neighbours.h \
	libnsched/sharing.c libnsched/sharing.h \
	libnsched/session.c libnsched/session_pace.c libnsched/session.h \
	libnsched/session_threads.c libnsched/session_sources.c libnsched/session_rates.c libnsched/session_counters.c \
	libnsched/session_kernel.c libnsched/session_bandwidth.c libnsched/session_regions.c libnsched/session_trial.c \
	libnsched/session_memory.c libnsched/session_view.c libnsched/session_apply.c libnsched/session_pages.c \
	libnsched/report.c libnsched/report.h \
	libnsched/report_text.c libnsched/report_exchange.c libnsched/report_json.c

papi_sources = \
	libnsched/sys/counter_events.c libnsched/sys/counter_events.h libnsched/sys/counter_events.def \
	libnsched/sys/counter_papi.c libnsched/sys/counter_papi_load.c libnsched/sys/papi_calls.h
EXTRA_DIST += $(papi_sources)
if HAVE_PAPI
papi_files = $(papi_sources)
papi_cppflags = -DNSCHED_WITH_PAPI
endif

if HAVE_ZSTD
zstd_cppflags = -DNSCHED_WITH_ZSTD $(ZSTD_CFLAGS)
endif

noinst_LTLIBRARIES += libnsched_core.la
libnsched_core_la_SOURCES = $(core_pure) $(core_sys) $(core_root)
libnsched_core_la_CPPFLAGS = $(AM_CPPFLAGS) $(papi_cppflags) $(zstd_cppflags)
libnsched_core_la_CFLAGS = $(AM_CFLAGS) $(HWLOC_CFLAGS) $(CAPSTONE_CFLAGS) $(JANSSON_CFLAGS)
libnsched_core_la_LIBADD = libnsched_board.la libnsched_config.la $(HWLOC_LIBS) $(JANSSON_LIBS) -lpthread -ldl -lm

# nodelete: helper thread, signal handler and atfork handlers live in it
lib_LTLIBRARIES += libnsched.la
libnsched_la_SOURCES =
libnsched_la_LIBADD = libnsched_core.la
libnsched_la_LDFLAGS = -shared -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,defs -Wl,--version-script=$(top_srcdir)/libnsched/libnsched.map
libnsched_la_DEPENDENCIES = libnsched_core.la libnsched/libnsched.map
EXTRA_DIST += libnsched/libnsched.map
