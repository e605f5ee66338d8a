# The launcher and the preloaded start, with fakes for the libraries that they load.
check_PROGRAMS += tests/tools/victim
tests_tools_victim_SOURCES = tests/tools/victim.c
tests_tools_victim_LDADD = -lpthread -ldl

check_PROGRAMS += tests/tools/refuse
tests_tools_refuse_SOURCES = tests/tools/refuse.c

check_LTLIBRARIES += tests/tools/fake_core.la tests/tools/preload_on_files.la
fake_ldflags = -module -avoid-version -shared -rpath /nowhere
tests_tools_fake_core_la_SOURCES = tests/tools/fake_core.c
tests_tools_fake_core_la_LDFLAGS = $(fake_ldflags)
tests_tools_preload_on_files_la_SOURCES = $(libnsched_preload_la_SOURCES)
tests_tools_preload_on_files_la_CPPFLAGS = $(AM_CPPFLAGS) -DPRELOAD_ROOT='"root"'
tests_tools_preload_on_files_la_LDFLAGS = $(fake_ldflags)

EXTRA_DIST += tests/tools/doctor.sh tests/tools/harness.sh tests/tools/preload.sh tests/tools/run.sh tests/tools/ranks.sh tests/tools/report.sh tests/tools/install.sh tests/tools/sim.sh tests/tools/replay.sh
TESTS += tests/tools/sim.sh tests/tools/replay.sh
if !SANITIZED
TESTS += tests/tools/preload.sh tests/tools/doctor.sh tests/tools/run.sh tests/tools/ranks.sh tests/tools/report.sh tests/tools/install.sh
endif
