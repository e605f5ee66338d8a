#!/bin/sh
# What `nsched run` takes of a rank's start, with 4 ranks on this machine: `make bench-ranks`. For each of some jobs the slowest
# rank's time from before nsched run to the end of `true`, without and with it; medians and extremes.
set -u
nsched=${1:-tools/nsched} jobs=${2:-11}
command -v mpirun.openmpi >/dev/null || { echo 'skipped: Open MPI is not installed'; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# shellcheck disable=SC2016
rank='begin=$(date +%s%N); "$@"; end=$(date +%s%N); echo $((end - begin))'

# of COMMAND...: the slowest rank of each job, in ms
of()
{
	for _ in $(seq "$jobs"); do
		mpirun.openmpi --oversubscribe -np 4 sh -c "$rank" sh "$@" | sort -n | tail -n 1
	done | sort -n | awk '{ ms[NR] = $1 / 1e6 } END { printf "%.1f ms (%.1f to %.1f)", ms[int((NR + 1) / 2)], ms[1], ms[NR] }'
}
echo "4 ranks, $jobs jobs, the slowest rank of each: without $(of true), with nsched run $(of "$nsched" run true)"
