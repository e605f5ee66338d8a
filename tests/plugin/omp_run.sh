#!/bin/sh
# OpenMP programs under LLVM's runtime, with and without the plugin: the same results, and the calls that
# the plugin makes. The libnsched inside it only records; its "report" is its counts.
. "${srcdir:-.}/tests/tools/harness.sh"
plugin=$(built tests/plugin/fake_ompt.so)
small=$(built tests/plugin/small_tool.so)
program=$build/tests/plugin/omp_cases
runtime=$(dirname "$(readlink -f "$(ldd "$program" | sed -n 's/.*libomp[^ ]* => \([^ ]*\).*/\1/p')")")
cd "$work" || exit 99

# tool VARIABLE=VALUE... PROGRAM ARGUMENT...: with the plugin; leaves out, report and status
tool()
{
	rm -f report
	env OMP_TOOL_LIBRARIES="$plugin" NSCHED_REPORT="$work/report" OMP_TOOL_VERBOSE_INIT="$work/verbose" \
		timeout 60 env "$@" >out 2>err
	status=$?
}

# count NAME: of the report
count() { sed -n "s/.* $1 \([0-9]*\).*/\1/p" report; }

# same_result PROGRAM CASE: as without the plugin, and no breach of the API's contract
same_result()
{
	OMP_TOOL=disabled timeout 60 "$1" "$2" >plain 2>plain.err
	plain=$?
	tool "$1" "$2"
	same "$(basename "$1") $2: exit status" "$plain" "$status"
	same "$(basename "$1") $2: result" "$(cat plain)" "$(cat out)"
	same "$(basename "$1") $2: messages" "$(cat plain.err)" "$(cat err)"
}
no_breach() { holds "$1: contract kept" "$(cat report 2>&1)" 'breach none'; }

for name in plain schedules nested tasks roots teams paused; do
	same_result "$program" $name
	no_breach $name
	same "$name: opened once" '1 1' "$(count open) $(count start)"
	same "$name: all that were registered were forgotten" "$(count register)" "$(count unregister)"
	same "$name: timed regions end" "$(count begin)" "$(count end)"
done
holds 'the runtime says that it uses the plugin' "$(cat verbose)" 'Tool was started and is using the OMPT interface'

for name in serial none helpers; do
	same_result "$program" $name
	no_breach $name
	same "$name: nothing is started" '0 0' "$(count start) $(count register)"
done

# No fork under LLVM 16: its own child hangs there, also without a tool.
case $runtime in
*16*) echo "SKIP: forks (LLVM 16's runtime hangs in the child by itself)" ;;
*)
	same_result "$program" forks
	no_breach forks
	;;
esac

# The runtime does not end its tool here; the destructor must.
same_result "$program" exit_in_region
no_breach exit_in_region
same_result "$program" quick

# ---- one node: stands aside, says so in the report if there is one, starts nothing -----------------
tool FAKE_WORTHWHILE=0 "$program" plain
same 'one node: status' 0 "$status"
holds 'one node: not used' "$(cat verbose)" 'Found but not using the OMPT interface'
holds 'one node: report' "$(cat report)" 'worthwhile 0 open 1 start 0 register 0'
tool FAKE_WORTHWHILE=0 NSCHED_REPORT= "$program" plain
same 'one node: no report' 'no' "$([ -e report ] && echo yes || echo no)"

# ---- examples ----------------------------------------------------------------------------------------
for example in triad stencil; do
	tool "$build/examples/$example" -m 2 -s 0.3 --expect 0
	same "$example: status" 0 "$status"
	holds "$example: result" "$(cat out)" 'the result is right'
	holds "$example: pages" "$(cat out)" "pages on their thread's node: "
	no_breach $example
done
tool "$build/examples/triad" -m 1 -s 0 --expect 1001
same 'triad: too few pages are an error' 1 "$status"

# ---- programs that gcc built, with LLVM's runtime under gcc's name ------------------------------------
gcc_programs()
{
	mkdir alias
	ln -s "$runtime/libomp.so.5" alias/libgomp.so.1
	for name in plain schedules nested serial none tasks roots; do
		LD_LIBRARY_PATH=$work/alias same_result "$program-gcc" $name
	done
	for example in triad-gcc stencil-gcc; do
		tool LD_LIBRARY_PATH="$work/alias" "$build/examples/$example" -m 2 -s 0.3
		same "$example: status" 0 "$status"
		no_breach $example
		same "$example: opened" 1 "$(count start)"
		tool "$build/examples/$example" -m 2 -s 0.1
		same "$example with gcc's own runtime: status" 0 "$status"
		same "$example with gcc's own runtime: no tool" no "$([ -e report ] && echo yes || echo no)"
	done
}
if ldd "$program-gcc" | grep -q libgomp; then
	gcc_programs
else
	echo "SKIP: programs that gcc built (this build's compiler is not gcc)"
fi

# ---- a tool behind the plugin -------------------------------------------------------------------------
for name in plain nested teams tasks roots; do
	OMP_TOOL=disabled "$program" $name >plain 2>/dev/null
	tool NSCHED_TOOL_LIBRARIES="/no/such.so:$plugin:$small" SMALL_TOOL_REPORT="$work/small" "$program" $name
	same "chained, $name: result" "$(cat plain)" "$(cat out)"
	no_breach "chained, $name"
	holds "chained, $name: its data words are its own" "$(cat small)" 'wrong 0'
done

archer=$runtime/libarcher.so
if [ ! -e "$archer" ]; then
	echo "SKIP: Archer ($archer is not there)"
elif [ ! -e "$build/tests/plugin/race" ]; then
	echo 'SKIP: Archer (the compiler has no ThreadSanitizer)'
else
	tool TSAN_OPTIONS=ignore_noninstrumented_modules=1 NSCHED_TOOL_LIBRARIES="$archer" "$build/tests/plugin/race"
	same 'Archer behind the plugin: no false race' "0 400 800" "$status $(cat out)"
	no_breach 'Archer'
	tool TSAN_OPTIONS=ignore_noninstrumented_modules=1 "$build/tests/plugin/race"
	same 'without Archer the race is reported (so the case before can fail)' 66 "$status"
fi

finish
