#include "pure/launchers.h"

#include <stddef.h>

#include "pure/pure.h"

/* The innermost launcher first: under `mpirun` in a Slurm job every rank has SLURM_PROCID=0 and SLURM_LOCALID=0. Slurm's batch
 * script itself has them, too, but no step. Slurm's daemons and others may give ranks PMI's or PMIx's words as well, which are
 * all that is to be had under a launcher that is not known here. */
static const struct launcher launchers[] = {
	{ .name = "Open MPI", .family = LAUNCHERS_OPEN_MPI, .rank = "OMPI_COMM_WORLD_RANK", .ranks = "OMPI_COMM_WORLD_SIZE",
	  .local_rank = "OMPI_COMM_WORLD_LOCAL_RANK", .local_ranks = "OMPI_COMM_WORLD_LOCAL_SIZE", .job = { "PMIX_NAMESPACE" },
	  .bound = "OMPI_MCA_orte_bound_at_launch",
	  .asked = { "OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_rmaps_base_mapping_policy", "OMPI_MCA_hwloc_base_cpu_set" } },
	{ .name = "MVAPICH2", .family = LAUNCHERS_MPICH, .rank = "MV2_COMM_WORLD_RANK", .ranks = "MV2_COMM_WORLD_SIZE",
	  .local_rank = "MV2_COMM_WORLD_LOCAL_RANK", .local_ranks = "MV2_COMM_WORLD_LOCAL_SIZE" },
	/* MPICH's Hydra and Intel MPI */
	{ .name = "MPICH", .family = LAUNCHERS_MPICH, .rank = "PMI_RANK", .ranks = "PMI_SIZE",
	  .local_rank = "MPI_LOCALRANKID", .local_ranks = "MPI_LOCALNRANKS", .only_with = "MPI_LOCALRANKID" },
	{ .name = "PALS", .family = LAUNCHERS_MPICH, .rank = "PALS_RANKID",
	  .local_rank = "PALS_LOCAL_RANKID", .local_ranks = "PALS_LOCAL_SIZE", .job = { "PALS_APID" } },
	{ .name = "PMI", .family = LAUNCHERS_EITHER, .rank = "PMI_RANK", .ranks = "PMI_SIZE" },
	{ .name = "Flux", .family = LAUNCHERS_EITHER, .rank = "FLUX_TASK_RANK", .ranks = "FLUX_JOB_SIZE",
	  .local_rank = "FLUX_TASK_LOCAL_ID", .job = { "FLUX_JOB_ID" } },
	{ .name = "Slurm", .family = LAUNCHERS_EITHER, .rank = "SLURM_PROCID", .ranks = "SLURM_NTASKS", .local_rank = "SLURM_LOCALID",
	  .only_with = "SLURM_STEP_ID", .job = { "SLURM_JOB_ID", "SLURM_STEP_ID" } },
	{ .name = "PMIx", .family = LAUNCHERS_EITHER, .rank = "PMIX_RANK", .job = { "PMIX_NAMESPACE" } },
};

static const struct launcher *find(launchers_get *get, const void *environment, int local)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *launcher = &launchers[i];
		const char *variable = local ? launcher->local_rank : launcher->rank;

		if (variable != NULL && get(environment, variable) != NULL &&
		    (launcher->only_with == NULL || get(environment, launcher->only_with) != NULL))
			return launcher;
	}
	return NULL;
}

const struct launcher *launchers_of_rank(launchers_get *get, const void *environment)
{
	return find(get, environment, 0);
}

const struct launcher *launchers_of_local_rank(launchers_get *get, const void *environment)
{
	return find(get, environment, 1);
}
