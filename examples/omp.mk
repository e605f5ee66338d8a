# The OpenMP examples, twice: for LLVM's runtime, and as gcc builds them (examples/*-gcc), which is what
# LLVM's runtime must serve under gcc's name. Their compilers and flags are a user's, not this project's.
EXAMPLE_CFLAGS = -O2 -g -Wall -std=gnu11 -fopenmp
omp_examples_support = examples/support.c examples/support.h
EXTRA_DIST += examples/triad.c examples/stencil.c $(omp_examples_support)

gcc_examples = examples/triad-gcc examples/stencil-gcc
if HAVE_LIBOMP
llvm_examples = examples/triad examples/stencil
else
llvm_examples =
endif
omp_examples = $(llvm_examples) $(gcc_examples)
check_SCRIPTS += $(omp_examples)
MOSTLYCLEANFILES += examples/triad examples/stencil $(gcc_examples)

examples: $(omp_examples)
.PHONY: examples

example_v = $(AM_V_at)echo "  OMPCC   $@";
example_sources = $(srcdir)/examples/support.c -I$(srcdir)/examples -lm

examples/triad: examples/triad.c $(omp_examples_support)
	$(AM_V_at)$(MKDIR_P) examples
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) $(srcdir)/examples/triad.c $(example_sources) -o $@
examples/stencil: examples/stencil.c $(omp_examples_support)
	$(AM_V_at)$(MKDIR_P) examples
	$(example_v) $(OMP_CC) $(EXAMPLE_CFLAGS) $(srcdir)/examples/stencil.c $(example_sources) -o $@
examples/triad-gcc: examples/triad.c $(omp_examples_support)
	$(AM_V_at)$(MKDIR_P) examples
	$(example_v) $(CC) $(EXAMPLE_CFLAGS) $(srcdir)/examples/triad.c $(example_sources) -o $@
examples/stencil-gcc: examples/stencil.c $(omp_examples_support)
	$(AM_V_at)$(MKDIR_P) examples
	$(example_v) $(CC) $(EXAMPLE_CFLAGS) $(srcdir)/examples/stencil.c $(example_sources) -o $@
