# The sources of evidence and what they are made of; part of libnsched (libnsched/local.mk). They need
# $(CAPSTONE_CFLAGS), and load Capstone when they decode the first instruction; nothing else.
SOURCES_FILES = \
  libnsched/sys/source.h libnsched/sys/source.c \
  $(OPERAND_FILES) \
  libnsched/sys/ring.h libnsched/sys/ring.c \
  libnsched/sys/pick.h libnsched/sys/pick.c libnsched/sys/perf_ring.h libnsched/sys/perf_ring.c \
  libnsched/sys/clock_sample.h libnsched/sys/clock_sample.c \
  libnsched/sys/runtime_code.h libnsched/sys/runtime_code.c \
  libnsched/sys/mem_sample.h libnsched/sys/mem_sample.c libnsched/sys/mem_spe.c \
  libnsched/pure/pmu_words.h libnsched/pure/pmu_words.c libnsched/sys/pmu.h libnsched/sys/pmu.c \
  libnsched/sys/mem_pmu.h libnsched/sys/mem_pmu.c libnsched/sys/source_mem.c \
  libnsched/sys/source_clock_perf.c \
  libnsched/sys/cpu_timer.h libnsched/sys/cpu_timer.c libnsched/sys/source_clock_timer.c \
  libnsched/sys/source_faults.c

# The operand decoder alone: the tests build it for other architectures too.
OPERAND_FILES = \
  libnsched/sys/regs.h \
  libnsched/sys/operand.h libnsched/sys/operand.c \
  libnsched/sys/operand_code.h libnsched/sys/operand_code.c \
  libnsched/sys/operand_capstone.h libnsched/sys/operand_capstone.c \
  libnsched/sys/operand_form.h libnsched/sys/operand_form.c \
  libnsched/sys/operand_insn.h libnsched/sys/operand_x86.h \
  libnsched/sys/operand_x86.c libnsched/sys/operand_x86_effect.c \
  libnsched/sys/operand_x86_vex.c libnsched/sys/operand_x86_outline.c \
  libnsched/sys/operand_arm64.h libnsched/sys/operand_arm64.c libnsched/sys/operand_arm64_effect.c libnsched/sys/operand_arm64_newer.c \
  libnsched/sys/operand_recipe.h libnsched/sys/operand_recipe.c \
  libnsched/sys/operand_state.h libnsched/sys/operand_state.c \
  libnsched/sys/operand_trace.h libnsched/sys/operand_trace.c \
  libnsched/sys/operand_path.h libnsched/sys/operand_path.c \
  libnsched/sys/operand_use.h libnsched/sys/operand_use.c \
  libnsched/sys/operand_range.h libnsched/sys/operand_range.c \
  libnsched/sys/operand_cache.h libnsched/sys/operand_cache.c
