# Unit tests with Check, of the core with its inside in sight. What the library's own folders need beside
# it (config, launch) is in libnsched/config.mk.
unit_made = tests/unit/made.c tests/unit/made.h tests/unit/obeys.c tests/unit/obeys.h \
	tests/stubs/fake_clock.c tests/stubs/fake_clock.h tests/stubs/fake_hands.c tests/stubs/fake_hands.h \
	tests/stubs/fake_source.c tests/stubs/fake_source.h tests/unit/scene.c tests/unit/scene.h tests/unit/leaves.c tests/unit/leaves.h \
	tests/stubs/fake_counter.c tests/stubs/fake_counter.h
EXTRA_DIST += $(unit_made) tests/fixtures

if HAVE_CHECK
unit_tests = \
	tests/unit/test_board \
	tests/unit/test_cut \
	tests/unit/test_bandwidth \
	tests/unit/test_binding \
	tests/unit/test_counted \
	tests/unit/test_counters \
	tests/unit/test_launcher \
	tests/unit/test_cpulist \
	tests/unit/test_estimate \
	tests/unit/test_evidence \
	tests/unit/test_files \
	tests/unit/test_evidence_cut \
	tests/unit/test_gate \
	tests/unit/test_golden \
	tests/unit/test_history \
	tests/unit/test_kernel_faults \
	tests/unit/test_machine \
	tests/unit/test_mem_sample \
	tests/unit/test_meeting \
	tests/unit/test_migrate \
	tests/unit/test_sharing \
	tests/unit/test_mem_pmu \
	tests/unit/test_source_mem \
	tests/unit/test_memory \
	tests/unit/test_past \
	tests/unit/test_numa_maps \
	tests/unit/test_placement \
	tests/unit/test_plan \
	tests/unit/test_pmu_words \
	tests/unit/test_policy \
	tests/unit/test_ranges \
	tests/unit/test_region \
	tests/unit/test_registry \
	tests/unit/test_segments \
	tests/unit/test_session \
	tests/unit/test_pages_stay \
	tests/unit/test_session_pages \
	tests/unit/test_session_trial \
	tests/unit/test_session_threads \
	tests/unit/test_runtime_code \
	tests/unit/test_situation \
	tests/unit/test_snapshot \
	tests/unit/test_neighbours \
	tests/unit/test_share \
	tests/unit/test_shared \
	tests/unit/test_slot \
	tests/unit/test_team \
	tests/unit/test_threads \
	tests/unit/test_rates \
	tests/unit/test_throttle \
	tests/unit/test_trial \
	tests/unit/test_told \
	tests/unit/test_topo
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
check_LIBRARIES += tests/unit/libmade.a
tests_unit_libmade_a_SOURCES = $(unit_made)
tests_unit_libmade_a_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
unit_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
unit_libs = tests/unit/libmade.a libnsched_core.la $(CHECK_LIBS)

tests_unit_test_board_SOURCES = tests/unit/test_board.c tests/unit/board_apart.c tests/unit/board_apart.h
tests_unit_test_board_CFLAGS = $(unit_cflags)
tests_unit_test_board_LDADD = $(unit_libs)
tests_unit_test_cut_CFLAGS = $(unit_cflags)
tests_unit_test_cut_LDADD = $(unit_libs)
tests_unit_test_migrate_CFLAGS = $(unit_cflags)
tests_unit_test_migrate_LDADD = $(unit_libs)
tests_unit_test_sharing_CFLAGS = $(unit_cflags)
tests_unit_test_sharing_LDADD = $(unit_libs)
tests_unit_test_shared_CFLAGS = $(unit_cflags)
tests_unit_test_shared_LDADD = $(unit_libs)
tests_unit_test_meeting_SOURCES = tests/unit/test_meeting.c tools/ranks_meet.c tools/ranks_meet.h
tests_unit_test_meeting_CFLAGS = $(unit_cflags) -I$(top_srcdir)
tests_unit_test_meeting_LDADD = $(unit_libs)
tests_unit_test_launcher_SOURCES = tests/unit/test_launcher.c tools/launcher.c tools/launcher.h
tests_unit_test_launcher_CFLAGS = $(unit_cflags) -I$(top_srcdir)
tests_unit_test_launcher_LDADD = $(unit_libs)
tests_unit_test_bandwidth_CFLAGS = $(unit_cflags)
tests_unit_test_bandwidth_LDADD = $(unit_libs)
tests_unit_test_bandwidth_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=syscall,--wrap=read
tests_unit_test_binding_CFLAGS = $(unit_cflags)
tests_unit_test_binding_LDADD = $(unit_libs)
tests_unit_test_counted_CFLAGS = $(unit_cflags)
tests_unit_test_counted_LDADD = $(unit_libs)
tests_unit_test_counters_CFLAGS = $(unit_cflags)
tests_unit_test_counters_LDADD = $(unit_libs)
tests_unit_test_cpulist_CFLAGS = $(unit_cflags)
tests_unit_test_cpulist_LDADD = $(unit_libs)
tests_unit_test_estimate_CFLAGS = $(unit_cflags)
tests_unit_test_estimate_LDADD = $(unit_libs)
tests_unit_test_evidence_cut_CFLAGS = $(unit_cflags)
tests_unit_test_evidence_cut_LDADD = $(unit_libs)
tests_unit_test_evidence_CFLAGS = $(unit_cflags)
tests_unit_test_evidence_LDADD = $(unit_libs)
tests_unit_test_files_CFLAGS = $(unit_cflags)
tests_unit_test_files_LDADD = $(unit_libs)
tests_unit_test_gate_CFLAGS = $(unit_cflags)
tests_unit_test_gate_LDADD = $(unit_libs)
tests_unit_test_golden_CFLAGS = $(unit_cflags)
tests_unit_test_golden_LDADD = $(unit_libs)
tests_unit_test_history_CFLAGS = $(unit_cflags)
tests_unit_test_history_LDADD = $(unit_libs)
tests_unit_test_kernel_faults_CFLAGS = $(unit_cflags)
tests_unit_test_kernel_faults_LDADD = $(unit_libs)
tests_unit_test_machine_CFLAGS = $(unit_cflags)
tests_unit_test_machine_LDADD = $(unit_libs)
tests_unit_test_mem_sample_SOURCES = tests/unit/test_mem_sample.c tests/unit/mem_records.c tests/unit/mem_records.h
tests_unit_test_source_mem_SOURCES = tests/unit/test_source_mem.c tests/unit/mem_records.c tests/unit/mem_records.h
tests_unit_test_source_mem_CFLAGS = $(unit_cflags)
tests_unit_test_source_mem_LDADD = $(unit_libs)
tests_unit_test_source_mem_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=mem_pmu_find,--wrap=perf_ring_open_more,--wrap=perf_ring_enable
tests_unit_test_mem_pmu_CFLAGS = $(unit_cflags)
tests_unit_test_mem_pmu_LDADD = $(unit_libs)
tests_unit_test_mem_sample_CFLAGS = $(unit_cflags)
tests_unit_test_mem_sample_LDADD = $(unit_libs)
tests_unit_test_memory_CFLAGS = $(unit_cflags)
tests_unit_test_memory_LDADD = $(unit_libs)
tests_unit_test_past_CFLAGS = $(unit_cflags)
tests_unit_test_past_LDADD = $(unit_libs)
tests_unit_test_numa_maps_CFLAGS = $(unit_cflags)
tests_unit_test_numa_maps_LDADD = $(unit_libs)
tests_unit_test_placement_CFLAGS = $(unit_cflags)
tests_unit_test_placement_LDADD = $(unit_libs)
tests_unit_test_pmu_words_CFLAGS = $(unit_cflags)
tests_unit_test_pmu_words_LDADD = $(unit_libs)
tests_unit_test_plan_CFLAGS = $(unit_cflags)
tests_unit_test_plan_LDADD = $(unit_libs)
tests_unit_test_policy_CFLAGS = $(unit_cflags)
tests_unit_test_policy_LDADD = $(unit_libs)
tests_unit_test_ranges_CFLAGS = $(unit_cflags)
tests_unit_test_ranges_LDADD = $(unit_libs)
tests_unit_test_region_CFLAGS = $(unit_cflags)
tests_unit_test_region_LDADD = $(unit_libs)
tests_unit_test_registry_CFLAGS = $(unit_cflags)
tests_unit_test_registry_LDADD = $(unit_libs)
tests_unit_test_slot_CFLAGS = $(unit_cflags)
tests_unit_test_session_threads_CFLAGS = $(unit_cflags)
tests_unit_test_slot_LDADD = $(unit_libs)
tests_unit_test_session_threads_LDADD = $(unit_libs)
tests_unit_test_segments_CFLAGS = $(unit_cflags)
tests_unit_test_segments_LDADD = $(unit_libs)
tests_unit_test_runtime_code_CFLAGS = $(unit_cflags)
tests_unit_test_runtime_code_LDADD = $(unit_libs)
tests_unit_test_pages_stay_CFLAGS = $(unit_cflags)
tests_unit_test_pages_stay_LDADD = $(unit_libs)
tests_unit_test_session_pages_CFLAGS = $(unit_cflags)
tests_unit_test_session_pages_LDADD = $(unit_libs)
tests_unit_test_session_trial_CFLAGS = $(unit_cflags)
tests_unit_test_session_trial_LDADD = $(unit_libs)
tests_unit_test_session_CFLAGS = $(unit_cflags)
tests_unit_test_session_LDADD = $(unit_libs)
tests_unit_test_situation_CFLAGS = $(unit_cflags)
tests_unit_test_situation_LDADD = $(unit_libs)
tests_unit_test_snapshot_CFLAGS = $(unit_cflags)
tests_unit_test_snapshot_LDADD = $(unit_libs)
tests_unit_test_neighbours_CFLAGS = $(unit_cflags)
tests_unit_test_neighbours_LDADD = $(unit_libs)
tests_unit_test_share_CFLAGS = $(unit_cflags)
tests_unit_test_share_LDADD = $(unit_libs)
tests_unit_test_team_CFLAGS = $(unit_cflags)
tests_unit_test_team_LDADD = $(unit_libs)
tests_unit_test_threads_CFLAGS = $(unit_cflags)
tests_unit_test_threads_LDADD = $(unit_libs)
tests_unit_test_rates_CFLAGS = $(unit_cflags)
tests_unit_test_rates_LDADD = $(unit_libs)
tests_unit_test_throttle_CFLAGS = $(unit_cflags)
tests_unit_test_throttle_LDADD = $(unit_libs)
tests_unit_test_trial_CFLAGS = $(unit_cflags)
tests_unit_test_trial_LDADD = $(unit_libs)
tests_unit_test_told_CFLAGS = $(unit_cflags)
tests_unit_test_told_LDADD = $(unit_libs)
tests_unit_test_topo_CFLAGS = $(unit_cflags)
tests_unit_test_topo_LDADD = $(unit_libs)
tests_unit_test_memory_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free

# As a program has it: the shared library with its public calls alone
check_PROGRAMS += tests/unit/test_api tests/unit/test_api_report
TESTS += tests/unit/test_api tests/unit/test_api_report
tests_unit_test_api_SOURCES = tests/unit/test_api.c tests/unit/api.c tests/unit/api.h
tests_unit_test_api_report_SOURCES = tests/unit/test_api_report.c tests/unit/api.c tests/unit/api.h
tests_unit_test_api_report_CFLAGS = $(unit_cflags) $(JANSSON_CFLAGS)
tests_unit_test_api_report_LDADD = libnsched.la $(JANSSON_LIBS) $(CHECK_LIBS) -lpthread
tests_unit_test_api_CFLAGS = $(unit_cflags) $(JANSSON_CFLAGS)
tests_unit_test_api_LDADD = libnsched.la $(JANSSON_LIBS) $(CHECK_LIBS) -lpthread
endif

# The same from C++
check_PROGRAMS += tests/unit/test_cplusplus
TESTS += tests/unit/test_cplusplus
tests_unit_test_cplusplus_SOURCES = tests/unit/test_cplusplus.cc
tests_unit_test_cplusplus_CPPFLAGS = -I$(top_srcdir)/include
tests_unit_test_cplusplus_CXXFLAGS = $(AM_CXXFLAGS) -std=c++11 -Wall -Wextra -Wshadow -pedantic
tests_unit_test_cplusplus_LDADD = libnsched.la -lpthread
