/* How many threads the runtime means to make when the program begins, and on how many CPUs they may run:
 * rank R: team of T on C CPUs. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, threads = omp_get_max_threads(), cpus = omp_get_num_procs();
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("rank %d: team of %d on %d CPUs\n", rank, threads, cpus);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
