# The bench of README.md.
include tests/bench/programs/local.mk

bench_scripts = tests/bench/bench tests/bench/in-machine
bench_library = tests/bench/benchlib/__init__.py tests/bench/benchlib/boot.py tests/bench/benchlib/figures.py \
	tests/bench/benchlib/native.py tests/bench/benchlib/picture.py tests/bench/benchlib/plan.py tests/bench/benchlib/runner.py tests/bench/benchlib/show.py \
	tests/bench/benchlib/tables.py
EXTRA_DIST += $(bench_scripts) $(bench_library) tests/bench/README.md tests/bench/columns.toml tests/bench/rows.toml

# nsched beside what a user would pick instead: all rows (hours), or ROWS='numa02 perf-*' (minutes). BENCH='--fresh ...' are
# more options of tests/bench/bench; BENCH_WRAP in the environment is a command before each start of the machine.
bench: all $(bench_programs)
	set -f; $(srcdir)/tests/bench/bench $(BENCH) $(ROWS)
.PHONY: bench

EXTRA_DIST += tests/bench/startup tests/bench/selftest tests/bench/test_bench.py tests/bench/recorded
TESTS += tests/bench/selftest
