#!/bin/sh
# What watching costs, natively: the same work under `policy=stay` at the defaults, and with all sources off, by turns.
# The least CPU time of each counts, since whatever else the machine does only adds. A machine with one node is given a
# second one that is made up. usage: sampling.sh [THREADS...]; `make bench-sampling`
# WITH="--option NAME=VALUE" is given to the side that watches. ROUNDS=5 PASSES=60000: more of either makes it sharper, and longer.
set -u
# shellcheck source=tests/bench/two_nodes.sh
. "${srcdir:-.}/tests/bench/two_nodes.sh"
rounds=${ROUNDS:-5} passes=${PASSES:-60000}

# cpu_s REPORT OPTION...: CPU seconds of one run
cpu_s()
{
	report=$1
	shift
	LD_PRELOAD=$preload "$build/tools/nsched" run --report="$report" --option dry_run=1 --option policy=stay "$@" \
		"$build/tests/bench/sampling" "$threads" "$passes" | cut -d' ' -f1
}

least() { sort -n "$1" | head -1; }

[ $# -gt 0 ] || set -- 1 2 8 64
echo "threads  off, s  default, s  cost, %  by its own count, %  samples per thread and s  probing, ms"
for threads; do
	: >"$work/off"
	: >"$work/on"
	for _ in $(seq "$rounds"); do
		cpu_s "$work/off.json" --option sample_hz=0 --option faults=0 --option kernel_faults=0 --option counters=off >>"$work/off"
		# shellcheck disable=SC2086
		cpu_s "$work/on.json" ${WITH:-} >>"$work/on"
	done
	[ "$(jq -r .state "$work/on.json")" = active ] || { echo "nsched was not active: $(jq -r .reason "$work/on.json")"; exit 99; }
	jq -r --arg off "$(least "$work/off")" --arg on "$(least "$work/on")" --arg threads "$threads" '
		($off | tonumber) as $off | ($on | tonumber) as $on |
		[$threads, $off, $on, (100 * ($on / $off - 1) * 100 | round / 100), .overhead_permille / 10,
		 (([.sources[].samples] | add) / (.run_s * ($threads | tonumber)) | floor),
		 ([.sources[].start_us] | add) / 1000] | map(tostring) | join("  ")' "$work/on.json" 2>"$work/err" ||
		{ cat "$work/err"; exit 99; }
done
