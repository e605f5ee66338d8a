#!/bin/sh
# What finding a sample's operands costs: nanoseconds on this machine and, where there is callgrind, instructions
# and misses of a cache as small as the emulated machine's, and what they take there by its model. With OLD in
# the environment, another build's operand_bench, the two run in turn and the ratios are printed.
. "${srcdir:-.}/tests/tools/harness.sh"

rounds=${ROUNDS:-10}
new=$(built tests/bench/operand_bench)
miss_us=9 insn_us=0.05 # tests/numabox/README.md: the model's default, slowed down

for _ in 1 2 3 4 5; do
	for which in ${OLD:+old} new; do
		program=$new
		[ $which = old ] && program=$OLD
		figures=$("$program" "$rounds")
		case $? in
		0) ;;
		77) echo "SKIP: operand_bench (no loops found)"; exit 77 ;;
		*) exit 99 ;;
		esac
		echo "$which $figures" >>"$work/figures"
	done
done
awk '{
	for (i = 2; i <= 4; i++)
		if (!(($1, i) in least) || $i < least[$1, i])
			least[$1, i] = $i
	hash[$1] = $7; loops = $5; places = $6; old += $1 == "old"
}
END {
	split("first place of a loop,its other places,known places", what, ",")
	printf "%d places in %d loops\n", places, loops
	for (i = 2; i <= 4; i++) {
		printf "%-22s %8.0f ns a sample", what[i - 1], least["new", i]
		if (old)
			printf ", before %8.0f: %.2f times as fast", least["old", i], least["old", i] / least["new", i]
		print ""
	}
	if (old)
		print hash["old"] == hash["new"] ? "the same addresses" : "OTHER ADDRESSES"
}' "$work/figures"

if ! command -v valgrind >/dev/null 2>&1; then
	echo "no callgrind: instructions and misses are not counted"
	exit 0
fi
for part in first other known; do
	valgrind --tool=callgrind --cache-sim=yes --D1=16384,1,64 --I1=16384,1,64 --LL=65536,1,64 \
		--toggle-collect="resolve_$part" --callgrind-out-file="$work/$part" "$new" 1 >"$work/line" 2>/dev/null || exit 99
	awk -v part=$part -v miss=$miss_us -v insn=$insn_us '
		FNR == NR { loops = $4; places = $5; next }
		/^totals:/ {
			n = part == "first" ? loops : part == "other" ? places - loops : places
			printf "%-6s %8.0f instructions %6.0f misses a sample: %.2f ms in the emulated machine\n", part, $2 / n,
				($6 + $7) / n, ($2 * insn + ($6 + $7) * miss) / n / 1000
		}' "$work/line" "$work/$part"
done
