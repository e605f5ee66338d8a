# Fuzzing with libFuzzer, where clang has it; by hand: make fuzz-workload [FUZZ_SECONDS=60]
EXTRA_DIST += tests/fuzz/fuzz_workload.c tests/fuzz/fuzz_workload.h
FUZZ_SECONDS = 60
CLEANFILES += tests/fuzz/fuzz-workload
.PHONY: fuzz-workload
fuzz-workload:
	@mkdir -p tests/fuzz/corpus
	clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu11 $(DEFS) -D_GNU_SOURCE= -I$(top_srcdir)/include -I$(top_srcdir)/libnsched \
		-I$(top_srcdir)/sim -I. $(HWLOC_CFLAGS) $(srcdir)/tests/fuzz/fuzz_workload.c \
		$(addprefix $(srcdir)/sim/,parse.c parse_op.c number.c engine.c os.c program.c program_memory.c program_messages.c memory.c heap.c machine.c presets.c placed.c) \
		$(addprefix $(srcdir)/libnsched/,pure/snapshot_words.c pure/nearest.c pure/machine.c sys/topo.c sys/measured.c) \
		$(HWLOC_LIBS) -lm -o tests/fuzz/fuzz-workload
	tests/fuzz/fuzz-workload -max_total_time=$(FUZZ_SECONDS) -timeout=10 tests/fuzz/corpus $(srcdir)/sim/workloads
