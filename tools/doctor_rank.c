/* Whether a process is a rank of a parallel job, by the variables that its launcher has set. */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

/* The innermost launcher first: below `mpirun` in a Slurm job every rank has SLURM_PROCID=0. `job` names the
 * variables that all ranks of a job share; where there is none, they share the parent. */
static const struct launcher {
	const char *name, *rank, *ranks, *only_with, *job[2];
} launchers[] = {
	{ "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, { "PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri" } },
	{ "MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", NULL, { NULL } },
	{ "MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", { NULL } },
	{ "PALS", "PALS_RANKID", NULL, NULL, { "PALS_APID" } },
	{ "PMI", "PMI_RANK", "PMI_SIZE", NULL, { NULL } },
	{ "Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", NULL, { "FLUX_JOB_ID" } },
	{ "Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID", { "SLURM_JOB_ID", "SLURM_STEP_ID" } },
};

const char *variable(const char *environment, size_t bytes, const char *name)
{
	size_t length = strlen(name);

	for (size_t at = 0; environment != NULL && at < bytes; at += strlen(environment + at) + 1) {
		if (strncmp(environment + at, name, length) == 0 && environment[at + length] == '=')
			return environment + at + length + 1;
	}
	return NULL;
}

static void name_job(struct doctor_rank *rank, const struct launcher *launcher, const char *environment, size_t bytes, long parent)
{
	size_t length = 0;

	for (int i = 0; i < 2 && launcher->job[i] != NULL; i++) {
		const char *value = variable(environment, bytes, launcher->job[i]);

		if (value != NULL && length < sizeof(rank->job))
			length += (size_t)snprintf(rank->job + length, sizeof(rank->job) - length, length > 0 ? ".%s" : "%s", value);
	}
	if (length == 0)
		snprintf(rank->job, sizeof(rank->job), "of process %ld", parent);
}

void rank_look(struct doctor_rank *rank, const char *environment, size_t bytes, long parent)
{
	*rank = (struct doctor_rank){ .rank = -1, .ranks = -1 };
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct launcher *launcher = &launchers[i];
		const char *number = variable(environment, bytes, launcher->rank);
		const char *ranks = launcher->ranks == NULL ? NULL : variable(environment, bytes, launcher->ranks);

		if (number == NULL || (launcher->only_with != NULL && variable(environment, bytes, launcher->only_with) == NULL))
			continue;
		rank->launcher = launcher->name;
		rank->rank = strtol(number, NULL, 10);
		rank->ranks = ranks == NULL ? -1 : strtol(ranks, NULL, 10);
		name_job(rank, launcher, environment, bytes, parent);
		text_clean(rank->job);
		return;
	}
}
