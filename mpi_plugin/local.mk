# The MPI plugins: the same code, once for each family of MPI libraries. They need libc alone, and no MPI:
# tests/mpi/load.sh holds them to that. They are loaded with the program, so their thread variables lie where
# no call is needed to find them.
mpi_files = \
	mpi_plugin/mpi_calls.def mpi_plugin/mpi_data.def \
	mpi_plugin/mpi_charge.c mpi_plugin/mpi_charge.h \
	mpi_plugin/mpi_family.h \
	mpi_plugin/mpi_handles.c mpi_plugin/mpi_handles.h \
	mpi_plugin/mpi_library.c mpi_plugin/mpi_library.h \
	mpi_plugin/mpi_matrix.c mpi_plugin/mpi_matrix.h \
	mpi_plugin/mpi_next.c mpi_plugin/mpi_next.h \
	mpi_plugin/mpi_pattern.c mpi_plugin/mpi_pattern.h \
	mpi_plugin/mpi_peers.c mpi_plugin/mpi_peers.h \
	mpi_plugin/mpi_plugin.c mpi_plugin/mpi_plugin.h \
	mpi_plugin/mpi_record.c mpi_plugin/mpi_record.h \
	mpi_plugin/mpi_wrap.c
mpi_cppflags = -I$(top_srcdir) -I$(top_srcdir)/include -I$(top_srcdir)/libnsched
mpi_cflags = $(AM_CFLAGS) -ftls-model=initial-exec
mpi_ldflags = -module -avoid-version -shared -Wl,-z,nodelete -Wl,-z,defs

if HAVE_OPENMPI
lib_LTLIBRARIES += libnsched_mpi_ompi.la
endif
libnsched_mpi_ompi_la_SOURCES = $(mpi_files) $(preload_core)
libnsched_mpi_ompi_la_CPPFLAGS = $(mpi_cppflags) $(OPENMPI_CPPFLAGS)
libnsched_mpi_ompi_la_CFLAGS = $(mpi_cflags)
libnsched_mpi_ompi_la_LDFLAGS = $(mpi_ldflags)

if HAVE_MPICH
lib_LTLIBRARIES += libnsched_mpi_mpich.la
endif
libnsched_mpi_mpich_la_SOURCES = $(mpi_files) $(preload_core)
libnsched_mpi_mpich_la_CPPFLAGS = $(mpi_cppflags) $(MPICH_CPPFLAGS)
libnsched_mpi_mpich_la_CFLAGS = $(mpi_cflags)
libnsched_mpi_mpich_la_LDFLAGS = $(mpi_ldflags)
