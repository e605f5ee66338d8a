# What holds documents and layers to the code.
check_PROGRAMS += tests/lint/options_table
tests_lint_options_table_SOURCES = tests/lint/options_table.c tools/options_text.c tools/options_text.h
tests_lint_options_table_LDADD = libnsched_config.la
TESTS += tests/lint/options-docs
EXTRA_DIST += tests/lint/options-docs

# After a change of options.def: the tables in README.md and in the manual.
.PHONY: option-tables
option-tables: tests/lint/options_table
	srcdir=$(srcdir) $(srcdir)/tests/lint/options-docs --write
