#!/bin/sh
# Each MPI call is counted once, and charged to whom it goes to: in C and through each of Fortran's bindings,
# from several threads, from Python, in both families. usage: count.sh openmpi|mpich
. "${srcdir:-.}/tests/mpi/mpi.sh"
auditor=$(built tests/mpi/audit.so) reader=$(built tests/mpi/audit_read)
if ! family "$1"; then
	echo "SKIP: no plugin for $1, or nothing to start its programs with"
	exit 77
fi
programs=$build/tests/mpi

# agree WHAT N PROGRAM...: it runs, and all its ranks agree
agree()
{
	what=$1 n=$2
	shift 2
	ranks "$n" "$@"
	same "$family, $what: exit code" 0 "$code"
	agrees "$what" "$n"
}

agree 'all calls' "$most" "$programs/calls-$short"
if [ "$most" -gt 3 ]; then agree 'all calls, odd' 3 "$programs/calls-$short"; fi
agree 'patterns' "$most" "$programs/calls-$short" patterns
agree 'threads' 2 "$programs/threads-$short"
for binding in 1 2 3; do
	if [ -x "$programs/bindings$binding-$short" ]; then
		agree "Fortran $binding" 2 "$programs/bindings$binding-$short"
		# by hand, as the program says: nothing else would notice a mistake that the auditor shares
		same "$family, Fortran $binding: calls of both ranks" 108 "$made"
		same "$family, Fortran $binding: sends" '3' "$(jq '.exchange.calls.Send' "$work"/report.*.json | sort -u)"
	else
		echo "left out: Fortran binding $binding of $family has no compiler"
	fi
done
python=$(for name in /usr/bin/python3 python3; do "$name" -c 'import mpi4py' 2>/dev/null && echo "$name" && break; done)
if [ "$family" = openmpi ] && [ -n "$python" ] &&
	"$python" -c 'from mpi4py import rc; rc.initialize = False; from mpi4py import MPI; raise SystemExit("Open MPI" not in MPI.Get_library_version())' 2>/dev/null; then
	agree 'Python' 2 "$python" "$here/objects.py"
	same "$family, Python: messages received by their probe" 10 "$(jq '.exchange.calls.Mrecv' "$work"/report.*.json | awk '{ n += $1 } END { print n }')"
else
	echo "left out: no mpi4py for $family"
fi

# ---- a third opinion: Open MPI's own monitoring of what goes from rank to rank for the program (its lines E)
if [ "$family" = openmpi ]; then
	OMPI_MCA_pml_monitoring_enable=2 OMPI_MCA_pml_monitoring_enable_output=3 OMPI_MCA_pml_monitoring_filename="$work/monitor" \
		agree 'monitored' "$most" "$programs/calls-$short" messages
	rows=0
	for report in "$work"/report.*.json; do
		rank=$(jq .rank "$report")
		[ -e "$work/monitor.$rank.prof" ] || continue
		rows=$((rows + 1))
		same "$family, monitored: the library's own row" "$(awk '$1 == "E" { print $3, $4, $6 }' "$work/monitor.$rank.prof" | sort)" \
			"$(row_counted "$report" | sort)"
	done
	[ "$rows" -gt 0 ] || echo "left out: this Open MPI has no monitoring"
fi

# ---- the other family's plugin: beside the right one, in both orders, and alone
case $short in ompi) other=$build/.libs/libnsched_mpi_mpich.so ;; mpich) other=$build/.libs/libnsched_mpi_ompi.so ;; esac
if [ -e "$other" ]; then
	right=$plugin
	PLUGIN=$right:$other agree 'both plugins' "$most" "$programs/calls-$short"
	PLUGIN=$other:$right agree 'both plugins, the wrong one first' "$most" "$programs/calls-$short"
	PLUGIN=$other ranks "$most" "$programs/calls-$short"
	same "$family, the wrong plugin alone: the program runs" 0 "$code"
	agrees 'the wrong plugin alone' 0
fi

# ---- switched off
NSCHED_MPI=0 ranks 2 "$programs/calls-$short"
same "$family, off: the program runs" 0 "$code"
agrees 'off' 0
finish
