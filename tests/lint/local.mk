# What holds documents, layers, header and scripts to their rules.
check_PROGRAMS += tests/lint/options_table
tests_lint_options_table_SOURCES = tests/lint/options_table.c tools/options_text.c tools/options_text.h
tests_lint_options_table_LDADD = libnsched_config.la

lints = tests/lint/options-docs tests/lint/layers tests/lint/layers-selftest tests/lint/header tests/lint/exports \
	tests/lint/scripts
EXTRA_DIST += $(lints) tests/lint/layers.awk tests/lint/pure.allowed
if !SANITIZED
TESTS += $(lints)
endif

# After a change of options.def: the tables in README.md and in the manual.
.PHONY: option-tables
option-tables: tests/lint/options_table
	srcdir=$(srcdir) $(srcdir)/tests/lint/options-docs --write
