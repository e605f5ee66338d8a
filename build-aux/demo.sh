# Read by quickstart: the main job, without and with nsched, and what came of it.
# shellcheck shell=bash

demo=build/demo
demo_seconds=15
box_mib=8      # size of an array in the emulated machine, whose model has small caches and little memory
native_mib=256 # above the caches of real machines

# shellcheck source=tests/live/figures.sh
. tests/live/figures.sh

# Whom the program runs as: an ordinary user, who needs no more. From a folder that nobody may enter: its owner.
demo_user()
{
	if [ "$(id -u)" = 0 ] && setpriv --reuid nobody --clear-groups test -x "$PWD/build/tools/nsched" 2>/dev/null; then
		echo nobody
	else
		id -un
	fi
}

# on_nodes FILE COMMAND...: runs it on several nodes; what it and the machine print goes to FILE
on_nodes()
{
	local file=$1
	shift
	# shellcheck disable=SC2016  # for the inner shell
	tests/numabox/nodes-run -n 4 -c 2 -M default -a sysctl.kernel.numa_balancing=0 -u "$(demo_user)" -T 300 -- \
		sh -c 'echo "kernel.numa_balancing = $(cat /proc/sys/kernel/numa_balancing)"; exec "$@"' sh "$@" >"$file" 2>&1
}

# row WHAT WITHOUT WITH NOTE
row() { printf '  %-42s %9s %12s   %s\n' "$1" "${2:--}" "${3:--}" "$4"; }

after() { [ -z "$1" ] || echo "$1 s"; }

show_table()
{
	local more a=$demo/without.txt b=$demo/with.txt
	more=$(awk -v a="$(passes "$a")" -v b="$(passes "$b")" 'BEGIN { if (a > 0) printf "%.1f times as many", b / a }')
	if ! kept_up "$a" || ! kept_up "$b"; then more='does not count: this machine was too busy'; fi
	echo
	row '' 'without' 'with nsched' ''
	row "pages on their thread's node, at the end" "$(per_cent "$(pages_percent "$a")")" "$(per_cent "$(pages_percent "$b")")" ''
	row '  95 % of them were there after' "$(after "$(reached_s "$a")")" "$(after "$(reached_s "$b")")" ''
	[ "$1" = natively ] || row 'memory accesses that stayed on the node' "$(per_cent "$(served_permille "$a")" 10)" \
		"$(per_cent "$(served_permille "$b")" 10)" 'counted by the machine, last third'
	row "passes over the arrays in $demo_seconds s" "$(passes "$a")" "$(passes "$b")" "$more"
	echo
	if grep -qx 'kernel.numa_balancing = 0' "$a"; then
		say "The kernel's own NUMA balancing was off in both runs."
	else
		say "The kernel's own NUMA balancing was on in both runs."
	fi
	say "What nsched did, and why: $b"
	say "Next: build/tools/nsched run --report YOUR-PROGRAM, or README.md"
}

demo_failed()
{
	tail -n 20 "$1"
	say "The run failed; all that it printed: $1"
	exit 1
}

run_demo()
{
	local where=emulated mib=$box_mib result=0 kind
	if [ "$(count_nodes)" -ge 2 ] && [ "${NSCHED_NUMABOX:-auto}" != always ]; then where=natively mib=$native_mib; fi
	if ! grep -q '^OMP_CC = .' build/Makefile; then
		say 'There is no clang with LLVM'"'"'s OpenMP here, which the example needs. nsched is built: build/tools/nsched run --help'
		return
	fi
	step 'building the example' make -C build examples/triad
	mkdir -p "$demo"

	title 'A program on several NUMA nodes, without and with nsched'
	if [ "$where" = natively ]; then
		say "The machine: this one, with $(count_nodes) nodes."
	else
		say 'The machine: 4 nodes of 2 CPUs, emulated, since this one has a single node.'
	fi
	say "The program: examples/triad.c. Its first thread fills the arrays, so that all of its memory"
	say "is on one node, and the threads on the other nodes work on memory that is far away."
	for kind in without with; do
		local command=(build/examples/triad -m "$mib" -s "$demo_seconds" -v --laps) began=$SECONDS
		[ $kind = without ] || command=(build/tools/nsched run --report "${command[@]}")
		printf '  running it %s nsched ... ' $kind
		on_nodes "$demo/$kind.txt" "${command[@]}" || result=$?
		printf 'done (%d s)\n' $((SECONDS - began))
		if [ $result -eq 77 ]; then
			say "There is no machine to show it on: $(tail -n 1 "$demo/$kind.txt")"
			return
		fi
		[ $result -eq 0 ] || demo_failed "$demo/$kind.txt"
	done
	show_table $where
}
