# For the benchmarks of what nsched costs a program: $build, $source, a folder $work that goes away at the end, $cpus, and $preload,
# which gives a machine with one node a second one that is made up. To be sourced by a script that `make` runs.
# shellcheck shell=sh disable=SC2034
build=$PWD source=${srcdir:-.}
work=$(mktemp -d "${TMPDIR:-/tmp}/nsched-bench.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
[ -e "$source/include/nsched.h" ] || { echo "run it in the build folder, as make does"; exit 99; }
cpus=$(nproc)
[ "$cpus" -ge 2 ] || { echo "skipped: one CPU can't be made two nodes"; exit 77; }
preload=
if [ "$(cat /sys/devices/system/node/online)" = 0 ]; then
	preload=$build/tests/stubs/.libs/two_nodes.so
	export HWLOC_SYNTHETIC="node:2 core:$((cpus / 2)) pu:1" HWLOC_THISSYSTEM=1
fi
