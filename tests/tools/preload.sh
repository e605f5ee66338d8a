#!/bin/sh
# The preloaded start, with a machine made of files and a core that only writes down its calls.
. "${srcdir:-.}/tests/tools/harness.sh"

mkdir "$work/lib"
cp "$(built tests/tools/preload_on_files.so)" "$work/lib/libnsched_preload.so"
cp "$(built tests/tools/fake_core.so)" "$work/lib/libnsched.so.0"
victim=$(built tests/tools/victim)
cd "$work" || exit 99

# machine NODES MEMS CPUS: node N has the CPUs 2N and 2N+1
machine()
{
	rm -rf root
	mkdir -p root/proc/self root/sys/devices/system/node
	echo "$1" >root/sys/devices/system/node/online
	printf 'Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\nMems_allowed:\tff\nMems_allowed_list:\t%s\n' \
		"$3" "$2" >root/proc/self/status
	for node in 0 1 2 3; do
		mkdir root/sys/devices/system/node/node$node
		echo $((2 * node))-$((2 * node + 1)) >root/sys/devices/system/node/node$node/cpulist
	done
}

# calls [VARIABLE=VALUE...] -- ARGUMENTS: what the core was asked for, in a line. sh makes itself the
# process that nsched run started, and becomes the program.
calls()
{
	variables=
	while [ "$1" != -- ]; do variables="$variables $1" && shift; done
	shift
	rm -f log
	# shellcheck disable=SC2086,SC2016
	env FAKE_LOG="$work/log" $variables sh -c \
		'NSCHED_LAUNCH_PID=$$; export NSCHED_LAUNCH_PID; LD_PRELOAD=$1; export LD_PRELOAD; shift; exec "$@"' \
		sh "$work/lib/libnsched_preload.so" "$victim" "$@" >out 2>err
	status=$?
	[ $status -eq 0 ] || echo "[status $status]"
	[ -e log ] && tr '\n' ';' <log
}
served='first config_create;first open;first start;first close;'
looked='first config_create;first open;first close;'

machine 0-3 0-3 0-7
same 'no thread, no start' '' "$(calls -- threads 0)"
same 'the second thread starts it' "$served" "$(calls -- threads 1)"
same 'a third one changes nothing' "$served" "$(calls -- threads 3)"
same 'no thread was made: closed again' "$looked" "$(calls -- refused)"
same 'nothing is said' '' "$(cat err)"
same 'the core was opened before, its helper is not the program'"'"'s thread' 'first open;first start;' \
	"$(calls -- core "$work/lib/libnsched.so.0")"
same 'a child alone' 'other config_create;other open;other start;other close;' "$(calls -- fork 1 0)"
same 'parent alone' "$served" "$(calls -- fork 0 1)"
same 'parent, then child' \
	'first config_create;first open;first start;other config_create;other open;other start;other close;first close;' \
	"$(calls -- fork 2 2)"

same 'report: started as ever' "$served" "$(calls NSCHED_REPORT=- -- threads 1)"
same 'report: no thread, still says why' "$looked" "$(calls NSCHED_REPORT=- -- threads 0)"
same 'report: a child without threads writes none' "$looked" "$(calls NSCHED_REPORT=- -- fork 0 0)"
same 'report: whoever opened the core writes it' 'first open;first start;' \
	"$(calls NSCHED_REPORT=- -- core "$work/lib/libnsched.so.0")"
same 'report: an empty name is none' '' "$(calls NSCHED_REPORT= -- threads 0)"

same 'a wrong option is told, and the others are used' "$served" "$(calls NSCHED_POLCY=x -- threads 1)"
same 'in one line' 'nsched: no such variable: NSCHED_POLCY' "$(cat err)"
same 'a core that does not open' 'first config_create;first open;' "$(calls FAKE_OPEN_FAILS=1 -- threads 1)"

# what is there to choose: online, memory and CPUs of this process
while read -r online mems cpus launched expected; do
	machine "$online" "$mems" "$cpus"
	[ "$expected" = yes ] && expected=$served || expected=
	same "online $online, memory $mems, CPUs $cpus, launched on $launched" "$expected" \
		"$(calls NSCHED_LAUNCH_CPUS="${launched#none}" -- threads 1)"
done <<'END'
0        0      0-7    none  no
0-1      0-1    0-7    none  yes
0,2      0,2    0-7    none  yes
0-3      0-3    0      none  yes
0-3      1-2    0      none  yes
0-3      3      6-7    none  no
0-3      3      0-7    none  yes
0-3      3      7,0    none  yes
0-3      3      6      6-7   no
0-3      3      6      0-7   yes
0-1      0-7    0-1    none  yes
2        2      4-5    none  no
END
machine 0 0 0-7
same 'one node: nothing, and nothing said' '' "$(calls NSCHED_VERBOSE=1 -- threads 1)$(cat err)"
same 'one node: the report says why' "$looked" "$(calls NSCHED_REPORT=- -- threads 1)"
rm -r root/proc
machine 0-3 0-3 0-7
rm -r root/sys
same 'a kernel without nodes' '' "$(calls -- threads 1)"

machine 0-3 0-3 0-7
rm lib/libnsched.so.0
same 'no core: nothing happens' '' "$(calls -- threads 1)$(cat err)"
same 'no core: a line if asked for' '' "$(calls NSCHED_VERBOSE=1 -- threads 1)"
holds 'no core: the line' "$(cat err)" "nsched: not started: $work/lib/libnsched.so.0: cannot open shared object file"
printf 'int nothing;' >empty.c
if ${CC:-cc} -shared -o lib/libnsched.so.0 empty.c 2>/dev/null; then
	same 'a core without the calls' '' "$(calls NSCHED_VERBOSE=1 -- threads 1)"
	same 'a core without the calls: the line' 'nsched: not started: calls are missing in libnsched.so.0' "$(cat err)"
fi

needed=$(readelf -d "$(built libnsched_preload.so)" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | tr '\n' ' ')
same 'it needs libc alone' 'libc.so.6 ' "$needed"
same 'it exports pthread_create, and what starts programs' \
	'execl execle execlp execv execve execveat execvp execvpe fexecve nsched_preload_exec popen posix_spawn posix_spawnp pthread_create system' \
	"$(nm -D --defined-only "$(built libnsched_preload.so)" | sed 's/.* //' | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')"
finish
