#!/bin/sh
# Two copies of the core in one process, as when an installed `nsched run` meets a plugin that was built elsewhere: one serves, the
# other steps back, and the report is of the one that serves.
. "${srcdir:-.}/tests/tools/harness.sh"
[ "$(nproc)" -ge 2 ] || { echo "skipped: one CPU can't be made two nodes"; exit 77; }
mkdir -p "$work/copy/tools" "$work/copy/.libs"
cp "$build/tools/nsched" "$work/copy/tools/"
cp -P "$build"/.libs/libnsched*.so* "$work/copy/.libs/"
if [ "$(cat /sys/devices/system/node/online)" = 0 ]; then
	export LD_PRELOAD="$build/tests/stubs/.libs/two_nodes.so" HWLOC_SYNTHETIC="node:2 core:$(($(nproc) / 2)) pu:1" HWLOC_THISSYSTEM=1
fi
export OMP_NUM_THREADS=2

# run NSCHED: the triad under it, for two seconds
run()
{
	rm -f "$work/report.json"
	timeout 60 "$1" run --report="$work/report.json" --option dry_run=1 "$build/examples/triad" -m 4 -s 2 >"$work/out" 2>"$work/err"
	same "$1: ends well" 0 $?
	same "$1: one serves" active "$(jq -r .state "$work/report.json")"
	same "$1: the program's threads alone" 2 "$(jq -r .threads "$work/report.json")"
	same "$1: it sees them" true "$(jq '.samples > 0' "$work/report.json")"
	same "$1: and says nothing" '' "$(cat "$work/err")"
}
run "$build/tools/nsched"
run "$work/copy/tools/nsched"
copies=$(readelf -d "$build/.libs/libnsched_ompt.so" | grep -c "RUNPATH.*$build")
[ "$copies" = 1 ] || echo "the plugin does not name the build folder: both runs were of one copy"
finish
