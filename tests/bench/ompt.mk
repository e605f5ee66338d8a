# What a parallel region costs under the plugin. `make bench-ompt`; part of `make bench`.
EXTRA_LTLIBRARIES += tests/bench/ompt_empty_tool.la
tests_bench_ompt_empty_tool_la_SOURCES = tests/bench/ompt_empty_tool.c
tests_bench_ompt_empty_tool_la_CPPFLAGS = -I$(top_srcdir)/ompt_plugin
tests_bench_ompt_empty_tool_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# The core as it is, but that it finds two nodes in files (below the folder it is started in), so that it is at work
# on a machine of one. The real plugin is put beside a copy of it.
EXTRA_LTLIBRARIES += tests/bench/core_on_files.la
tests_bench_core_on_files_la_SOURCES = $(core_pure) $(core_sys) $(core_root)
tests_bench_core_on_files_la_CPPFLAGS = $(AM_CPPFLAGS) -DPROCESS_ROOT='"root"'
tests_bench_core_on_files_la_CFLAGS = $(libnsched_core_la_CFLAGS)
tests_bench_core_on_files_la_LIBADD = $(libnsched_core_la_LIBADD)
tests_bench_core_on_files_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere -Wl,-z,nodelete -Wl,-z,defs \
	-Wl,--version-script=$(top_srcdir)/libnsched/libnsched.map

EXTRA_DIST += tests/bench/ompt_empty.c tests/bench/ompt_empty.sh
MOSTLYCLEANFILES += tests/bench/ompt_empty
tests/bench/ompt_empty: tests/bench/ompt_empty.c
	$(AM_V_at)$(MKDIR_P) tests/bench
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) $(srcdir)/tests/bench/ompt_empty.c -o $@

if HAVE_LIBOMP
bench-ompt: tests/bench/ompt_empty tests/bench/ompt_empty_tool.la tests/plugin/fake_ompt.la \
		tests/bench/core_on_files.la libnsched_ompt.la
	@srcdir=$(srcdir) $(srcdir)/tests/bench/ompt_empty.sh
else
bench-ompt:
	@echo 'SKIP: ompt_empty (no LLVM OpenMP runtime)'
endif
.PHONY: bench-ompt
