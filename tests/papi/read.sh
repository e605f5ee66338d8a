#!/bin/sh
# A PAPI program that knows nothing of nsched reads nsched's figures, by name, while `nsched run` serves it. Natively, with
# a second node that is made up, so nothing is moved (dry_run), but everything is decided.
. "${srcdir:-.}/tests/tools/harness.sh"

reader=$(built tests/papi/reader) two=$(built tests/stubs/two_nodes.so)
[ -e "$two" ] || two=$build/tests/stubs/.libs/two_nodes.so
[ "$(nproc)" -ge 2 ] || { echo "skipped: one CPU can't be made two nodes"; exit 77; }
sde=$(ldconfig -p 2>/dev/null | sed -n 's/.*libsde\.so\.1.*=> //p' | head -1)
[ -n "$sde" ] || sde=libsde.so.1
cpus=$(nproc)
export HWLOC_SYNTHETIC="node:2 core:$((cpus / 2)) pu:1" HWLOC_THISSYSTEM=1

# figure NAME: of $out
figure() { echo "$out" | sed -n "s/^sde:::nsched::$1 //p"; }

# reads PRELOADED OPTION...: runs the reader for two seconds
reads()
{
	preloaded=$1
	shift
	events='steps samples thread_moves moved_bytes threads local_permille overhead_permille failed_moves memory_mbs busiest_node_mbs'
	# shellcheck disable=SC2046,SC2086
	out=$(LD_PRELOAD="$preloaded $two" "$build/tools/nsched" run --report="$work/report.json" --option dry_run=1 "$@" \
		"$reader" 2 $(for e in $events; do echo "sde:::nsched::$e"; done) 2>"$work/err")
	code=$?
	err=$(cat "$work/err")
}

reads "$sde"
same 'the program reads them: exit code' '0' "$code$err"
same 'it was served' '"active"' "$(jq .state "$work/report.json")"
steps=$(figure steps)
same 'steps were made' yes "$([ "${steps:-0}" -ge 3 ] && echo yes || echo "no: $steps")"
same 'and no more than the report says' yes "$([ "${steps:-0}" -le "$(jq .steps "$work/report.json")" ] && echo yes || echo "no: $steps")"
samples=$(figure samples)
same 'samples were taken in' yes "$([ "${samples:-0}" -ge 10 ] && echo yes || echo "no: $samples")"
same 'and no more than the report says' yes "$([ "${samples:-0}" -le "$(jq .samples "$work/report.json")" ] && echo yes || echo "no: $samples")"
same 'nothing failed' 0 "$(figure failed_moves)"
local=$(figure local_permille) own=$(figure overhead_permille)
memory=$(figure memory_mbs) busiest=$(figure busiest_node_mbs)
if [ "$(jq -r .bandwidth.counted_by "$work/report.json")" = null ]; then
	same 'memory is not counted here: why' yes "$(jq -r '.bandwidth.reason | length > 5' "$work/report.json" | sed 's/true/yes/')"
	same 'and nothing is told' '0 0' "$memory $busiest"
else
	same 'the busiest node is one of them' yes "$([ "${busiest:-9}" -le "${memory:-0}" ] && echo yes || echo "no: $busiest of $memory")"
fi
same 'a share' yes "$([ "${local:-9999}" -le 1001 ] && echo yes || echo "no: $local")"
same 'what it costs' yes "$([ "${own:-9999}" -le 1000 ] && echo yes || echo "no: $own")"

reads "$sde" --option publish=0
same 'not published: exit code' '0' "$code$err"
same 'not published: PAPI knows no value' '-1 -1' "$(figure steps) $(figure samples)"

# Without libsde in its sight PAPI has no such events: that is the program's to say, and nothing else happens.
reads ''
same 'PAPI without libsde: exit code' 1 "$code"
holds 'PAPI without libsde' "$err" 'reader: sde:::nsched::steps:'
finish
