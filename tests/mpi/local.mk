# The MPI plugins in real jobs of both families, held against an auditor. Programs are built by the families'
# own compilers, as a user's are.
if HAVE_CHECK
check_PROGRAMS += tests/unit/test_mpi_matrix
TESTS += tests/unit/test_mpi_matrix
tests_unit_test_mpi_matrix_SOURCES = tests/unit/test_mpi_matrix.c mpi_plugin/mpi_handles.c mpi_plugin/mpi_matrix.c mpi_plugin/mpi_pattern.c
tests_unit_test_mpi_matrix_CPPFLAGS = -I$(top_srcdir) -I$(top_srcdir)/include
tests_unit_test_mpi_matrix_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
tests_unit_test_mpi_matrix_LDADD = $(CHECK_LIBS) -lpthread
endif

mpi_tests = tests/mpi/load.sh tests/mpi/count-openmpi tests/mpi/count-mpich tests/mpi/ends-openmpi tests/mpi/ends-mpich
mpi_sources = tests/mpi/calls.c tests/mpi/calls_all.c tests/mpi/calls.h tests/mpi/threads.c tests/mpi/life.c
EXTRA_DIST += $(mpi_tests) $(mpi_sources) tests/mpi/mpi.sh tests/mpi/count.sh tests/mpi/ends.sh tests/mpi/rank \
	tests/mpi/audit.c tests/mpi/audit_read.c tests/mpi/bindings.F90 tests/mpi/objects.py
if !SANITIZED
TESTS += $(mpi_tests)
check_PROGRAMS += tests/mpi/audit_read
check_LTLIBRARIES += tests/mpi/audit.la
if HAVE_OPENMPI
check_SCRIPTS += $(openmpi_programs)
endif
if HAVE_MPICH
check_SCRIPTS += $(mpich_programs)
endif
endif
tests_mpi_audit_la_SOURCES = tests/mpi/audit.c
tests_mpi_audit_la_CFLAGS = $(AM_CFLAGS) -fvisibility=default # the linker looks for its functions
tests_mpi_audit_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

# The plugins once more, looking at a machine made of files
if HAVE_OPENMPI
check_LTLIBRARIES += tests/mpi/on_files_ompi.la
endif
if HAVE_MPICH
check_LTLIBRARIES += tests/mpi/on_files_mpich.la
endif
tests_mpi_on_files_ompi_la_SOURCES = $(libnsched_mpi_ompi_la_SOURCES)
tests_mpi_on_files_ompi_la_CPPFLAGS = $(libnsched_mpi_ompi_la_CPPFLAGS) -DPRELOAD_ROOT='"root"'
tests_mpi_on_files_ompi_la_CFLAGS = $(mpi_cflags)
tests_mpi_on_files_ompi_la_LDFLAGS = $(mpi_ldflags) -rpath /nowhere
tests_mpi_on_files_mpich_la_SOURCES = $(libnsched_mpi_mpich_la_SOURCES)
tests_mpi_on_files_mpich_la_CPPFLAGS = $(libnsched_mpi_mpich_la_CPPFLAGS) -DPRELOAD_ROOT='"root"'
tests_mpi_on_files_mpich_la_CFLAGS = $(mpi_cflags)
tests_mpi_on_files_mpich_la_LDFLAGS = $(mpi_ldflags) -rpath /nowhere

openmpi_programs = tests/mpi/calls-ompi tests/mpi/threads-ompi tests/mpi/life-ompi
mpich_programs = tests/mpi/calls-mpich tests/mpi/threads-mpich tests/mpi/life-mpich
if HAVE_OPENMPI_FORTRAN
openmpi_programs += tests/mpi/bindings1-ompi tests/mpi/bindings2-ompi tests/mpi/bindings3-ompi
endif
if HAVE_MPICH_FORTRAN
mpich_programs += tests/mpi/bindings1-mpich tests/mpi/bindings2-mpich tests/mpi/bindings3-mpich
endif
MOSTLYCLEANFILES += $(openmpi_programs) $(mpich_programs)

# (MPI_STATUSES_IGNORE and the like look like empty arrays to gcc.)
MPI_CFLAGS = -O1 -g -w -pthread
mpi_v = $(AM_V_at)echo "  MPICC   $@";
mpi_folder = $(AM_V_at)$(MKDIR_P) tests/mpi

# The compilers of the family that a program's name ends in
mpi_cc = `case $@ in *-ompi) echo '$(OPENMPI_CC)' ;; *) echo '$(MPICH_CC)' ;; esac`
mpi_fc = `case $@ in *-ompi) echo '$(OPENMPI_FC)' ;; *) echo '$(MPICH_FC)' ;; esac`

tests/mpi/calls-ompi tests/mpi/calls-mpich: tests/mpi/calls.c tests/mpi/calls_all.c tests/mpi/calls.h
	$(mpi_folder)
	$(mpi_v) $(mpi_cc) $(MPI_CFLAGS) $(srcdir)/tests/mpi/calls.c $(srcdir)/tests/mpi/calls_all.c -o $@
tests/mpi/threads-ompi tests/mpi/threads-mpich: tests/mpi/threads.c
	$(mpi_folder)
	$(mpi_v) $(mpi_cc) $(MPI_CFLAGS) $(srcdir)/tests/mpi/threads.c -o $@
tests/mpi/life-ompi tests/mpi/life-mpich: tests/mpi/life.c
	$(mpi_folder)
	$(mpi_v) $(mpi_cc) $(MPI_CFLAGS) $(srcdir)/tests/mpi/life.c -o $@
tests/mpi/bindings1-ompi tests/mpi/bindings2-ompi tests/mpi/bindings3-ompi \
tests/mpi/bindings1-mpich tests/mpi/bindings2-mpich tests/mpi/bindings3-mpich: tests/mpi/bindings.F90
	$(mpi_folder)
	$(mpi_v) $(mpi_fc) -w -DBINDING=`echo $@ | tr -dc 0-9` $(srcdir)/tests/mpi/bindings.F90 -o $@

# Debian's own MPI programs.
EXTRA_DIST += tests/mpi/clients.sh
check-clients: all tests/mpi/audit.la tests/mpi/audit_read
	@srcdir=$(srcdir) $(srcdir)/tests/mpi/clients.sh || test $$? = 77
.PHONY: check-clients
