# Read by the live tests: what they run lies in a folder that any user may enter, and is run in the emulated
# machine (tests/numabox) of four nodes of two CPUs, with the timing model and without the kernel's own balancing.
# shellcheck shell=bash
# shellcheck disable=SC2034  # for those who read this
source=$(dirname "$(dirname "$(dirname "$(realpath "${BASH_SOURCE[0]}")")")")
build=$PWD
[ -e "$build/config.status" ] || build=$source/build
test=$(basename "$0")
kept=$build/tests/live/results # figures, reports and what was printed stay here
tries=3
repeat_until_s=420 # of a test's own time: later, a run that the host was too busy for is not repeated

# shellcheck source=tests/live/figures.sh
. "$source/tests/live/figures.sh"

say() { echo "$test: $*"; }
skip() { say "skipped: $*"; exit 77; }
broken() { say "$*"; exit 99; }

# What a user's shell may have set must not reach the programs.
for name in $(compgen -e NSCHED_ | grep -v '^NSCHED_NUMABOX$') $(compgen -e OMP_) LD_PRELOAD; do unset "$name"; done

# need COMMAND PACKAGE
need() { command -v "$1" >/dev/null || skip "$1 is not installed (Debian: $2)"; }

# built FILE: what `make` made, where libtool put it
built()
{
	local hidden
	hidden=$build/$(dirname "$1")/.libs/$(basename "$1")
	if [ -e "$hidden" ]; then echo "$hidden"; else echo "$build/$1"; fi
}

# stage FILE...: copies of what `make` made, beside nsched and its libraries, in $stage
stage()
{
	local file
	[ -e "$build/.libs/libnsched.so" ] || broken "nothing is built in $build"
	stage=$(mktemp -d "${TMPDIR:-/tmp}/nsched-live.XXXXXX")
	trap 'rm -rf "$stage"' EXIT
	chmod 755 "$stage"
	mkdir -p "$stage"/{tools,.libs} "$kept"
	mkdir -m 777 "$stage/out"
	cp -P "$build"/.libs/libnsched*.so* "$stage/.libs/"
	for file in tools/nsched "$@"; do
		mkdir -p "$stage/$(dirname "$file")"
		cp "$(built "$file")" "$stage/$file" 2>/dev/null || broken "$file is not built"
	done
	plugin=$stage/.libs/libnsched_ompt.so
	nsched=$stage/tools/nsched
	cd "$stage" || exit 99
}

# in_box FILE USER COMMAND...: once; what it and the machine printed goes to FILE
in_box()
{
	local file=$1 user=$2 status=0
	shift 2
	NSCHED_NUMABOX=always "$source/tests/numabox/nodes-run" -n 4 -c 2 -M default -a sysctl.kernel.numa_balancing=0 \
		-u "$user" -w "$stage/out" -T 240 -- "$@" >"$file" 2>&1 || status=$?
	[ $status -ne 77 ] || skip "$(tail -n 1 "$file")"
	return $status
}

# measured FILE USER COMMAND...: again where the host was too busy. Its status; 75 where it was each time.
measured()
{
	local try status
	for ((try = 1; try <= tries; try++)); do
		status=0
		in_box "$@" || status=$?
		if [ $status -eq 125 ] || [ $status -eq 126 ]; then # the machine's failure, not the program's
			say "the emulated machine failed, try $try of $tries: $(tail -n 1 "$1")"
			continue
		fi
		if [ $status -ne 0 ]; then return $status; fi
		if kept_up "$1"; then return 0; fi
		say "the host was too busy (late_permille $(late_permille "$1")), try $try of $tries"
		[ $SECONDS -lt $repeat_until_s ] || break
	done
	return 75
}
