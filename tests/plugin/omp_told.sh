#!/bin/sh
# What an OpenMP program tells by itself, under LLVM's runtime and the real library: its tasks' memory, its regions and
# who waits in them, and, from LLVM 15 on, whether loops come back. Natively, with a second node that is made up.
. "${srcdir:-.}/tests/tools/harness.sh"

cpus=$(nproc)
[ "$cpus" -ge 2 ] || { echo "skipped: one CPU can't be made two nodes"; exit 77; }
# On a busy machine the threads may be gone, and their regions with them, before the report is written, or the helper may have
# had no CPU for more than one look: a few tries.
for _ in 1 2 3 4 5; do
	out=$(LD_PRELOAD="$build/tests/stubs/.libs/two_nodes.so" HWLOC_SYNTHETIC="node:2 core:$((cpus / 2)) pu:1" HWLOC_THISSYSTEM=1 \
		OMP_TOOL_LIBRARIES="$build/.libs/libnsched_ompt.so" NSCHED_DRY_RUN=1 NSCHED_SAMPLE_HZ=0 NSCHED_FAULTS=0 \
		NSCHED_REPORT="$work/report.json" "$build/tests/plugin/omp_told" 1 2>&1)
	status=$?
	[ "$(jq '(.regions | length) > 0 and .touches > 0' "$work/report.json" 2>/dev/null)" = false ] || break
done
same 'the program runs' '0 1' "$status $out"
of_report() { jq -c "$1" "$work/report.json" 2>&1; }
same 'it was served' '"active"' "$(of_report .state)"
same 'its tasks told of their memory' true "$(of_report '.touches > 0')"
same 'and of nothing else' 0 "$(of_report '.samples')"
same 'four regions, of two threads each' '[2,2,2,2]' "$(of_report '[.regions[].threads]')"
same 'none is visited more often than another, but for the last round' true "$(of_report '([.regions[].visits] | max - min) <= 1')"
same 'threads wait in one of them' true "$(of_report '[.regions[].waits_permille] | max > 0')"
same 'shares are shares' true "$(of_report '[.regions[] | .waits_permille <= 1000 and (.loops_returned_permille // 0) <= 1000] | all')"
finish
