include examples/omp.mk

# The C API's, as a part of the build: the strict warnings are for it too
noinst_PROGRAMS += examples/capi
examples_capi_SOURCES = examples/capi.c examples/support.c examples/support.h
examples_capi_LDADD = libnsched.la -lpthread -lm
TESTS += tests/unit/capi
EXTRA_DIST += tests/unit/capi
