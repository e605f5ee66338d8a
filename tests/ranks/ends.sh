#!/bin/bash
# ends.sh NSCHED FOLDER [SECONDS]: jobs of Open MPI that end badly, or oddly, end the same under nsched, and leave nothing behind.
# In FOLDER are `team` (pthreads), `team-gcc` and `abort` (MPI), built from the sources beside this script; each job runs for SECONDS.
# Says a line a case; its exit status is the number of cases that differ.
set -u
nsched=$1 folder=$2 seconds=${3:-3} failed=0 under=''
cd "$folder" || exit 99
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
# shellcheck disable=SC2016  # for the shell of the rank
rank='$OMPI_COMM_WORLD_RANK'
team="./team-gcc $seconds 1 2"

left() { find /dev/shm -maxdepth 1 -name 'nsched-board-*' -user "$(id -un)" | wc -l; }

# compare WHAT: the function `job` without and with nsched before the programs
compare()
{
	local without with remains
	under='' job >without.out 2>&1
	without=$?
	under="$nsched run" job >with.out 2>&1
	with=$?
	"$nsched" run true
	remains=$(left)
	if [ $without -eq $with ] && [ "$remains" -eq 0 ]; then
		echo "ok: $1: $with"
	else
		echo "FAILED: $1: without nsched $without, with it $with; left in /dev/shm: $remains"
		tail -n 5 with.out
		failed=$((failed + 1))
	fi
}

# one MPMD part of two, with and without nsched
mpirun() { mpirun.openmpi "$@"; }
# shellcheck disable=SC2086
{
	job() { mpirun -np 2 $under sh -c "exit $rank"; }
	compare 'a rank fails'
	for victim in 0 1; do
		job() { mpirun -np 2 $under sh -c "if [ $rank = $victim ]; then (sleep 1; kill -9 \$\$) & fi; exec $team"; }
		compare "rank $victim is killed"
	done
	job() { mpirun -np 2 $under ./abort $seconds; }
	compare 'MPI_Abort'
	job() { mpirun -np 2 $under ./team $seconds 1 2; }
	compare 'nobody calls MPI_Init'
	job() { mpirun -np 2 $under sh -c "[ $rank = 1 ] && exec ./team 1 1 1; exec ./team $seconds 1 2"; }
	compare 'ranks that differ'
	job() { mpirun -np 1 $under $team : -np 1 $team; }
	compare 'only half of the ranks have nsched'
	job()
	{
		mpirun -np 2 $under $team &
		mpirun -np 2 $under $team
		local status=$?
		wait $! && return $status
	}
	compare 'two jobs at once'
	job()
	{
		mpirun.openmpi -np 2 $under $team &
		local pid=$!
		sleep 1
		kill -9 $pid
		wait $pid
		local status=$?
		sleep $((seconds + 1)) # its ranks outlive it
		return $status
	}
	compare 'mpirun is killed'
	if [ -n "${NUMABOX-}" ]; then # nobody else's, there
		export OMPI_MCA_btl_vader_backing_directory=/tmp
		dd if=/dev/zero of=/dev/shm/full bs=1M 2>/dev/null
		job() { mpirun -np 2 $under $team; }
		compare '/dev/shm is full'
		rm /dev/shm/full
	fi
}
exit $failed
