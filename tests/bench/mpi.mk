# What wrapped MPI calls cost. `make bench-mpi`; part of `make bench`.
EXTRA_DIST += tests/bench/mpi_calls.c tests/bench/mpi.sh
MOSTLYCLEANFILES += tests/bench/mpi_calls-ompi tests/bench/mpi_calls-mpich
tests/bench/mpi_calls-ompi: tests/bench/mpi_calls.c
	$(AM_V_at)$(MKDIR_P) tests/bench
	$(mpi_v) $(OPENMPI_CC) -O2 -w $(srcdir)/tests/bench/mpi_calls.c -o $@
tests/bench/mpi_calls-mpich: tests/bench/mpi_calls.c
	$(AM_V_at)$(MKDIR_P) tests/bench
	$(mpi_v) $(MPICH_CC) -O2 -w $(srcdir)/tests/bench/mpi_calls.c -o $@

mpi_bench =
if HAVE_OPENMPI
mpi_bench += tests/bench/mpi_calls-ompi tests/mpi/on_files_ompi.la
endif
if HAVE_MPICH
mpi_bench += tests/bench/mpi_calls-mpich tests/mpi/on_files_mpich.la
endif
bench-mpi: all $(mpi_bench)
	@srcdir=$(srcdir) $(srcdir)/tests/bench/mpi.sh
.PHONY: bench-mpi
