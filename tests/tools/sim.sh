#!/bin/sh
# nsched sim from the command line: what it prints, that it prints the same again, and what it says of mistakes.
set -u
source=${srcdir:-.}
nsched=tools/nsched
NSCHED_SIM_WORKLOADS=$source/sim/workloads
export NSCHED_SIM_WORKLOADS
work=$(mktemp -d "${TMPDIR:-/tmp}/nsched-sim.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
status=0

fail()
{
	echo "FAIL: $*"
	status=1
}

# refused CODE TEXT ARGUMENTS: ends with CODE and says TEXT on one line of standard error, nothing on standard output
refused()
{
	code=$1 text=$2
	shift 2
	"$nsched" sim "$@" >"$work/out" 2>"$work/err"
	got=$?
	[ $got -eq "$code" ] || fail "sim $*: exit $got, not $code"
	grep -qF -- "$text" "$work/err" || fail "sim $*: said \"$(cat "$work/err")\", not \"$text\""
	[ ! -s "$work/out" ] || fail "sim $*: printed something"
	[ "$(wc -l <"$work/err")" -eq 1 ] || fail "sim $*: not one line"
}

refused 2 "which machine?" --workload numa02
refused 2 "which workload?" --machine two16
refused 2 "did you mean --machine?" --machin two16
refused 2 "did you mean westmere32?" --machine westmere23 --workload numa02
refused 2 "there is no file of this name" --machine two16 --workload nothing
refused 2 "it has no parameter thread" --machine two16 --workload numa02:thread=2
refused 2 "did you mean joint?" --machine two16 --workload numa02 --policy joimt
refused 2 "did you mean focht?" --table fochd
refused 2 "--seeds 0" --machine two16 --workload numa02 --seeds 0
refused 2 "--seeds: a value is missing" --seeds
refused 2 "--json takes no value" --json=1
refused 2 "did you mean node_gbs?" --machine two16 --workload numa02 --set node_gb=1
refused 2 "wanted is a list of CPUs" --machine two16 --workload numa02 --cpus 0-x
refused 2 "two16 has none of these" --machine two16 --workload numa02 --cpus 99
refused 2 "wanted is a share" --machine two16 --workload numa02 --perturb 2
refused 2 "interval_ms" --machine two16 --workload numa02 --option interval_ms=x

printf 'workload 1\nprocess p\nthread t\nrun 1s\nrecieve 1\n' >"$work/wrong.sim"
refused 2 'line 5, "recieve": no line begins like this; did you mean receive?' --machine two16 --workload "$work/wrong.sim"
printf 'workload 1\nprocess p\nthread t\nrun 1s\nreceive 1\n' >"$work/stuck.sim"
refused 1 "line 5: a thread waits there for ever" --machine two16 --workload "$work/stuck.sim" --seeds 1
refused 2 "Is a directory" --machine two16 --workload "$work"

"$nsched" sim --help | grep -q -- --workload || fail "--help"
"$nsched" sim --list | grep -q "^  westmere32 .*Molnar" || fail "--list: machines"
"$nsched" sim --list | grep -q "^  numa02 " || fail "--list: workloads"

# the same seed, the same bytes; in JSON too; however many run at a time
for i in 1 2; do
	"$nsched" sim --machine "node:2 core:4 pu:1" --workload numa02:threads=8,seconds=3,MiB=64 --seeds 3 --jobs $i >"$work/text.$i" ||
		fail "a run of text"
	"$nsched" sim --machine "node:2 core:4 pu:1" --workload numa02:threads=8,seconds=3,MiB=64 --seeds 3 --jobs $i --json --oracle=6 >"$work/json.$i" ||
		fail "a run of JSON"
done
cmp -s "$work/text.1" "$work/text.2" || fail "the same seeds printed other text"
cmp -s "$work/json.1" "$work/json.2" || fail "the same seeds printed other JSON"
if command -v jq >/dev/null; then
	jq -e '.machine == "node:2 core:4 pu:1" and .workload == "numa02" and .seeds == 3 and (.policies | length) == 2 and
		(.policies[1].policy == "joint") and (.policies[1].ratio_to_stay < 1) and (.oracle.mean > 0) and
		(.policies[0].gap_to_oracle > 0)' "$work/json.1" >/dev/null || fail "the JSON is not as it should be: $(cat "$work/json.1")"
fi

# worlds made by chance: the same again, and each as one of them alone
refused 2 "--random 0" --random 0
refused 2 "makes machines and workloads of its own" --random 3 --machine two16
for i in 1 2; do
	"$nsched" sim --random 6 --seed 40 --jobs $i >"$work/random.$i" || fail "worlds made by chance"
done
cmp -s "$work/random.1" "$work/random.2" || fail "the same seed made other worlds"
"$nsched" sim --random 1 --seed 43 >"$work/one" || fail "one world"
ratio=$(awk '$1 == 43 && NF > 3 { print $4 }' "$work/random.1")
[ -n "$ratio" ] && [ "$ratio" = "$(awk '$1 == 43 && NF > 3 { print $4 }' "$work/one")" ] || fail "world 43 came out at $ratio among others, and alone: $(cat "$work/one")"
sed -n '/^workload 1/,/^$/p' "$work/one" >"$work/world.sim"
"$nsched" sim --machine two16 --workload "$work/world.sim" --seeds 1 --policy stay >/dev/null || fail "the world that was shown is no workload"

# a file of lstopo
xml=$(find "$source/tests/fixtures" -name '*.xml' | sort | head -n 1)
if [ -n "$xml" ]; then
	"$nsched" sim --machine "$xml" --workload stream:threads=4,MiB=64 --seeds 1 --policy stay >"$work/out" || fail "a machine from $xml"
fi
exit $status
