#!/bin/sh
# Whatever becomes of ranks, a job ends as it would without nsched: what it prints, its exit code.
# usage: ends.sh openmpi|mpich
. "${srcdir:-.}/tests/mpi/mpi.sh"
auditor=$(built tests/mpi/audit.so) reader=$(built tests/mpi/audit_read)
if ! family "$1"; then
	echo "SKIP: no plugin for $1, or nothing to start its programs with"
	exit 77
fi
program=$build/tests/mpi/life-$short

# lives WAY REPORTS: two ranks, without the plugin and with it; so many report, with counts that agree
lives()
{
	PLUGIN='' ranks 2 "$program" "$1"
	without=$(how "$1")
	ranks 2 "$program" "$1"
	same "$family, $1: as without" "$without" "$(how "$1")"
	agrees "$1" "$2"
}

# The exit code, and what was printed: where ranks are killed, the launcher may lose what others have just said.
how()
{
	case $1 in
	abort | kill | quit) echo "$code" ;;
	*) echo "$code $(sort "$work/out")" ;;
	esac
}

lives all-is-well 2
lives never 0
# MPICH's launcher kills the other ranks when one ends so: whether in time, and with which code, is chance, with and without
[ "$family" = mpich ] || lives quit 2
lives abort 0
lives kill 0
lives fork 2
lives jump 2
if [ "$family" = openmpi ]; then # MPICH's spawning fails as Debian has built it, with and without
	lives spawn 2
	same "$family, spawn: what went out of the job" '-1 4 1' "$(cat "$work"/report.*.json | jq -r '.exchange.sent[] | select(.rank < 0) | "\(.rank) \(.bytes) \(.messages)"')"
fi
if nm -D "$program" | grep -q MPI_Session_init; then
	lives session 2
	same "$family, session: the job is known" '2' "$(jq .ranks "$work"/report.*.json | sort -u)"
fi

# ---- half the ranks have the plugin: their rows are right, the others' are not there
PLUGIN_RANKS=0 lives half 1
same "$family, half: its rank" 0 "$(jq .rank "$work"/report.*.json)"
same "$family, half: its row" '1 8 2' "$(row_counted "$work"/report.*.json)"

# ---- with a choice of nodes: the core is opened at the start, told of the messages and that masks may have
# changed, also where ranks were reordered; here it only writes down its calls
mkdir -p "$work/lib" "$work/root/proc/self"
cp "$(built tests/mpi/on_files_$short.so)" "$work/lib/libnsched_mpi.so"
cp "$(built tests/tools/fake_core.so)" "$work/lib/libnsched.so.0"
mkdir -p "$work/root/sys/devices/system/node"
for node in 0 1; do
	mkdir "$work/root/sys/devices/system/node/node$node"
	echo $node >"$work/root/sys/devices/system/node/node$node/cpulist"
done
echo 0-1 >"$work/root/sys/devices/system/node/online"
printf 'Cpus_allowed_list:\t0-1\nMems_allowed_list:\t0-1\n' >"$work/root/proc/self/status"
cd "$work" || exit 99
begun='first config_create;first open;first source 0 of 2;first masks_changed;first start;'
quit=quit
[ "$family" = openmpi ] || quit=
for way in all-is-well $quit; do
	rm -f log.*
	PLUGIN=$work/lib/libnsched_mpi.so AUDITOR='' ranks 2 "$program" $way
	same "$family, nodes, $way: rank 0's calls of the core" "${begun}first close;" "$(cat "$(grep -l 'source 0' log.*)" | tr '\n' ';')"
done
rm -f log.*
PLUGIN=$work/lib/libnsched_mpi.so AUDITOR='' ranks 2 "$build/tests/mpi/calls-$short"
same "$family, nodes: rank 0's calls of the core" "${begun}first masks_changed;first close;" \
	"$(cat "$(grep -l 'source 0' log.*)" | tr '\n' ';')"
cd "$build" || exit 99

# ---- by nsched run, which finds the right plugin itself, below and above the launcher
rm -f "$work"/r.*
"$launcher" -np 2 "$build/tools/nsched" run "--report=$work/r.json" "$program" >"$work/out" 2>"$work/err" </dev/null
same "$family, nsched run: exit code" 0 $?
for rank in 0 1; do
	same "$family, nsched run: rank $rank" "$rank $((1 - rank)) 8 2" \
		"$(jq -r '"\(.rank) \(.exchange.sent[] | "\(.rank) \(.bytes) \(.messages)")"' "$work/r.rank$rank.json" 2>&1)"
done
rm -f "$work"/r.*
"$build/tools/nsched" run "--report=$work/r.json" "$launcher" -np 2 "$program" >"$work/out" 2>"$work/err" </dev/null
same "$family, nsched run before the launcher: exit code" 0 $?
same "$family, nsched run before the launcher: both ranks report" '0 1' \
	"$(jq -r 'select(.exchange) | .rank' "$work"/r.*.json | sort | tr '\n' ' ' | sed 's/ $//')"
finish
