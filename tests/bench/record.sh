#!/bin/sh
# What recording costs, natively: the same work at the defaults, with and without a record, by turns; the least CPU time of each counts, since
# whatever else the machine does only adds. A machine with one node is given a second one that is made up.
# usage: record.sh [THREADS...]; `make bench-record`. WITH="--option NAME=VALUE" is given to both. ROUNDS=3 PASSES=60000: more of either makes it sharper, and longer.
set -u
# shellcheck source=tests/bench/two_nodes.sh
. "${srcdir:-.}/tests/bench/two_nodes.sh"
rounds=${ROUNDS:-3} passes=${PASSES:-60000}

# cpu_s REPORT OPTION...: CPU seconds of one run
cpu_s()
{
	report=$1
	shift
	# shellcheck disable=SC2086
	LD_PRELOAD=$preload "$build/tools/nsched" run --report="$report" --option dry_run=1 ${WITH:-} "$@" \
		"$build/tests/bench/sampling" "$threads" "$passes" | cut -d' ' -f1
}

least() { sort -n "$1" | head -1; }

[ $# -gt 0 ] || set -- 8
echo "threads  without, s  with, s  difference, %  packing and writing, %  samples taken in a second  MiB a minute  replayed"
for threads; do
	: >"$work/off"
	: >"$work/on"
	for _ in $(seq "$rounds"); do
		cpu_s "$work/off.json" >>"$work/off"
		rm -f "$work/record.nsr"
		cpu_s "$work/on.json" --record "$work/record.nsr" >>"$work/on"
	done
	[ "$(jq -r .state "$work/on.json")" = active ] || { echo "nsched was not active: $(jq -r .reason "$work/on.json")"; exit 99; }
	"$build/tools/nsched" replay --check "$work/record.nsr" >"$work/check" 2>&1 && same=same || same=DIFFERS
	jq -r --arg off "$(least "$work/off")" --arg on "$(least "$work/on")" --arg threads "$threads" --arg same "$same" '
		($off | tonumber) as $off | ($on | tonumber) as $on |
		[$threads, $off, $on, (100 * ($on / $off - 1) * 100 | round / 100), (.record.own_cpu_us / $on / 10000 * 1000 | round / 1000),
		 (.samples / .run_s | floor), (.record.bytes / 1048576 / (.run_s / 60) * 1000 | round / 1000), $same] | map(tostring) | join("  ")' "$work/on.json" ||
		exit 99
	[ -z "${KEEP:-}" ] || cp "$work/record.nsr" "$KEEP"
done
