# How the core is opened by libraries that may not need it: the preload and the MPI plugins.
preload_core = preload/core.c preload/core.h libnsched/sys/nodes.c libnsched/sys/nodes.h libnsched/sys/quiet.c libnsched/sys/quiet.h

# What `nsched run` preloads. It may need nothing but libc; tests/tools/preload.sh holds it to that.
lib_LTLIBRARIES += libnsched_preload.la
libnsched_preload_la_SOURCES = preload/preload.c preload/exec.c $(preload_core)
libnsched_preload_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,nodelete
