#!/bin/sh
# What the MPI plugins cost: a wrapped call above one passed straight to the library, and their part of MPI_Init.
# ROUNDS and STARTS in the environment: more are quieter (300 rounds, 15 starts).
. "${srcdir:-.}/tests/mpi/mpi.sh"

# Aims: so many ns a call, and so many ms in MPI_Init (the plugin's own time, also where it opens the core).
# Failure is twice the first, so that a disturbed machine does not fail.
call_ns=25
init_ms=3


calls()
{
	rounds=${ROUNDS:-300}
	level=$1
	echo "$family, $2: ns a call, straight and wrapped"
	"$launcher" -np 1 env "$3" "LD_PRELOAD=$plugin" "$build/tests/bench/mpi_calls-$short" "$rounds" $level >"$work/figures" || exit 99
	awk -v aim=$call_ns -v judge="$4" '
		$1 == "MPI_Init" { next }
		{ more = $3 - $2; printf "  %-12s %7.1f %7.1f  %+6.1f\n", $1, $2, $3, more; if (more > most) most = more }
		END { printf "  most: %+.1f (aim: %d)\n", most, aim; exit judge && most > 2 * aim }' "$work/figures" || failed=1
}

# The least of MPI_Init without and with the plugin, run in turns, and the plugin's own time by its report:
# without a choice of nodes (the core is not opened), and with one (a copy of the plugin that looks at a machine
# made of files).
starts()
{
	mkdir -p "$work/lib" "$work/root/proc/self" "$work/root/sys/devices/system/node/node0" "$work/root/sys/devices/system/node/node1"
	ln -sf "$(readlink -f "$build/.libs/libnsched.so.0")" "$work/lib/libnsched.so.0"
	cp "$(built tests/mpi/on_files_$short.so)" "$work/lib/libnsched_mpi.so"
	echo 0-1 >"$work/root/sys/devices/system/node/online"
	echo 0 >"$work/root/sys/devices/system/node/node0/cpulist"
	echo 1 >"$work/root/sys/devices/system/node/node1/cpulist"
	printf 'Cpus_allowed_list:\t0-1\nMems_allowed_list:\t0-1\n' >"$work/root/proc/self/status"
	: >"$work/starts"
	for i in $(seq "${STARTS:-15}"); do
		one_start without /nowhere "$plugin" NSCHED_MPI=0
		one_start plugin "$work/r$i.json" "$plugin" NSCHED_MPI=1
		one_start opened "$work/o$i.json" "$work/lib/libnsched_mpi.so" NSCHED_MPI=1
	done
	jq -r '"own_plugin \(.exchange.start_ns)"' "$work"/r*.json >>"$work/starts"
	jq -r '"own_opened \(.exchange.start_ns)"' "$work"/o*.json >>"$work/starts"
	awk -v family="$family" -v aim=$init_ms '
		{ if (!($1 in least) || $2 < least[$1]) least[$1] = $2; if ($2 > most[$1]) most[$1] = $2 }
		END {
			printf "%s, MPI_Init: at the least %.2f ms passed through, %.2f ms counting, %.2f ms with the core opened\n",
				family, least["without"] / 1e6, least["plugin"] / 1e6, least["opened"] / 1e6
			printf "  own time: %.3f to %.3f ms counting, %.3f to %.3f ms with the core opened (aim: %d)\n",
				least["own_plugin"] / 1e6, most["own_plugin"] / 1e6, least["own_opened"] / 1e6, most["own_opened"] / 1e6, aim
			exit least["own_opened"] > aim * 1e6
		}' "$work/starts" || failed=1
}

one_start()
{
	(cd "$work" && "$launcher" -np 1 env "NSCHED_REPORT=$2" "LD_PRELOAD=$3" "$4" "$build/tests/bench/mpi_calls-$short" 0 |
		awk -v name="$1" '$1 == "MPI_Init" { print name, $3 }' >>"$work/starts")
}

any=0
for name in openmpi mpich; do
	family $name || continue
	any=1
	calls '' 'counting' "NSCHED_REPORT=$work/calls.json" 1
	calls multiple 'counting, from several threads' "NSCHED_REPORT=$work/calls.json" 1
	calls '' 'passed through' NSCHED_MPI=0 0
	starts
done
[ "$any" = 1 ] || echo 'SKIP: no MPI plugin, or nothing to start its programs with'
exit "$failed"
