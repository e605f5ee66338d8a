#!/bin/sh
# Wrong use, and tools that look at programs: the program's own status and output, one line for a configuration error, and
# nothing that is not ours written over.
. "${srcdir:-.}/tests/tools/harness.sh"
cpus=$(nproc)
[ "$cpus" -ge 2 ] || { echo "skipped: one CPU can't be made two nodes"; exit 77; }
libraries=$build/.libs
cd "$work" || exit 99
victim=$(built tests/harmless/victim-threads)
nodes=
if [ "$(cat /sys/devices/system/node/online)" = 0 ]; then
	nodes=$build/tests/stubs/.libs/two_nodes.so
	export HWLOC_SYNTHETIC="node:2 core:$((cpus / 2)) pu:1" HWLOC_THISSYSTEM=1
fi
export NSCHED_INTERVAL_MS=10

# Two ways in: with WAY VARIABLE=VALUE... COMMAND...
with()
{
	way=$1
	shift
	case $way in
	api) timeout 300 env LD_PRELOAD="$nodes" VICTIM_API="$libraries/libnsched.so.0" "$@" ;;
	plugin) timeout 300 env LD_PRELOAD="$nodes" OMP_TOOL_LIBRARIES="$libraries/libnsched_ompt.so" "$@" ;;
	esac
}
ways=api
if [ -e "$build/tests/harmless/victim-omp" ]; then ways='api plugin'; fi
program() { if [ "$1" = plugin ]; then echo "$build/tests/harmless/victim-omp"; else echo "$victim"; fi; }

# tried WHAT EXPECTED-MESSAGES VARIABLE=VALUE...: in each way the plain victim ends as ever, and says just this (a pattern)
tried()
{
	what=$1 messages=$2
	shift 2
	for way in $ways; do
		out=$(with "$way" "$@" "$(program "$way")" plain 2>err)
		same "$way, $what: status and output" '7 done' "$? $out"
		# shellcheck disable=SC2254  # it is a pattern
		case $(cat err) in $messages) ;; *) fail "$way, $what: messages: $(cat err)" ;; esac
		cases=$((cases + 1))
		same "$way, $what: one line at the most" yes "$([ "$(wc -l <err)" -le 1 ] && echo yes)"
	done
}

# ---- configuration ------------------------------------------------------------------------------------------
tried 'an unknown variable' 'nsched: there is no variable NSCHED_POLCY*' NSCHED_POLCY=joint
tried 'a value out of range' 'nsched: variable NSCHED_INTERVAL_MS: *5 is outside of*' NSCHED_INTERVAL_MS=5
tried 'a value of another kind' 'nsched: variable NSCHED_POLICY: *"jiont"*' NSCHED_POLICY=jiont
tried 'nothing wrong' '' NSCHED_VERBOSE=0
tried 'bound at start' '' LD_BIND_NOW=1

# ---- the report goes where it can, and nowhere else ----------------------------------------------------------
mkdir folder
echo 'not yours' >foreign
ln -s foreign link
ln -s nothing dangling
ln -s /dev/full full.json
mkfifo pipe
tried 'no such folder' 'nsched: the report could not be written to /nowhere/x: No such file*' NSCHED_REPORT=/nowhere/x
tried 'a folder' 'nsched: the report could not be written to *folder: Is a directory' NSCHED_REPORT="$work/folder"
tried 'a full disk' 'nsched: the report could not be written to /dev/full: No space left*' NSCHED_REPORT=/dev/full
tried 'a full disk, JSON' 'nsched: the report could not be written to *full.json: No space left*' NSCHED_REPORT="$work/full.json"
tried 'a pipe that nobody reads' 'nsched: the report could not be written to *pipe: No such device*' NSCHED_REPORT="$work/pipe"
tried 'another file' "nsched: the report could not be written to *foreign: it is there, and no report of nsched's*" NSCHED_REPORT="$work/foreign"
tried 'a link to another file' "nsched: the report could not be written to *link: it is there*" NSCHED_REPORT="$work/link"
tried 'a link to nothing' 'nsched: the report could not be written to *dangling: *' NSCHED_REPORT="$work/dangling"
same 'the other file is as it was' 'not yours' "$(cat foreign)"
same 'nothing was made through the link' no "$([ -e nothing ] && echo yes || echo no)"
tried 'a new file' '' NSCHED_REPORT="$work/report"
holds 'a new file' "$(cat report)" 'nsched 0.'
tried 'a report is written over' '' NSCHED_REPORT="$work/report"
tried 'another file, by force' '' NSCHED_REPORT="$work/foreign" NSCHED_REPORT_OVER=1
holds 'another file, by force' "$(cat foreign)" 'nsched 0.'
for kind in json situation; do
	tried "a new file, $kind" '' NSCHED_REPORT="$work/report.$kind"
	tried "a report is written over, $kind" '' NSCHED_REPORT="$work/report.$kind"
done
tried 'the null device' '' NSCHED_REPORT=/dev/null
echo 'not yours' >foreign
tried 'a record over another file' 'nsched: no record is made in *foreign: it is there*' NSCHED_RECORD="$work/foreign"
tried 'a record on a full disk' 'nsched: no record is made in /dev/full: *' NSCHED_RECORD=/dev/full
same 'the other file is as it was' 'not yours' "$(cat foreign)"

# Nobody reads standard error any more, or it is closed: no SIGPIPE.
for way in $ways; do
	status=$({ with "$way" NSCHED_REPORT=- NSCHED_POLCY=x "$(program "$way")" plain; echo $? >&3; } 3>&1 2>&1 >/dev/null 3>status | : ; cat status)
	same "$way, standard error is a pipe without a reader" 7 "$status"
	with "$way" NSCHED_REPORT=- "$(program "$way")" plain >out 2>&-
	same "$way, standard error is closed" '7 done' "$? $(cat out)"
done

# ---- programs with more rights than their user ------------------------------------------------------------------
if [ "$(id -u)" = 0 ] && [ -e "$build/tests/harmless/victim-omp" ] && command -v setpriv >/dev/null; then
	chmod 755 "$work"
	cp "$build/tests/harmless/victim-omp" secure
	chown daemon secure
	chmod 4755 secure
	mkdir -m 777 all
	got=$(setpriv --reuid nobody --regid nogroup --clear-groups env OMP_TOOL_LIBRARIES="$libraries/libnsched_ompt.so" NSCHED_REPORT="$work/all/report" \
		"$work/secure" plain 2>&1)
	same 'setuid: as ever' '7 done' "$? $got"
	same 'setuid: the environment gives no orders' no "$([ -e all/report ] && echo yes || echo no)"
fi

# ---- tools that look at programs, or sit in them ------------------------------------------------------------------
# under NAME COMMAND...: the victim below a tool ends as it does below the tool without nsched
under()
{
	tool=$1
	shift
	if ! command -v "$tool" >/dev/null; then
		echo "SKIP: $tool is not installed"
		return
	fi
	for way in $ways; do
		plain=$(timeout 300 "$@" "$(program "$way")" plain 2>/dev/null | grep -o 'done\|exited with code [0-9]*' | sort)
		got=$(with "$way" NSCHED_REPORT="$work/$tool.$way" "$@" "$(program "$way")" plain 2>err | grep -o 'done\|exited with code [0-9]*' | sort)
		same "$way under $tool: output" "$plain" "$got"
		holds "$way under $tool: it was at work" "$(cat "$tool.$way" 2>&1)" ' active'
		case $(cat err) in *nsched:*) fail "$way under $tool: $(cat err)" ;; esac
	done
}
under gdb gdb -q -batch -ex run -ex 'info threads' --args
under strace strace -f -o /dev/null
under valgrind valgrind -q --error-exitcode=55
under perf perf record -q -o "$work/perf.data"
finish
