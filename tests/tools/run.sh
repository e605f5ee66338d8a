#!/bin/sh
# The launcher: exit codes, messages, and what the program finds in its environment. The libraries
# beside it are the real preload and an empty plugin.
. "${srcdir:-.}/tests/tools/harness.sh"

victim=$(built tests/tools/victim)
preload_built=$(built libnsched_preload.so)
mkdir -p "$work/moved/bin"
cp "$build/tools/nsched" "$work/moved/bin/nsched"
cd "$work" || exit 99
nsched=$work/moved/bin/nsched

# run ARGUMENTS: the exit code into $code, what was printed into $out and $err
run()
{
	"$nsched" run "$@" >"$work/out" 2>"$work/err" </dev/null
	code=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
}

# refused WHAT CODE TEXT ARGUMENTS
refused()
{
	what=$1 want=$2 text=$3
	shift 3
	run "$@"
	same "$what: exit code" "$want" "$code"
	same "$what: message" "nsched: $text" "$err"
	same "$what: nothing on standard output" '' "$out"
}

# ---- parts of nsched are missing: the message says where it looked; there we put them ----------------
run true
same 'no plugin' 125 "$code"
holds 'no plugin' "$err" "nsched: libnsched_ompt.so is missing; looked for it in $work/moved/bin/../"
libraries=$(sed -n 's/.*looked for it in \(.*\), .* and .*/\1/p' err)
mkdir -p "$libraries"
libraries=$(cd "$libraries" && pwd -P)
plugin=$libraries/libnsched_ompt.so preload=$libraries/libnsched_preload.so
: >"$plugin"
run true
same 'no preload' 125 "$code"
holds 'no preload' "$err" "nsched: libnsched_preload.so is missing; looked for it in $work/moved/bin/../"
cp "$preload_built" "$preload"
run true
same 'a moved prefix works' '0' "$code$err"

# ---- the command --------------------------------------------------------------------------------------
nsched_says()
{
	want=$1 text=$2
	shift 2
	got=$("$nsched" "$@" 2>&1)
	same "nsched $*: exit code" "$want" $?
	holds "nsched $*" "$got" "$text"
}
nsched_says 2 'usage: nsched COMMAND'
nsched_says 0 'usage: nsched COMMAND' --help
nsched_says 0 'usage: nsched COMMAND' help
nsched_says 0 'nsched 0.' --version
nsched_says 2 'nsched: there is no command "rum"; did you mean run?' rum true
nsched_says 2 'nsched: there is no command "fly"; see nsched --help' fly
nsched_says 0 'usage: nsched run' run --help
nsched_says 0 'interval_ms=10..10000 ms   [100]' run --help
nsched_says 0 'usage: nsched run' run -h
NSCHED_POLCY=1 nsched_says 0 'usage: nsched run' run --help

# ---- refusals -----------------------------------------------------------------------------------------
refused 'no program' 2 'which program? nsched run [OPTIONS] [--] PROGRAM [ARGUMENTS]; --help says more'
refused 'no program' 2 'which program? nsched run [OPTIONS] [--] PROGRAM [ARGUMENTS]; --help says more' --dry-run --
refused 'option' 2 'run has no option --reprot; did you mean --report?' --reprot true
refused 'option' 2 'run has no option -x; see nsched run --help (options of the program stand behind its name)' -x true
refused 'table option' 2 'run has no option --sample-hz; write --option sample_hz=VALUE' --sample-hz=5 true
refused 'policy' 2 'policy: "jiont" is not one of joint|stay|simple|pool|homenode|homenode-dynamic|concentric|balancenuma|autonuma|adaptive|reconciled; did you mean joint?' --policy jiont true
refused 'policy' 2 '--policy: a value is missing' --policy
refused 'switch' 2 '--dry-run takes no value' --dry-run=1 true
refused 'pair' 2 '--option policy: a value is missing; write --option policy=VALUE' --option policy true
refused 'pair' 2 'there is no option "polcy"; did you mean policy?' --option polcy=joint true
refused 'pair' 2 'interval_ms: 5 is outside of 10..10000 ms' --option interval_ms=5 true
NSCHED_POLCY=x refused 'variable' 2 'there is no variable NSCHED_POLCY; did you mean NSCHED_POLICY?' true
refused 'report' 2 'no report can be written into /nowhere: No such file or directory' --report=/nowhere/x true
refused 'report' 2 "the report's name has \"%q\"; known are %p (process), %h (machine), %r (rank) and %%" --report=a%q true

touch plain
mkdir folder
printf '#!/nowhere/sh\n' >orphan
printf '#!/bin/sh\necho script "$@"\n' >script
printf 'echo no first line\n' >bare
chmod +x orphan script bare
refused 'missing' 127 './missing: No such file or directory' ./missing
refused 'missing in PATH' 127 'there is no program "missing-anywhere" in PATH' missing-anywhere
refused 'empty' 127 'there is no program "" in PATH' ''
refused 'not executable' 126 './plain: Permission denied' ./plain
PATH=$work:$PATH refused 'not executable in PATH' 126 'plain: Permission denied' plain
refused 'folder' 126 './folder: Is a directory' ./folder
refused 'no interpreter' 126 "./orphan can't be run: its interpreter is missing" ./orphan

# ---- what passes through ------------------------------------------------------------------------------
for number in 0 1 7 125 255; do
	run "$victim" exit $number
	same "exit code $number" $number "$code"
done
run "$victim" signal 15
same 'SIGTERM' 143 "$code"
run -- "$victim" arguments a '' 'b  c' --dry-run '*'
same 'arguments' '[a][][b  c][--dry-run][*]' "$out"
same 'standard input' 'from here' "$(echo 'from here' | "$nsched" run "$victim" copy)"
run ./script a
same 'a script' '0 script a' "$code $out"
run ./bare
same 'a script without a first line' '0 no first line' "$code $out"
PATH=$work:$PATH run script b
same 'found in PATH' '0 script b' "$code $out"

# ---- the environment ----------------------------------------------------------------------------------
# finds WHAT EXPECTED ARGUMENTS -- VARIABLES: the program's view of these variables
finds()
{
	what=$1 expected=$2
	shift 2
	run "$@"
	same "$what" "$expected" "$(echo "$out" | tr '\n' ' ' | sed 's/ $//')"
}
show="$victim environment"
# shellcheck disable=SC2086
{
	finds 'plugin' "OMP_TOOL_LIBRARIES=$plugin NSCHED_TOOL_LIBRARIES=(unset)" $show OMP_TOOL_LIBRARIES NSCHED_TOOL_LIBRARIES
	OMP_TOOL_LIBRARIES=a.so:b.so finds 'other tools' \
		"OMP_TOOL_LIBRARIES=$plugin:a.so:b.so NSCHED_TOOL_LIBRARIES=a.so:b.so" $show OMP_TOOL_LIBRARIES NSCHED_TOOL_LIBRARIES
	OMP_TOOL_LIBRARIES=a.so NSCHED_TOOL_LIBRARIES=c.so finds 'tools chained by hand' \
		"OMP_TOOL_LIBRARIES=$plugin:a.so NSCHED_TOOL_LIBRARIES=c.so" $show OMP_TOOL_LIBRARIES NSCHED_TOOL_LIBRARIES
	finds 'preload' "LD_PRELOAD=$preload" $show LD_PRELOAD
	LD_PRELOAD=libc.so.6 finds 'other preloads' "LD_PRELOAD=$preload:libc.so.6" $show LD_PRELOAD
	finds 'all threads' 'NSCHED_THREADS=all' $show NSCHED_THREADS
	NSCHED_THREADS=registered finds 'not all threads' 'NSCHED_THREADS=registered' $show NSCHED_THREADS
	finds 'not all threads' 'NSCHED_THREADS=registered' --option threads=registered $show NSCHED_THREADS
	finds 'nothing else' 'NSCHED_POLICY=(unset) NSCHED_REPORT=(unset) NSCHED_DRY_RUN=(unset) NSCHED_VERBOSE=(unset)' \
		$show NSCHED_POLICY NSCHED_REPORT NSCHED_DRY_RUN NSCHED_VERBOSE
	finds 'short ways' 'NSCHED_POLICY=stay NSCHED_REPORT=- NSCHED_DRY_RUN=1' \
		--policy=stay --report --dry-run $show NSCHED_POLICY NSCHED_REPORT NSCHED_DRY_RUN
	finds 'options' 'NSCHED_POLICY=joint NSCHED_INTERVAL_MS=50 NSCHED_SAMPLE_HZ=0' --policy stay \
		--option policy=joint --option interval_ms=50ms --option=sample_hz=0 $show NSCHED_POLICY NSCHED_INTERVAL_MS NSCHED_SAMPLE_HZ
	NSCHED_POLICY=stay finds 'the command line wins' 'NSCHED_POLICY=joint' --policy joint $show NSCHED_POLICY
	NSCHED_POLICY=stay finds 'the environment stays' 'NSCHED_POLICY=stay' $show NSCHED_POLICY

	cpus=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
	finds 'mask' "NSCHED_LAUNCH_CPUS=$cpus" $show NSCHED_LAUNCH_CPUS
	one=${cpus%%[-,]*}
	same 'narrow mask' "NSCHED_LAUNCH_CPUS=$one" "$(taskset -c "$one" "$nsched" run $show NSCHED_LAUNCH_CPUS)"
	# shellcheck disable=SC2016
	finds 'it becomes the program' 'yes' sh -c '[ "$NSCHED_LAUNCH_PID" = $$ ] && echo yes'
	finds 'twice' "OMP_TOOL_LIBRARIES=$plugin NSCHED_TOOL_LIBRARIES=(unset) LD_PRELOAD=$preload" \
		"$nsched" run "$nsched" run $show OMP_TOOL_LIBRARIES NSCHED_TOOL_LIBRARIES LD_PRELOAD

	# ---- the report's name
	finds 'absolute' "NSCHED_REPORT=/tmp/r.json" --report=/tmp/r.json $show NSCHED_REPORT
	finds 'relative' "NSCHED_REPORT=$work/folder/r.json" --report=folder/r.json $show NSCHED_REPORT
	finds 'none' 'NSCHED_REPORT=' --report= $show NSCHED_REPORT
	NSCHED_REPORT=r.json finds 'from the environment' "NSCHED_REPORT=$work/r.json" $show NSCHED_REPORT
	finds 'machine' "NSCHED_REPORT=$work/$(uname -n)-%.json" --report=%h-%%.json $show NSCHED_REPORT
	# shellcheck disable=SC2016
	finds 'process' 'yes' --report=%p.json sh -c '[ "$NSCHED_REPORT" = "$PWD/$$.json" ] && echo yes'
	finds 'the same process twice' "NSCHED_REPORT=$work/r.json" --report=r.json "$nsched" run $show NSCHED_REPORT
	# shellcheck disable=SC2016
	finds 'a launcher below a launcher' 'yes' --report=r.json \
		sh -c '"$1" run sh -c "[ \"\$NSCHED_REPORT\" = \"$PWD/r.\$\$.json\" ] && echo yes"; true' sh "$nsched"
}

# variables of a launcher, and the report's name that each rank gets from "r.json"
while read -r variables name; do
	# shellcheck disable=SC2046,SC2086
	got=$(env $(echo "$variables" | tr ';' ' ') "$nsched" run --report=r.json $show NSCHED_REPORT)
	same "rank by $variables" "NSCHED_REPORT=$work/$name" "$got"
done <<'END'
OMPI_COMM_WORLD_RANK=3;OMPI_COMM_WORLD_SIZE=4                            r.rank3.json
OMPI_COMM_WORLD_RANK=0;OMPI_COMM_WORLD_SIZE=1                            r.json
PMI_RANK=2;PMI_SIZE=8                                                    r.rank2.json
PALS_RANKID=5                                                            r.rank5.json
FLUX_TASK_RANK=6;FLUX_JOB_SIZE=7                                         r.rank6.json
SLURM_PROCID=1;SLURM_NTASKS=2;SLURM_STEP_ID=0                            r.rank1.json
SLURM_PROCID=0;SLURM_NTASKS=2                                            r.json
SLURM_PROCID=0;SLURM_NTASKS=2;SLURM_STEP_ID=0;PMI_RANK=1;PMI_SIZE=2      r.rank1.json
END
# shellcheck disable=SC2086
same 'rank by hand' "NSCHED_REPORT=$work/7-of.json" \
	"$(PMI_RANK=7 PMI_SIZE=8 "$nsched" run --report=%r-of.json $show NSCHED_REPORT)"

# ---- programs that can't be served run all the same -----------------------------------------------------
unserved()
{
	run "$@"
	same "$1 runs" 0 "$code"
}
printf 'int main(void) { return 0; }\n' >empty.c
if ${CC:-cc} -static -o static empty.c 2>/dev/null; then
	unserved ./static
	same 'static' "nsched: ./static is statically linked: nsched can't serve it; it runs without" "$err"
fi
if ${CC:-cc} -static-pie -o staticpie empty.c 2>/dev/null; then
	unserved ./staticpie
	same 'static-pie' "nsched: ./staticpie is statically linked: nsched can't serve it; it runs without" "$err"
fi
if ${CC:-cc} -fsanitize=address -o asan empty.c 2>/dev/null && ldd asan | grep -q libasan && ./asan; then
	unserved ./asan
	holds 'asan' "$err" 'nsched: ./asan has AddressSanitizer'
fi
if [ "$(id -u)" = 0 ]; then
	cp "$victim" secure && chown nobody secure && chmod 4755 secure
	unserved ./secure exit 0
	holds 'setuid' "$err" "nsched: ./secure runs with other rights than yours"
fi
printf '\177ELF' >short
head -c 64 "$victim" >"cut"
chmod +x short cut
refused 'a damaged program' 126 "./cut can't be run: Exec format error" ./cut
run ./short
same 'hardly a program' 1 $((code == 126 || code == 127))
cp "$victim" foreign
printf '\001' | dd of=foreign bs=1 seek=4 conv=notrunc 2>/dev/null # EI_CLASS: 32 bit
run ./foreign
holds 'another processor' "$err" 'nsched: ./foreign is for another kind of processor'

cp -r moved 'mo ved'
nsched="$work/mo ved/bin/nsched"
unserved "$victim" environment LD_PRELOAD
same 'a space in the path' 'LD_PRELOAD=(unset)' "$out"
holds 'a space in the path' "$err" "can't be preloaded: its path has a space or a colon"
finish
