# Read by the scripts beside it: MPI's families and launchers, ranks with the plugin and an auditor, and whether
# the two agree.
# shellcheck shell=sh
. "${srcdir:-.}/tests/tools/harness.sh"
# As root and with more ranks than CPUs, here; ranks that wait give their CPU away.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
here=$(cd "$srcdir/tests/mpi" && pwd)
export WORK="$work"

# The launcher of a family, "" if there is none: Debian has both side by side.
launcher_of()
{
	for name in "mpirun.$1" mpiexec.hydra mpirun mpiexec; do
		command -v "$name" >/dev/null || continue
		version=$("$name" --version 2>&1)
		case $1:$version in
		openmpi:*"Open MPI"* | openmpi:*OpenRTE* | mpich:*HYDRA* | mpich:*Hydra*)
			echo "$name"
			return
			;;
		esac
	done
}

# family NAME: what runs its programs. False where it was not built, or can't be run.
family()
{
	family=$1
	case $1 in
	openmpi) short=ompi most=4 ;;
	mpich) short=mpich most=2 ;; # its ranks never give their CPU away while they wait
	esac
	plugin=$build/.libs/libnsched_mpi_$short.so
	launcher=$(launcher_of "$1")
	[ -e "$plugin" ] && [ -n "$launcher" ]
}

# ranks N PROGRAM...: a job with plugin and auditor, its files in $work afterwards
ranks()
{
	n=$1
	shift
	rm -f "$work"/report.* "$work"/expected.* "$work"/audit.*
	PLUGIN=${PLUGIN-$plugin} AUDITOR=${AUDITOR-$auditor} "$launcher" -np "$n" "$here/rank" "$@" >"$work/out" 2>"$work/err" </dev/null
	code=$?
}

# In small letters, as the auditor has them
wrapped_calls() { nm -D --defined-only "$plugin" | sed -n 's/.* MPI_//p' | tr '[:upper:]' '[:lower:]' | LC_ALL=C sort; }
calls_counted() { jq -r '.exchange.calls | to_entries[] | "\(.key | ascii_downcase) \(.value)"' "$1" | LC_ALL=C sort; }
calls_made() { "$reader" "$1" | LC_ALL=C sort | LC_ALL=C join - "$work/wrapped"; }
row_counted() { jq -r '.exchange.sent[] | "\(.rank) \(.bytes) \(.messages)"' "$1"; }

# agrees WHAT N: N ranks have reported, each counted what its auditor did, and sent what it expected to,
# where it said. Sets $made, the calls of all.
agrees()
{
	found=0 made=0
	wrapped_calls >"$work/wrapped"
	for report in "$work"/report.*.json; do
		[ -e "$report" ] || continue
		found=$((found + 1))
		pid=${report#"$work"/report.} pid=${pid%.json}
		counted=$(calls_counted "$report")
		made=$((made + $(echo "$counted" | awk '{ n += $2 } END { print n + 0 }')))
		same "$family, $1: the calls of a rank" "$(calls_made "$work/audit.$pid")" "$counted"
		[ ! -e "$work/expected.$pid" ] || [ ! -s "$work/expected.$pid" ] ||
			same "$family, $1: the row of a rank" "$(cat "$work/expected.$pid")" "$(row_counted "$report")"
	done
	same "$family, $1: ranks that report" "$2" "$found"
	[ "$made" -gt 0 ] || [ "$2" -eq 0 ] || fail "$family, $1: nothing was counted"
}
