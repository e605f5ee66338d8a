# The Fortran module, where there is a compiler: its interfaces as a module file, which is for this compiler only,
# its few functions as a small library, and its source for everybody else's compiler. Compilers write module files
# where they are started, each by options of its own elsewhere: so they are started there.
EXTRA_DIST += fortran/nsched.f90
fortrandir = $(includedir)/nsched
dist_fortran_DATA =
nodist_fortran_DATA =
if HAVE_FORTRAN
dist_fortran_DATA += fortran/nsched.f90
nodist_fortran_DATA += fortran/nsched.mod
fortranlibdir = $(libdir)
fortranlib_DATA = fortran/libnsched_fortran.a
pkgconfig_DATA += nsched-fortran.pc
CLEANFILES += fortran/nsched.o fortran/nsched.mod fortran/libnsched_fortran.a
noinst_DATA = $(fortranlib_DATA)

fortran_v = $(AM_V_at)echo "  FC      $@";
fortran/nsched.o: $(srcdir)/fortran/nsched.f90
	$(AM_V_at)$(MKDIR_P) fortran
	$(fortran_v) from=`cd $(srcdir) && pwd` && cd fortran && $(FC) $(FCFLAGS) -fPIC -c "$$from/fortran/nsched.f90" -o nsched.o
fortran/nsched.mod: fortran/nsched.o
	$(AM_V_at)test -e $@ && touch $@
fortran/libnsched_fortran.a: fortran/nsched.o
	$(AM_V_at)rm -f $@ && $(AR) cr $@ fortran/nsched.o && $(RANLIB) $@

# A program of the user's, with the user's flags, and a test that makes every call.
fortran_programs = examples/triad_fortran tests/unit/test_fortran
EXTRA_DIST += examples/triad_fortran.f90 tests/unit/test_fortran.f90
check_SCRIPTS += $(fortran_programs)
MOSTLYCLEANFILES += $(fortran_programs)
fortran_link = fortran/libnsched_fortran.a .libs/libnsched.so -Wl,-rpath,$(abs_builddir)/.libs
examples/triad_fortran: examples/triad_fortran.f90 fortran/nsched.mod fortran/libnsched_fortran.a libnsched.la
	$(AM_V_at)$(MKDIR_P) examples
	$(fortran_v) $(FC) $(FCFLAGS) -fopenmp -Ifortran $(srcdir)/examples/triad_fortran.f90 $(fortran_link) -o $@
tests/unit/test_fortran: tests/unit/test_fortran.f90 fortran/nsched.mod fortran/libnsched_fortran.a libnsched.la
	$(AM_V_at)$(MKDIR_P) tests/unit
	$(fortran_v) $(FC) $(FCFLAGS) -Ifortran $(srcdir)/tests/unit/test_fortran.f90 $(fortran_link) -o $@
if !SANITIZED
TESTS += tests/unit/test_fortran tests/unit/fortran
endif
endif
EXTRA_DIST += tests/unit/fortran
