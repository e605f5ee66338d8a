# The sources of evidence under test: their unit tests, and the operand decoder against known loops.
# They are built from the sources of evidence alone, not from libnsched.
operand_cppflags = $(AM_CPPFLAGS) $(CAPSTONE_CFLAGS)

check_LIBRARIES += tests/operand/libsources.a tests/operand/libchecker.a
tests_operand_libsources_a_SOURCES = $(SOURCES_FILES) libnsched/sys/files.c libnsched/sys/files.h libnsched/sys/room.c libnsched/sys/room.h
tests_operand_libsources_a_CPPFLAGS = $(operand_cppflags)

# tests/operand/fast and table link it with kernels.c, built by each compiler at each level.
tests_operand_libchecker_a_SOURCES = $(SOURCES_FILES) libnsched/sys/files.c libnsched/sys/files.h libnsched/sys/room.c libnsched/sys/room.h tests/operand/kernels.h tests/operand/check.h \
  tests/operand/arrays.c tests/operand/check.c tests/operand/check_sample.c tests/operand/check_step.c
tests_operand_libchecker_a_CPPFLAGS = $(operand_cppflags)

# Those that read the corpus: a decoder for each architecture, whatever this machine is.
corpus_programs = tests/operand/corpus_x86 tests/operand/corpus_arm64
check_PROGRAMS += $(corpus_programs)
corpus_sources = $(OPERAND_FILES) libnsched/sys/room.c libnsched/sys/room.h tests/operand/corpus_read.c tests/operand/corpus.h tests/operand/check.h tests/operand/arrays.c \
  tests/operand/kernels.c tests/operand/kernels.h
tests_operand_corpus_x86_SOURCES = $(corpus_sources)
tests_operand_corpus_x86_CPPFLAGS = $(operand_cppflags) -DNSCHED_REGS_X86
tests_operand_corpus_x86_LDADD = $(CAPSTONE_LIBS) -lm
tests_operand_corpus_arm64_SOURCES = $(corpus_sources)
tests_operand_corpus_arm64_CPPFLAGS = $(operand_cppflags) -DNSCHED_REGS_ARM64
tests_operand_corpus_arm64_LDADD = $(CAPSTONE_LIBS) -lm
TESTS += tests/operand/corpus
EXTRA_DIST += tests/operand/corpus tests/operand/corpus.xz tests/operand/record tests/operand/target.c docs/operands-corpus.md

EXTRA_DIST += docs/operands.md tests/operand/kernels.c tests/operand/builds.sh tests/operand/fast tests/operand/table \
  tests/operand/table.awk
TESTS += tests/operand/fast

if HAVE_CHECK
operand_tests = tests/unit/test_operand tests/unit/test_operand_cache tests/unit/test_outline \
  tests/unit/test_ring tests/unit/test_source
check_PROGRAMS += $(operand_tests)
TESTS += $(operand_tests)
operand_test_libs = tests/operand/libsources.a $(CAPSTONE_LIBS) $(CHECK_LIBS) -lpthread -ldl

tests_unit_test_operand_SOURCES = tests/unit/test_operand.c
tests_unit_test_operand_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(CAPSTONE_CFLAGS)
tests_unit_test_operand_LDADD = $(operand_test_libs)
tests_unit_test_operand_cache_SOURCES = tests/unit/test_operand_cache.c
tests_unit_test_operand_cache_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(CAPSTONE_CFLAGS)
tests_unit_test_operand_cache_LDADD = $(operand_test_libs)
tests_unit_test_outline_SOURCES = tests/unit/test_outline.c
tests_unit_test_outline_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(CAPSTONE_CFLAGS)
tests_unit_test_outline_LDADD = $(operand_test_libs)
tests_unit_test_ring_SOURCES = tests/unit/test_ring.c
tests_unit_test_ring_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(CAPSTONE_CFLAGS)
tests_unit_test_ring_LDADD = $(operand_test_libs)
tests_unit_test_source_SOURCES = tests/unit/test_source.c
tests_unit_test_source_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(CAPSTONE_CFLAGS)
tests_unit_test_source_LDADD = $(operand_test_libs)
endif
