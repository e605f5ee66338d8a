#!/bin/sh
# nsched replay from the command line: the records that come with the tests, every scene of the session's own tests, and what it says of mistakes.
set -u
source=${srcdir:-.}
# shellcheck source=tests/tools/harness.sh
. "$source/tests/tools/harness.sh"
records=$source/tests/fixtures/records
nsched=$(built tools/nsched)
[ -e "$build/tests/replay/test_replay" ] || { echo "skipped: this build has no zstd, or no Check"; exit 77; }

# refused CODE TEXT ARGUMENTS: ends with CODE and says TEXT on one line of standard error
refused()
{
	code=$1 text=$2
	shift 2
	"$nsched" replay "$@" >"$work/out" 2>"$work/err"
	same "replay $*: exit" "$code" $?
	holds "replay $*" "$(cat "$work/err")" "$text"
	same "replay $*: lines of error" 1 "$(wc -l <"$work/err")"
}

refused 2 "which record?"
refused 2 "did you mean --check?" --chek x
refused 2 "did you mean joint?" --policy joimt x
refused 2 "--policy: a value is missing" --policy
refused 2 "wanted is the number of a look" --snapshot 0 x
refused 2 "takes one file" x y
refused 1 "No such file" "$work/nothing"
refused 1 "byte 0 of the file: it is no record of nsched's" "$0"
printf 'nsched record 8\n' >"$work/newer"
refused 1 "a record of version 8" "$work/newer"

first=
for record in "$records"/*.nsr; do
	[ -n "$first" ] || first=$record
	text=$("$nsched" replay --check "$record" 2>&1)
	same "$record: exit" 0 $?
	holds "$record (was the session meant to change? tests/fixtures/README.md)" "$text" "the same plans as recorded"
done
head -c 1500 "$first" >"$work/short"
refused 1 "of the file: it is cut off here" "$work/short"
{ head -c 700 "$first" && printf 'damage' && tail -c +707 "$first"; } >"$work/damaged"
refused 1 "byte " "$work/damaged"

text=$("$nsched" replay --policy stay,autonuma "$first" 2>&1)
same "--policy: exit" 0 $?
holds "--policy" "$text" "autonuma would have moved"
holds "--policy" "$text" "as recorded"
text=$("$nsched" replay --snapshot 3 "$first" 2>&1)
same "--snapshot: exit" 0 $?
holds "--snapshot" "$text" "situation 1"
holds "--snapshot" "$text" "plan 1"
refused 1 "looks, and not 99999" --snapshot 99999 "$first"
holds "--help" "$("$nsched" replay --help)" "--snapshot N"

# the session's own tests, each scene of which is recorded and has to come out the same
mkdir "$work/scenes"
for test in test_session test_session_trial; do
	SCENE_RECORDS=$work/scenes "tests/unit/$test" >"$work/out" 2>&1 || fail "tests/unit/$test: $(cat "$work/out")"
done
n=0
for record in "$work"/scenes/*.nsr; do
	n=$((n + 1))
	"$nsched" replay --check "$record" >"$work/out" 2>&1 || fail "scene $(basename "$record"): $(cat "$work/out")"
done
same "scenes" yes "$([ $n -gt 50 ] && echo yes)"
finish
