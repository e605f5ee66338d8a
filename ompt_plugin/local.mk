# The OpenMP tool. Its objects are a library of their own, so that tests can put another libnsched behind it.
noinst_LTLIBRARIES += libompt.la
libompt_la_SOURCES = \
	ompt_plugin/ompt_chain.c ompt_plugin/ompt_chain.h \
	ompt_plugin/ompt_events.c ompt_plugin/ompt_events.h \
	ompt_plugin/ompt_region.c ompt_plugin/ompt_region.h \
	ompt_plugin/ompt_runtime.c ompt_plugin/ompt_runtime.h \
	ompt_plugin/ompt_session.c ompt_plugin/ompt_session.h \
	ompt_plugin/ompt_tool.c ompt_plugin/ompt_types.h \
	libnsched/sys/quiet.c libnsched/sys/quiet.h
libompt_la_CPPFLAGS = -I$(top_srcdir)/include -I$(top_srcdir)/libnsched

# nodelete: the runtime closes its tool at the end, while late callbacks may still be on their way.
# $ORIGIN: the core lies beside the plugin, in whatever folder both have been moved to, and the OpenMP runtime
# says nothing of a tool that does not load.
# (-shared: a convenience library alone gives libtool no shared objects to choose.)
ompt_ldflags = -module -avoid-version -shared -Wl,-z,nodelete -Wl,-rpath,'$$ORIGIN' \
	-Wl,--version-script=$(top_srcdir)/ompt_plugin/libnsched_ompt.map
EXTRA_DIST += ompt_plugin/libnsched_ompt.map

lib_LTLIBRARIES += libnsched_ompt.la
libnsched_ompt_la_SOURCES =
libnsched_ompt_la_LIBADD = libompt.la $(nsched_library) -lpthread -ldl
libnsched_ompt_la_LDFLAGS = $(ompt_ldflags)
libnsched_ompt_la_DEPENDENCIES = libompt.la $(nsched_library) ompt_plugin/libnsched_ompt.map
