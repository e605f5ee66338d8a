# NSCHED_OPTIONAL(NAME, WHAT IT GIVES): --with-NAME / --without-NAME; unset means "if it is there"
AC_DEFUN([NSCHED_OPTIONAL], [
  AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1], [$2; --without-$1 leaves it out])], [], [with_$1=maybe])
  have_$1=no
])
# NSCHED_IF_WANTED(NAME, PROBE)
AC_DEFUN([NSCHED_IF_WANTED], [AS_IF([test "x$with_$1" != xno], [$2])])
AC_DEFUN([NSCHED_FOUND], [have_$1=yes])
# NSCHED_MISSING(NAME, PACKAGES): an error where it was asked for
AC_DEFUN([NSCHED_MISSING], [
  AS_IF([test "x$with_$1" = xyes], [AC_MSG_ERROR([--with-$1 was given, but $1 was not found ($2)])])
  have_$1=no
])

# NSCHED_PROBE_MPI(NAME, VARIABLES, MACRO OF ITS mpi.h, COMPILER WRAPPERS, PACKAGES): a wrapper whose mpi.h
# is of this family, as VARIABLES_CC, and where that header lies, as VARIABLES_CPPFLAGS: the plugin is built
# by the project's own compiler and linked with no MPI library. (One family's wrapper answers to -show, the
# other's to --showme; both print the command line, of which the folders of headers are taken.)
AC_DEFUN([NSCHED_PROBE_MPI], [
  AC_MSG_CHECKING([for $1])
  $2_CC= $2_CPPFLAGS=
  for wrapper in $4; do
    test -z "$$2_CC" || break
    flags=
    for word in $("$wrapper" -show 2>/dev/null); do
      AS_CASE([$word], [-I*], [flags="$flags -isystem ${word@%:@-I}"])
    done
    saved=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS $flags"
    AS_IF([test -n "$flags" || "$wrapper" -show >/dev/null 2>&1],
      [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#ifndef $3
#error another family
#endif]])], [$2_CC=$wrapper $2_CPPFLAGS=$flags])])
    CPPFLAGS=$saved
  done
  AS_IF([test -n "$$2_CC"], [NSCHED_FOUND([$1])], [])
  AC_MSG_RESULT([${$2_CC:-no}])
  AS_IF([test -n "$$2_CC"], [], [NSCHED_MISSING([$1], [$5])])
  AC_SUBST([$2_CC])
  AC_SUBST([$2_CPPFLAGS])

  # Its Fortran compiler, for the tests: mpifort.openmpi beside mpicc.openmpi
  $2_FC=
  AS_IF([test -n "$$2_CC"], [
    AC_CHECK_PROG([$2_FC], [mpifort${$2_CC@%:@mpicc}], [mpifort${$2_CC@%:@mpicc}])
    AS_IF([test -n "$$2_FC"], [
      printf 'program p\nuse mpi_f08\ncall MPI_Init()\nend\n' >conftest.f90
      "$$2_FC" -c conftest.f90 -o conftest.f90.o >/dev/null 2>&1 || $2_FC=
      rm -f conftest.f90 conftest.f90.o])])
  AC_SUBST([$2_FC])
])

# A compiler that builds OpenMP programs for LLVM's runtime: clang with -fopenmp
AC_DEFUN([NSCHED_PROBE_LIBOMP], [
  AC_CHECK_PROGS([OMP_CC], [clang clang-19 clang-16 clang-15 clang-14])
  AS_IF([test -n "$OMP_CC" && echo 'int omp_get_max_threads(void); int main(void){return omp_get_max_threads() < 1;}' >conftest.c &&
         "$OMP_CC" -fopenmp=libomp conftest.c -o conftest.omp >/dev/null 2>&1 && OMP_TOOL=disabled ./conftest.omp],
    [NSCHED_FOUND([libomp])],
    [OMP_CC=; NSCHED_MISSING([libomp], [Debian: clang libomp-dev])])
  rm -f conftest.c conftest.omp
  AC_SUBST([OMP_CC])
])

# A Fortran compiler that knows C: its module file is for itself only
AC_DEFUN([NSCHED_PROBE_FORTRAN], [
  AC_ARG_VAR([FC], [the Fortran compiler])
  AC_ARG_VAR([FCFLAGS], [its flags])
  AC_CHECK_PROGS([FC], [gfortran flang-new flang ifx ifort nagfor])
  : ${FCFLAGS="-g -O2"}
  cat >conftest.f90 <<NSCHED_END
program conftest
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_size_t
  implicit none
  integer(c_int) :: zero
  zero = 0
  if (zero /= 0) stop 1
end program
NSCHED_END
  AS_IF([test -n "$FC" && "$FC" $FCFLAGS conftest.f90 -o conftest.fortran >/dev/null 2>&1 && ./conftest.fortran],
    [NSCHED_FOUND([fortran])],
    [FC=; NSCHED_MISSING([fortran], [Debian: gfortran])])
  rm -f conftest.f90 conftest.fortran conftest.o
  AC_SUBST([FC])
  AC_SUBST([FCFLAGS])
])

# The strict warnings, each only where the compiler knows it
AC_DEFUN([AX_NSCHED_WARNINGS], [
  WARN_CFLAGS=
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors (developers and CI)])], [], [enable_werror=no])
  for flag in -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith \
              -Wcast-align -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wunused-result -Wswitch-enum -Wimplicit-fallthrough \
              -Wnull-dereference -Wduplicated-cond -Wlogical-op -Wno-missing-field-initializers; do
    saved=$CFLAGS
    CFLAGS="$CFLAGS -Werror $flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], [WARN_CFLAGS="$WARN_CFLAGS $flag"])
    CFLAGS=$saved
  done
  AS_IF([test "$enable_werror" = yes], [WARN_CFLAGS="$WARN_CFLAGS -Werror"])
  AC_SUBST([WARN_CFLAGS])
])
