# Fuzzing with libFuzzer, where clang has it; by hand: make fuzz-NAME [FUZZ_SECONDS=60], or make fuzz
# for all. What it begins with is tests/fuzz/corpus/NAME; what it finds goes to fuzz-corpus/NAME of the build. A file that broke
# something belongs into the former. `make check` plays the corpora with a small changer of bytes in libFuzzer's place.
fuzz_targets = workload machine snapshot record config proc ring operand board api
EXTRA_DIST += tests/fuzz/fuzz_record.c tests/fuzz/corpus tests/fuzz/corpora tests/fuzz/hwloc.supp
FUZZ_SECONDS = 60

fuzz_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/sim -I$(top_srcdir)/replay
check_PROGRAMS += tests/fuzz/fuzz_workload tests/fuzz/fuzz_machine tests/fuzz/fuzz_snapshot
tests_fuzz_fuzz_workload_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz.h tests/fuzz/fuzz_workload.c
tests_fuzz_fuzz_workload_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_workload_LDADD = libnsched_sim.la
tests_fuzz_fuzz_machine_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_machine.c
tests_fuzz_fuzz_machine_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_machine_LDADD = libnsched_sim.la
tests_fuzz_fuzz_snapshot_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_snapshot.c
tests_fuzz_fuzz_snapshot_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_snapshot_LDADD = libnsched_core.la
check_PROGRAMS += tests/fuzz/fuzz_config tests/fuzz/fuzz_proc tests/fuzz/fuzz_ring tests/fuzz/fuzz_operand tests/fuzz/fuzz_board tests/fuzz/fuzz_api
tests_fuzz_fuzz_config_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_config.c
tests_fuzz_fuzz_config_LDADD = libnsched_core.la
tests_fuzz_fuzz_proc_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_proc.c
tests_fuzz_fuzz_proc_LDADD = libnsched_core.la
tests_fuzz_fuzz_ring_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_ring.c
tests_fuzz_fuzz_ring_LDADD = libnsched_core.la
tests_fuzz_fuzz_operand_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_operand.c
tests_fuzz_fuzz_operand_LDADD = libnsched_core.la
tests_fuzz_fuzz_board_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_board.c
tests_fuzz_fuzz_board_LDADD = libnsched_core.la
tests_fuzz_fuzz_api_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_api.c tests/stubs/two_nodes.c
tests_fuzz_fuzz_api_CFLAGS = $(AM_CFLAGS)
tests_fuzz_fuzz_api_LDADD = libnsched_core.la -ldl
if HAVE_ZSTD
check_PROGRAMS += tests/fuzz/fuzz_record
tests_fuzz_fuzz_record_SOURCES = tests/fuzz/fuzz_main.c tests/fuzz/fuzz_record.c
tests_fuzz_fuzz_record_CPPFLAGS = $(fuzz_cppflags)
tests_fuzz_fuzz_record_LDADD = libnsched_replay.la
endif
TESTS += tests/fuzz/corpora

# All of the core, since libFuzzer wants to see what it runs through; a minute to build
fuzz_sources = $(addprefix $(top_srcdir)/,$(filter %.c,$(core_pure) $(core_sys) $(core_root) $(libnsched_board_la_SOURCES) $(libnsched_config_la_SOURCES) \
	$(libnsched_sim_la_SOURCES) $(libnsched_replay_la_SOURCES)))
fuzz_flags = -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -std=gnu11 $(DEFS) -D_GNU_SOURCE= -I$(top_srcdir)/include \
	-I$(top_srcdir) -I$(top_srcdir)/libnsched -I$(top_srcdir)/sim -I$(top_srcdir)/replay -I. $(HWLOC_CFLAGS) $(CAPSTONE_CFLAGS) $(JANSSON_CFLAGS) $(papi_cppflags) \
	$(zstd_cppflags) -DNSCHED_WORKLOADS=\"$(pkgdatadir)/workloads\"
CLEANFILES += $(addprefix tests/fuzz/fuzz-,$(fuzz_targets))
.PHONY: fuzz $(addprefix fuzz-,$(fuzz_targets))
$(addprefix tests/fuzz/fuzz-,$(fuzz_targets)): tests/fuzz/fuzz-%: tests/fuzz/fuzz_%.c tests/fuzz/libfuzz.a
	clang $(fuzz_flags) $< $(if $(filter api,$*),$(top_srcdir)/tests/stubs/two_nodes.c) tests/fuzz/libfuzz.a $(HWLOC_LIBS) $(CAPSTONE_LIBS) $(JANSSON_LIBS) $(ZSTD_LIBS) -lpthread -ldl -lm -o $@
fuzz_headers = $(wildcard $(addprefix $(top_srcdir)/,$(addsuffix /*.h,libnsched libnsched/pure libnsched/sys sim replay)) $(top_srcdir)/*/*.def $(top_srcdir)/libnsched/*/*.def)
tests/fuzz/libfuzz.a: $(fuzz_sources) $(fuzz_headers)
	@$(MKDIR_P) tests/fuzz/objects
	test -z "$(filter $(fuzz_headers),$?)" || rm -f tests/fuzz/objects/*.o
	cd tests/fuzz/objects && echo $(abspath $(sort $(fuzz_sources))) | tr ' ' '\n' | xargs -P 2 -n 1 sh -c 'o=$$(echo "$$1" | tr / _).o; test "$$o" -nt "$$1" || \
		clang $(subst -I$(top_srcdir),-I$(abs_top_srcdir),$(subst -fsanitize=fuzzer,-fsanitize=fuzzer-no-link,$(subst -I. ,-I$(abs_top_builddir) ,$(fuzz_flags)))) \
		-c "$$1" -o "$$o"' sh
	rm -f $@
	ar rcs $@ tests/fuzz/objects/*.o
MOSTLYCLEANFILES += tests/fuzz/libfuzz.a
# All, with -k to the end; with results as automake's tests leave them, for quickstart. `fuzz-can` tells whether there is a libFuzzer.
fuzz: $(addprefix fuzz-told-,$(fuzz_targets))
$(addprefix fuzz-told-,$(fuzz_targets)): fuzz-told-%: tests/fuzz/fuzz-%
	@log=tests/fuzz/fuzz-$*.log; result=PASS; $(MAKE) --no-print-directory fuzz-$* >$$log 2>&1 || result=FAIL; \
	test $$result = PASS || tail -n 30 $$log; \
	echo "$$result: tests/fuzz/fuzz-$*: $$(tail -n 1 $$log)"; echo ":test-result: $$result" >tests/fuzz/fuzz-$*.trs; test $$result = PASS
.PHONY: $(addprefix fuzz-told-,$(fuzz_targets))
fuzz-can:
	@echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | clang -fsanitize=fuzzer -x c - -o tests/fuzz/can && rm -f tests/fuzz/can
.PHONY: fuzz-can
$(addprefix fuzz-,$(fuzz_targets)): fuzz-%: tests/fuzz/fuzz-%
	@$(MKDIR_P) fuzz-corpus/$*
	tests/fuzz/fuzz-$* -max_total_time=$(FUZZ_SECONDS) -timeout=20 -rss_limit_mb=2500 -max_len=65536 fuzz-corpus/$* $(srcdir)/tests/fuzz/corpus/$* \
		$(if $(filter workload,$*),$(srcdir)/sim/workloads) $(if $(filter snapshot,$*),$(srcdir)/tests/fixtures)
