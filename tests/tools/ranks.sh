#!/bin/sh
# Ranks of one machine under `nsched run`: they meet, share the CPUs, and leave nothing behind. The launcher
# is this script, with the variables of Open MPI's; real launchers are at the end, where they are installed.
# With a /dev/shm of its own, so that it counts no boards of others' jobs
if [ -z "${RANKS_SH_PRIVATE-}" ] && unshare -m sh -c 'mount -t tmpfs none /dev/shm' 2>/dev/null; then
	RANKS_SH_PRIVATE=1 exec unshare -m sh -c 'mount -t tmpfs none /dev/shm && exec sh "$0"' "$0"
fi
. "${srcdir:-.}/tests/tools/harness.sh"

victim=$(built tests/tools/victim)
mkdir -p "$work/moved/tools" "$work/moved/.libs"
cp "$build/tools/nsched" "$work/moved/tools/nsched"
cp "$(built libnsched_preload.so)" "$work/moved/.libs/libnsched_preload.so"
: >"$work/moved/.libs/libnsched_ompt.so"
cd "$work" || exit 99
nsched=$work/moved/tools/nsched
for name in $(env | sed -n 's/^\(OMPI_[A-Za-z0-9_]*\|PMI[A-Za-z0-9_]*\|MPI_[A-Za-z0-9_]*\|SLURM_[A-Za-z0-9_]*\|OMP_[A-Za-z0-9_]*\)=.*/\1/p'); do
	unset "$name"
done

# The first two CPUs of our mask
cpus=$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{ for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i }')
first=$(echo "$cpus" | sed -n 1p) second=$(echo "$cpus" | sed -n 2p)
[ -n "$second" ] || { echo "skipped: there is one CPU, and nothing to share"; exit 77; }

# left: our boards in /dev/shm
left() { find /dev/shm -maxdepth 1 -name "nsched-board-*" -user "$(id -un)" 2>/dev/null | wc -l; }

# A launcher: job RANKS CPUS COMMAND..., each rank with CPUS as its mask (a word a rank, the last one's for the rest); what rank N prints is in
# out.N and err.N. Run as a shell of its own, it is the ranks' parent, as mpirun is.
cat >job <<'END'
ranks=$1 masks=$2 rank=0
shift 2
while [ $rank -lt "${started:-$ranks}" ]; do
	mask=${masks%% *}
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$ranks OMPI_COMM_WORLD_LOCAL_RANK=$rank OMPI_COMM_WORLD_LOCAL_SIZE=$ranks \
		PMIX_NAMESPACE=1 taskset -c "$mask" "$@" >out.$rank 2>err.$rank &
	masks=${masks#* } rank=$((rank + 1))
done
wait
END

# shares WHAT EXPECTED RANKS CPUS RUN-OPTIONS...: "mask mask ..." of all ranks, and what rank 0 and the others said
shares()
{
	what=$1 expected=$2 ranks=$3 masks=$4
	shift 4
	rm -f out.* err.*
	taskset -c "$first,$second" sh job "$ranks" "$masks" "$nsched" run "$@" "$victim" environment NSCHED_LAUNCH_CPUS
	same "$what" "$expected" "$(cat out.* | sed 's/NSCHED_LAUNCH_CPUS=//' | tr '\n' ' ' | sed 's/ $//')"
	said=$(cat err.0)
	others=$(cat err.[1-9] 2>/dev/null)
}
both="$first,$second"
[ "$second" = $((first + 1)) ] && both="$first-$second"

before=$(left)
shares 'they share what all were given' "$first $second" 2 "$both"
same 'and say nothing' '' "$said$others"
same 'and leave nothing' "$before" "$(left)"
shares 'each keeps what it alone was given' "$first $second" 2 "$first $second"
shares 'nothing is divided that is not to be' "$both $both" 2 "$both" --option shares=keep
shares 'one rank has all' "$both" 1 "$both"
shares 'more ranks than CPUs' "$both $both $both" 3 "$both"

# ---- the jam: all on one CPU, threads that want more ------------------------------------------------
export OMP_NUM_THREADS=2
shares 'bound for a reason that is not known' "$first $first" 2 "$first"
same 'it is said once' 'nsched: 2 ranks were bound to 1 CPU each for several threads, which may be meant; --widen gives them all that Open MPI may use' "$said$others"
shares '--widen' "$first $second" 2 "$first" --widen
export OMPI_MCA_orte_bound_at_launch=1
shares 'bound by default' "$first $second" 2 "$first"
same 'it is said once' "nsched: 2 ranks were bound to 1 CPU each for several threads, by the launcher's default; the CPUs are now $first, $second" "$said$others"
shares 'a rank alone' "$both" 1 "$first"
export OMPI_MCA_hwloc_base_binding_policy=core
shares 'bound as the user wanted' "$first $first" 2 "$first"
unset OMPI_MCA_hwloc_base_binding_policy OMP_NUM_THREADS
shares 'no threads, no jam' "$first $first" 2 "$first"
same 'nothing to say' '' "$said$others"
unset OMPI_MCA_orte_bound_at_launch

# ---- what the program finds --------------------------------------------------------------------------
taskset -c "$both" sh job 3 "$both" "$nsched" run "$victim" environment OMP_NUM_THREADS OMPI_MCA_mpi_yield_when_idle NSCHED_EXPORTED
same 'more ranks than CPUs: they take turns' \
	'OMP_NUM_THREADS=1 OMPI_MCA_mpi_yield_when_idle=1 NSCHED_EXPORTED=OMPI_MCA_mpi_yield_when_idle,OMP_NUM_THREADS' \
	"$(tr '\n' ' ' <out.2 | sed 's/ $//')"
OMP_NUM_THREADS=5 taskset -c "$both" sh job 3 "$both" "$nsched" run "$victim" environment OMP_NUM_THREADS
same 'what the user set stands' 'OMP_NUM_THREADS=5' "$(cat out.1)"
taskset -c "$both" sh job 2 "$both" "$nsched" run "$victim" environment OMP_NUM_THREADS NSCHED_EXPORTED
same 'else nothing is set' 'OMP_NUM_THREADS=(unset) NSCHED_EXPORTED=(unset)' "$(tr '\n' ' ' <out.1 | sed 's/ $//')"

# ---- those who do not come -----------------------------------------------------------------------------
started=1 taskset -c "$both" sh job 2 "$both" "$nsched" run "$victim" environment NSCHED_LAUNCH_CPUS
same 'without the others, what it was given' "NSCHED_LAUNCH_CPUS=$both" "$(cat out.0)"
same 'their board is still there' $((before + 1)) "$(left)"
"$nsched" run true
same 'the next run sweeps it' "$before" "$(left)"
# the launcher, and a rank that waits for another, are killed
started=1 taskset -c "$both" sh job 2 "$both" "$nsched" run sleep 60 &
launcher=$!
until [ "$(left)" -gt "$before" ]; do sleep 0.05; done
rank=$(pgrep -P $launcher)
kill -9 $launcher "$rank"
wait $launcher 2>/dev/null
"$nsched" run true
same 'a killed job leaves nothing' "$before" "$(left)"

# ---- no room ----------------------------------------------------------------------------------------------
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	for shm in 'mount -t tmpfs -o size=4k none /dev/shm' 'mount -t tmpfs -o ro none /dev/shm'; do
		rm -f out.* err.*
		unshare -m sh -c "$shm && exec taskset -c $both sh job 2 $both $nsched run $victim exit 3; " 2>/dev/null
		unshare -m sh -c "$shm && exec taskset -c $both sh job 2 $both $nsched run $victim environment NSCHED_LAUNCH_CPUS"
		same "$shm" "NSCHED_LAUNCH_CPUS=$both NSCHED_LAUNCH_CPUS=$both" "$(cat out.* err.* | tr '\n' ' ' | sed 's/ $//')"
	done
fi

# ---- launchers as they are ---------------------------------------------------------------------------------
# real WHAT LAUNCHER...: exit codes, and what is left
real()
{
	what=$1
	shift
	"$@" "$nsched" run "$victim" exit 7 >out 2>err
	same "$what: exit code" 7 $?
	"$@" "$nsched" run ./missing >out 2>err
	same "$what: no program" 127 $?
	same "$what: nothing is left" "$before" "$(left)"
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
# MPICH's own mpiexec does not end the standard input of a second rank: one is enough to see that it passes
for launcher in mpirun.openmpi mpiexec.hydra; do
	command -v $launcher >/dev/null || continue
	real $launcher $launcher -np 2
	same "$launcher: standard input" 'from here' "$(echo 'from here' | $launcher -np 1 "$nsched" run "$victim" copy 2>err)"
done
finish
