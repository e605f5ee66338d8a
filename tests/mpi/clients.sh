#!/bin/sh
# Debian's MPI programs, which know nothing of nsched: the same results with the plugin as without, and each call
# that the auditor sees is counted. `make check-clients` runs it. Says which programs are absent.
. "${srcdir:-.}/tests/mpi/mpi.sh"
auditor=$(built tests/mpi/audit.so) reader=$(built tests/mpi/audit_read)
# OpenMP teams of one: two ranks have this machine for themselves
export OMP_NUM_THREADS=1
run=0 absent=

# client WHAT FAMILY PACKAGE PROGRAM INPUT RESULTS ARGUMENTS...: in a folder of its own. RESULTS leaves, of what
# was printed, what may not change from one run to the next.
client()
{
	what=$1 package=$3 program=$4 input=$5 results=$6
	if ! family "$2" || [ ! -x "$program" ]; then
		absent="$absent $what ($package)"
		return
	fi
	shift 6
	run=$((run + 1))
	PLUGIN='' AUDITOR='' client_run "$@"
	same "$what: exit code, without" 0 "$code"
	$results <"$work/all" >"$work/without"
	client_run "$@"
	same "$what: exit code" 0 "$code"
	$results <"$work/all" >"$work/with"
	same "$what: results" "$(cat "$work/without")" "$(cat "$work/with")"
	[ -s "$work/with" ] || fail "$what: no results to compare"
	agrees "$what" 2
	echo "$what ($family): $made calls counted, as many as made; $(wc -l <"$work/with") lines of results the same"
}

# Two ranks; their standard input is $input, what they print and the file `output` go to $work/all
client_run()
{
	rm -rf "$work/folder"
	mkdir "$work/folder"
	cd "$work/folder" || exit 99
	prepare
	rm -f "$work"/report.* "$work"/audit.*
	PLUGIN=${PLUGIN-$plugin} AUDITOR=${AUDITOR-$auditor} "$launcher" -np 2 "$here/rank" "$program" "$@" >"$work/all" 2>"$work/err" <"$input"
	code=$?
	if [ -e output ]; then cat output >>"$work/all"; fi
	cd "$build" || exit 99
}

# ---- hpcc: its own verdicts and residuals
prepare()
{
	awk 'NR == 6 { $1 = 240 } NR == 11 { $1 = 1 } { print }' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
	ln -s hpccoutf.txt output
}
hpcc_results()
{
	grep -E 'PASSED|FAILED|Success=|Failures|Found [0-9]+ errors|Node\(s\) with error' |
		awk '/^CPU / { next } /^WALL / { print $1, $2, $3, $4, $5, $6, $7, $9; next } { print }' # (no line where the CPU's clock did not move)
}
client hpcc openmpi hpcc /usr/bin/hpcc /dev/null hpcc_results

# ---- NetPIPE: which messages it sent; how fast is another matter
netpipe_results() { awk '$1 ~ /^[0-9]+$/ && NF >= 3 { print $1 }'; }
prepare() { ln -s np.out output; }
client NetPIPE openmpi netpipe-openmpi /usr/bin/NPopenmpi /dev/null netpipe_results -n 20 -u 4096 -o np.out
client NetPIPE mpich netpipe-mpich2 /usr/bin/NPmpich2 /dev/null netpipe_results -n 20 -u 4096 -o np.out

# ---- ScaLAPACK's LU test: every case and its residuals, without the times; grids of two ranks
scalapack=/usr/lib/x86_64-linux-gnu/scalapack
prepare()
{
	sed -e 's/^4\([[:space:]]*number of process grids\)/2\1/' -e 's/^1 2 1 4 2 3 8/1 2/' -e 's/^1 2 4 1 3 2 1/2 1/' \
		-e 's/^3\([[:space:]]*number of N\)/2\1/' "$scalapack/openmpi-tests/LU.dat" >LU.dat
}
lu_results() { awk '/^WALL|^CPU/ { print $2, $3, $4, $5, $6, $7, $8, $NF } /tests completed|passed|failed/ { print }'; }
client xdlu openmpi scalapack-mpi-test $scalapack/openmpi-tests/xdlu /dev/null lu_results
client xdlu mpich scalapack-mpi-test $scalapack/mpich-tests/xdlu /dev/null lu_results

# ---- MUMPS: the solution
prepare() { :; }
mumps_results() { grep 'Solution is'; }
client dsimpletest openmpi mumps-test /usr/lib/mumps/dsimpletest /usr/lib/mumps/input_simpletest_real mumps_results

# ---- LAMMPS: Lennard-Jones melt, its thermodynamics
prepare()
{
	cat >in.lj <<-'END'
		units lj
		atom_style atomic
		lattice fcc 0.8442
		region box block 0 6 0 6 0 6
		create_box 1 box
		create_atoms 1 box
		mass 1 1.0
		velocity all create 1.44 87287 loop geom
		pair_style lj/cut 2.5
		pair_coeff 1 1 1.0 1.0 2.5
		neighbor 0.3 bin
		neigh_modify delay 0 every 20 check no
		fix 1 all nve
		thermo 10
		run 100
	END
}
lammps_results() { grep -E '^ *[0-9]+ +[-0-9.]+ +[-0-9.]+ '; }
client LAMMPS openmpi lammps /usr/bin/lmp /dev/null lammps_results -in in.lj

# ---- ABySS: the contigs that it assembles from the pieces of a made-up sequence
prepare()
{
	awk 'BEGIN {
		srand(5)
		for (i = 0; i < 3000; i++) s = s substr("ACGT", 1 + int(4 * rand()), 1)
		for (i = 0; i < 2900; i += 3) print ">r" i "\n" substr(s, i + 1, 100)
	}' >reads.fa
	ln -s contigs.fa output
}
abyss_results() { grep -E '^[ACGT]+$' | sort; }
client ABySS openmpi abyss /usr/lib/abyss/ABYSS-P /dev/null abyss_results -k 25 -E 0 -o contigs.fa reads.fa

# ---- code_saturne, ranks of two OpenMP threads each: the quality of a bent mesh, all figures but times
code_saturne=/usr/lib/code_saturne
prepare()
{
	awk -v n=8 'BEGIN {
		m = n + 1
		print "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" m * m * m
		for (k = 0; k < m; k++) for (j = 0; j < m; j++) for (i = 0; i < m; i++)
			print 1 + i + m * (j + m * k), (i + 0.2 * sin(j)) / n, (j + 0.2 * sin(k)) / n, (k + 0.2 * sin(i)) / n
		print "$EndNodes\n$Elements\n" n * n * n
		for (k = 0; k < n; k++) for (j = 0; j < n; j++) for (i = 0; i < n; i++) {
			a = 1 + i + m * (j + m * k)
			b = a + m * m
			print ++e, 5, 2, 1, 1, a, a + 1, a + 1 + m, a + m, b, b + 1, b + 1 + m, b + m
		}
		print "$EndElements"
	}' >cube.msh
	$code_saturne/cs_preprocess cube.msh >/dev/null
	ln -s run_solver.log output
}
saturne_results() { grep '[0-9]' | grep -vE ' s\)|Date:|System:|Machine:|Memory:|User:|Directory:|Processor'; }
OMP_NUM_THREADS=2
client code_saturne openmpi code-saturne-bin $code_saturne/cs_solver /dev/null saturne_results --quality
OMP_NUM_THREADS=1

# ---- Python
prepare() { :; }
client mpi4py openmpi python3-mpi4py /usr/bin/python3 /dev/null sort "$here/objects.py"

[ -z "$absent" ] || echo "absent, apt-get install would bring them:$absent"
if [ "$run" -eq 0 ]; then
	echo 'SKIP: none of the programs is installed'
	exit 77
fi
finish
