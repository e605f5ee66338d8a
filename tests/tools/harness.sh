# Read by the scripts beside it: a folder of their own, the programs under test, and what counts cases.
# shellcheck shell=sh
set -u
build=$(pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/nsched-test.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
cases=0 failed=0

# One word a variable: what a user's or a build machine's shell may have set must not reach the cases.
for name in $(env | sed -n 's/^\(NSCHED_[A-Za-z0-9_]*\)=.*/\1/p'); do unset "$name"; done
unset OMP_TOOL OMP_TOOL_LIBRARIES LD_PRELOAD

# libtool's folder of a library or program that `make` has built
built()
{
	if [ -e "$build/$(dirname "$1")/.libs/$(basename "$1")" ]; then
		echo "$build/$(dirname "$1")/.libs/$(basename "$1")"
	else
		echo "$build/$1"
	fi
}

fail()
{
	failed=$((failed + 1))
	echo "FAIL: $*"
}

# same WHAT EXPECTED GOT
same()
{
	cases=$((cases + 1))
	if [ "$2" != "$3" ]; then
		fail "$1"
		printf '  expected: %s\n  got:      %s\n' "$2" "$3"
	fi
}

# holds WHAT TEXT PART: the text contains the part
holds()
{
	cases=$((cases + 1))
	case $2 in
	*"$3"*) ;;
	*)
		fail "$1"
		printf '  not in it: %s\n  text:      %s\n' "$3" "$2"
		;;
	esac
}

finish()
{
	echo "$cases checks, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
