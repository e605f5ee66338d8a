# What `nsched run` preloads. It may need nothing but libc; tests/tools/preload.sh holds it to that.
lib_LTLIBRARIES += libnsched_preload.la
libnsched_preload_la_SOURCES = preload/preload.c libnsched/sys/nodes.c libnsched/sys/nodes.h
libnsched_preload_la_LDFLAGS = -module -avoid-version -shared -Wl,-z,nodelete
