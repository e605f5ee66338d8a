/* Two threads work for as many seconds as the argument says; rank 1 gives up after one: MPI_Abort. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank;
	double seconds = argc > 1 ? atof(argv[1]) : 2, begin;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	begin = MPI_Wtime();
#pragma omp parallel num_threads(2)
	while (MPI_Wtime() - begin < (rank == 1 ? 1 : seconds))
		;
	if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Finalize();
	return 0;
}
