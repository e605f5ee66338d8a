#!/bin/sh
# compile.sh: a job like a kernel's compilation: `make -j` over many small files, each by a compiler of its own.
#     compile.sh FILES JOBS [bound]      bound: file N by CPUs and memory of node N modulo the number of nodes
set -eu
files=$1 jobs=$2 bound=${3-}
work=$(mktemp -d /tmp/bench-compile.XXXXXX)
trap 'rm -rf "$work"' EXIT
cd "$work"
nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l)
i=0
while [ $i -lt "$files" ]; do
	printf 'int f%d(int a, const int *b) { int s = 0; for (int i = 0; i < a; i++) s += b[i] * i; return s; }\n' $i >$i.c
	i=$((i + 1))
done
{
	echo "all: $(seq -s ' ' 0 $((files - 1)) | sed 's/\([0-9]*\)/\1.o/g')"
	# shellcheck disable=SC2016  # for make
	if [ "$bound" ]; then
		printf '%%.o: %%.c\n\tn=$$(( $* %% %d )) && numactl --cpunodebind=$$n --membind=$$n cc -c -O0 -o $@ $<\n' "$nodes"
	else
		printf '%%.o: %%.c\n\tcc -c -O0 -o $@ $<\n'
	fi
} >Makefile
if [ -e /run/numabox/mark ]; then /run/numabox/mark 1; fi
begin=$(date +%s.%N)
make -s -j"$jobs" all
end=$(date +%s.%N)
if [ -e /run/numabox/mark ]; then /run/numabox/mark 0; fi
echo "bench: took $(echo "$begin $end" | awk '{ printf "%.3f", $2 - $1 }')"
