#!/bin/sh
# The MPI plugins can be preloaded into anything: they need the C library alone, leave no symbol to be found
# later, and a program that knows nothing of MPI does not notice them.
. "${srcdir:-.}/tests/tools/harness.sh"
plugins=0
for plugin in "$build"/.libs/libnsched_mpi_*.so; do
	[ -e "$plugin" ] || continue
	plugins=$((plugins + 1))
	name=$(basename "$plugin")
	same "$name needs" 'libc.so.6' "$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v '^ld-linux' | sort | tr '\n' ' ' | sed 's/ $//')"
	same "$name leaves open" '' "$(nm -D -u "$plugin" | awk '{ print $NF }' | grep -i mpi)"
	same "$name: in a program without MPI" hello "$(LD_PRELOAD=$plugin LD_BIND_NOW=1 NSCHED_REPORT=$work/r sh -c 'echo hello' 2>&1)"
	same "$name: no report of such a program" '' "$(ls "$work")"
done
if [ "$plugins" -eq 0 ]; then
	echo 'SKIP: no MPI plugin was built'
	exit 77
fi
finish
