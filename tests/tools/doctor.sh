#!/bin/sh
# nsched doctor natively: its calls and refusals, what it says of this machine, and under a filter of system calls as
# containers have them. What it finds: tests/doctor (recorded machines) and tests/live/doctor.
. "${srcdir:-.}/tests/tools/harness.sh"

source=$(cd "${srcdir:-.}" && pwd)
victim=$(built tests/tools/victim)
refuse=$(built tests/tools/refuse)
nsched=$build/tools/nsched
cd "$work" || exit 99
HOME=$work
unset XDG_CACHE_HOME OMP_PROC_BIND OMP_PLACES GOMP_CPU_AFFINITY KMP_AFFINITY

# doctor ARGUMENTS: the exit code into $code, what was printed into $out and $err
doctor()
{
	"$nsched" doctor "$@" >"$work/out" 2>"$work/err" </dev/null
	code=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
}

# refused CODE TEXT ARGUMENTS
refused()
{
	want=$1 text=$2
	shift 2
	doctor "$@"
	same "doctor $*: exit code" "$want" "$code"
	same "doctor $*: message" "nsched: $text" "$err"
	same "doctor $*: nothing on standard output" '' "$out"
}

# ---- calls ----------------------------------------------------------------------------------------------
refused 2 'doctor has no option --jsn; did you mean --json?' --jsn
refused 2 'doctor has no option -x; see nsched doctor --help (a program stands behind --)' -x
refused 2 '--json takes no value' --json=1
refused 2 '--pid: a value is missing' --pid
refused 2 '--pid: "12x" is not a process number' --pid 12x
refused 2 '--pid: "-4" is not a process number' --pid -4
refused 2 '--for: "0" is not a number of seconds from 0.1 to 3600' --for 0 --pid 1
refused 2 '--after: "nan" is not a number of seconds up to 3600' --after nan -- true
refused 2 '--after: there is no program to look at' --after 1
refused 2 'which program? nsched doctor [OPTIONS] -- PROGRAM [ARGUMENTS]' --
refused 2 '--pid or a program, not both' --pid 1 -- true
refused 2 'there is no process 999999999, or it ended: No such process' --pid 999999999
refused 127 './missing: No such file or directory' -- ./missing
refused 126 "$work: Permission denied" -- "$work"
refused 2 'true ended before it could be looked at; --after and --for make the look earlier and shorter' -- true
doctor --help
same 'help' '0 ' "$code $err"
holds 'help' "$out" 'usage: nsched doctor'

# ---- this machine -----------------------------------------------------------------------------------------
doctor
same 'nothing on standard error' '' "$err"
same 'exit code' 1 $((code == 0 || code == 1))
if [ $code -eq 0 ]; then
	holds 'healthy' "$out" ': healthy'
	same 'one screen' 1 $(($(echo "$out" | wc -l) <= 24))
fi
same 'no line is too long' '' "$(echo "$out" | awk 'length($0) > 79')"
holds 'it acts' "$out" 'threads move'
doctor --json
json_code=$code
if command -v jq >/dev/null; then
	same 'JSON: healthy or not' "$([ $json_code -eq 0 ] && echo true || echo false)" "$(jq .healthy out)"
	same 'JSON: every source is on, or says why' true "$(jq 'all(.sources[]; .state == "on" or .reason != "")' out)"
	same 'every source of the library is tried' "$(grep -c '^extern const struct source_ops' "$source/libnsched/sys/source.h")" \
		"$(jq '[.sources[].name | select(. != "counters" and . != "kernel-faults" and . != "bandwidth")] | length' out)"
fi

# without the library beside it: a finding, not a failure
mkdir -p alone/bin
cp "$nsched" alone/bin/
nsched=$work/alone/bin/nsched doctor
if ! echo "$out" | grep -q 'serves programs here\|stands aside here'; then # not installed in the prefix either
	same 'no library: exit code' 1 "$code"
	holds 'no library' "$out" 'FINDING    installation'
	holds 'no library' "$err" 'libnsched.so.0 is missing; looked for it in'
fi

# measured, kept, and read again
doctor --measure
same 'measured' '' "$err"
holds 'measured' "$out" ' ns to itself'
kept=$(find .cache/nsched -name 'machine-*' -type f)
same 'one file' 1 "$(echo "$kept" | wc -l)"
same 'its first line' 'nsched-machine 1' "$(head -n 1 "$kept")"
doctor
holds 'read again' "$out" ' ns to itself'
echo damaged >"$kept"
doctor
holds 'a damaged file is not used' "$out" 'not yet: nsched doctor --measure'
XDG_CACHE_HOME=/proc doctor --measure
same 'nowhere to keep it: exit code' 2 "$code"
holds 'nowhere to keep it' "$err" "nsched: --measure: /proc/nsched/machine-"

# ---- a program -----------------------------------------------------------------------------------------------
doctor --after 0.3 --for 0.3 -- sh -c 'echo from the program; sleep 1; echo at its end'
holds 'a program: who it is' "$out" 'program    sh ('
same 'a program: its standard output' 'from the program at its end' "$(echo "$err" | tr '\n' ' ' | sed 's/ $//')"
same 'an idle program is healthy, if the machine is' "$json_code" "$code"
sleep 5 &
doctor --for 0.2 --pid $!
same 'a process' "$json_code" "$code"
holds 'a process' "$out" "program    sleep ($!)"
kill $!
OMP_PROC_BIND=close KMP_AFFINITY=none doctor
holds 'who binds' "$out" 'OpenMP (OMP_PROC_BIND=close)'
same 'who does not' '' "$(echo "$out" | grep KMP_AFFINITY)"

# ---- under a filter ----------------------------------------------------------------------------------------------
calls=perf_event_open,move_pages,mbind,get_mempolicy,userfaultfd
"$refuse" $calls true
if [ $? -eq 77 ]; then
	echo 'no filter of system calls can be had: that part is skipped'
	finish
fi
"$refuse" $calls "$nsched" doctor >out 2>err
same 'under a filter: nothing on standard error' '' "$(cat err)"
out=$(cat out)
for word in 'clock-perf: ' 'faults: ' 'pages move: Operation not permitted' 'pages are found: Operation not permitted' 'policies are seen: Operation not permitted'; do
	holds 'under a filter: what is off, and why' "$out" "$word"
done
holds 'under a filter: what is left' "$out" 'on: clock-timer'
holds 'under a filter: what is left' "$out" 'acts       threads move'
holds 'under a filter: how to get it' "$out" '--security-opt'
same 'under a filter: nothing twice' '' "$(sort out | grep -v '^ \{11\}' | uniq -d)"
"$refuse" $calls,timer_create,sched_setaffinity "$nsched" doctor >out 2>err
same 'nothing is left: told, not crashed' 1 $(($? <= 1))
holds 'nothing is left' "$(cat out)" 'on: nothing'

# what has nsched in it runs as ever
for variant in '' ',sched_setaffinity,timer_create,process_vm_readv'; do
	"$refuse" "$calls$variant" "$nsched" run --report="$work/report.txt" "$victim" threads 3 >out 2>err
	same "a program under a filter ($variant)" '0 ' "$? $(cat err)"
	holds "its report ($variant)" "$(cat "$work/report.txt")" 'nsched 0.'
done
(cd "$build" && "$refuse" $calls tests/unit/test_cplusplus) >out 2>&1
same 'the C API under a filter' '0 0 failed' "$? $(cat out)"
finish
