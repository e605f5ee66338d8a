#!/bin/sh
# What watching costs a program, natively: under `policy=stay` at the defaults, against the same with all sources off, both on the same memory
# in short turns (pairs.c), so that noise cancels. A machine with one node is given a second one that is made up.
# usage: sampling.sh [THREADS...]; `make bench-sampling`
# ALSO="-c": what pairs.c knows besides (-c: a thread comes and goes, so that nsched never looks more seldom; "-a NAME=VALUE": an option of
# the side that watches). FOURS=400 TURN_MS=25: more makes it sharper, and longer; KIB=64: of each of the three arrays of a thread.
set -u
# shellcheck source=tests/bench/two_nodes.sh
. "${srcdir:-.}/tests/bench/two_nodes.sh"

[ $# -gt 0 ] || set -- 1 2 8 64
cat <<END
program's threads: median of the ratios of all fours of turns, and between what the true one is in 95 of 100 cases; helper: nsched's own
CPU time, to the program's; team: most that one loses whose threads all wait for the one that gave its CPU; start: nsched's own in the first 3 s
threads  fours  program's threads, %  helper, %  cost, %  team, %  start, ms of CPU  by its own count, %  samples  probing, ms
END
for threads; do
	# shellcheck disable=SC2086
	line=$(LD_PRELOAD=$preload "$build/tests/bench/pairs" -t "$threads" -n "${FOURS:-400}" -m "${TURN_MS:-25}" -k "${KIB:-64}" -r "$work/on.json" \
		-o dry_run=1 -o policy=stay -b sample_hz=0 -b faults=0 -b kernel_faults=0 -b counters=off ${ALSO:-}) || exit 99
	jq -r --arg line "$line" '
		[$line, .overhead_permille / 10, ([.sources[].samples] | add),
		 ([.sources[].start_us] | add) / 1000] | map(tostring) | join("  ")' "$work/on.json" || exit 99
done
