# What a parallel region costs under the plugin. `make bench-ompt`; part of `make bench`.
EXTRA_LTLIBRARIES += tests/bench/ompt_empty_tool.la
tests_bench_ompt_empty_tool_la_SOURCES = tests/bench/ompt_empty_tool.c
tests_bench_ompt_empty_tool_la_CPPFLAGS = -I$(top_srcdir)/ompt_plugin
tests_bench_ompt_empty_tool_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

EXTRA_DIST += tests/bench/ompt_empty.c tests/bench/ompt_empty.sh
MOSTLYCLEANFILES += tests/bench/ompt_empty
tests/bench/ompt_empty: tests/bench/ompt_empty.c
	$(AM_V_at)$(MKDIR_P) tests/bench
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) $(srcdir)/tests/bench/ompt_empty.c -o $@

if HAVE_LIBOMP
bench-ompt: tests/bench/ompt_empty tests/bench/ompt_empty_tool.la tests/plugin/fake_ompt.la
	@srcdir=$(srcdir) $(srcdir)/tests/bench/ompt_empty.sh
else
bench-ompt:
	@echo 'SKIP: ompt_empty (no LLVM OpenMP runtime)'
endif
.PHONY: bench-ompt
