/* What launchers tell a rank, by variables that real ones have set. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made.h"
#include "tools/launcher.h"

enum { VARIABLES = 12 };

static const struct {
	const char *variables[VARIABLES];
	const char *launcher;               /* of the local rank */
	int rank, ranks, local_rank, local_ranks, default_bound;
	const char *job;
} told[] = {
	{ { "OMPI_COMM_WORLD_RANK=5", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_RANK=1", "OMPI_COMM_WORLD_LOCAL_SIZE=4",
	    "PMIX_NAMESPACE=3218931713", "PMI_RANK=9" }, "Open MPI", 5, 8, 1, 4, 0, "Open MPI.3218931713." },
	{ { "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2",
	    "OMPI_MCA_orte_bound_at_launch=1" }, "Open MPI", 0, 2, 0, 2, 1, "Open MPI.." },
	{ { "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_RANK=0", "OMPI_COMM_WORLD_LOCAL_SIZE=2",
	    "OMPI_MCA_orte_bound_at_launch=1", "OMPI_MCA_rmaps_base_mapping_policy=core" }, "Open MPI", 0, 2, 0, 2, 0, "Open MPI.." },
	{ { "PMI_RANK=3", "PMI_SIZE=4", "MPI_LOCALRANKID=3", "MPI_LOCALNRANKS=4" }, "MPICH", 3, 4, 3, 4, 0, "MPICH.." },
	/* mpirun inside of a Slurm batch job: the batch script's words mean nothing */
	{ { "PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2", "SLURM_PROCID=0", "SLURM_LOCALID=0",
	    "SLURM_TASKS_PER_NODE=2", "SLURM_NODEID=0" }, "MPICH", 1, 2, 1, 2, 0, "MPICH.." },
	{ { "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=2" }, NULL, 0, 0, -1, 0, 0, "" },
	/* srun, without and with PMI2 */
	{ { "SLURM_PROCID=4", "SLURM_NTASKS=7", "SLURM_LOCALID=0", "SLURM_NODEID=2", "SLURM_STEP_ID=1", "SLURM_JOB_ID=77",
	    "SLURM_STEP_TASKS_PER_NODE=2(x3),1" }, "Slurm", 4, 7, 0, 2, 0, "Slurm.77.1" },
	{ { "PMI_RANK=6", "PMI_SIZE=7", "SLURM_PROCID=6", "SLURM_NTASKS=7", "SLURM_LOCALID=0", "SLURM_NODEID=3", "SLURM_STEP_ID=1",
	    "SLURM_STEP_TASKS_PER_NODE=2(x3),1" }, "Slurm", 6, 7, 0, 1, 0, "Slurm..1" },
	/* an index without a number is not enough to divide anything */
	{ { "FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=4", "FLUX_TASK_LOCAL_ID=1", "FLUX_JOB_ID=f1" }, "Flux", 1, 4, 1, 0, 0, "Flux.f1." },
	{ { "PALS_RANKID=2", "PALS_LOCAL_RANKID=0", "PALS_LOCAL_SIZE=2", "PALS_APID=x" }, "PALS", 2, 0, 0, 2, 0, "PALS.x." },
	{ { "MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=2", "MV2_COMM_WORLD_LOCAL_RANK=1", "MV2_COMM_WORLD_LOCAL_SIZE=2", "PMI_RANK=1" },
	  "MVAPICH2", 1, 2, 1, 2, 0, "MVAPICH2.." },
	/* nonsense is nothing */
	{ { "OMPI_COMM_WORLD_RANK=x", "OMPI_COMM_WORLD_LOCAL_RANK=3", "OMPI_COMM_WORLD_LOCAL_SIZE=2" }, "Open MPI", -1, 0, 3, 0, 0, "Open MPI.." },
	{ { NULL }, NULL, 0, 0, -1, 0, 0, "" },
};

START_TEST(jobs)
{
	struct launcher_job job;
	clearenv();
	for (unsigned i = 0; i < VARIABLES && told[_i].variables[i]; i++) ck_assert_int_eq(putenv(strdup(told[_i].variables[i])), 0);
	launcher_find(&job);
	if (told[_i].launcher) ck_assert_str_eq(job.launcher, told[_i].launcher);
	else ck_assert_ptr_null(job.launcher);
	if (job.rank_text) {
		ck_assert_int_eq(job.rank, told[_i].rank);
		ck_assert_int_eq(job.ranks, told[_i].ranks);
	}
	ck_assert_int_eq(job.local_rank, told[_i].local_rank);
	ck_assert_int_eq(job.local_ranks, told[_i].local_ranks);
	ck_assert_int_eq(job.default_bound, told[_i].default_bound);
	ck_assert_str_eq(job.job, told[_i].job);
	/* our parent was not started with these variables: it is the launcher */
	if (job.launcher) ck_assert_int_eq(job.pid, getppid());
}
END_TEST

START_TEST(slurm_lists)
{
	static const struct { const char *list; unsigned node; int tasks; } lists[] = {
		{ "4", 0, 4 }, { "4", 1, 0 }, { "2(x3),1", 0, 2 }, { "2(x3),1", 2, 2 }, { "2(x3),1", 3, 1 }, { "2(x3),1", 4, 0 },
		{ "1,2,3", 2, 3 }, { "", 0, 0 }, { "x", 0, 0 }, { "2(x", 0, 2 }, { "2(x3", 1, 0 }, { "3(x2),", 2, 0 }, { "99999999999", 0, 0 },
	};
	ck_assert_int_eq(launcher_slurm_tasks(lists[_i].list, lists[_i].node), lists[_i].tasks);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, jobs, told);
	tcase_add_loop_test(tcase, slurm_lists, 0, 13);
}

int main(void)
{
	return made_main("launcher", add);
}
