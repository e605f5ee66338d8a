/* What is wrong between the ranks of this machine: a rank without CPUs of its own, or with someone else's. */
#include "doctor_find.h"

#include <string.h>

#include "libnsched/sys/cpulist.h"

static bool meet(const struct cpu_mask *a, const struct cpu_mask *b)
{
	for (unsigned word = 0; word < MACHINE_CPUS / 64; word++) {
		if (a->word[word] & b->word[word])
			return true;
	}
	return false;
}

static bool is_other_rank(const struct doctor_process *process, const struct doctor_process *other)
{
	return other->pid != process->pid && other->rank.launcher != NULL && other->n_active > 0 && other->n_cpus > 0;
}

/* All ranks that have no CPU outside of this one's want more than it has. */
bool find_no_share(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	unsigned wanted = process->n_active, others = 0;
	char list[DOCTOR_WORD], numbers[DOCTOR_WORD] = "";
	size_t length = 0;

	if (process->rank.launcher == NULL || process->n_active == 0 || process->n_cpus == 0)
		return false;
	for (unsigned i = 0; i < doctor->job.n; i++) {
		const struct doctor_process *other = &doctor->job.process[i];

		if (!is_other_rank(process, other) || !mask_within(&other->cpus, &process->cpus))
			continue;
		wanted += other->n_active;
		others++;
		if (length + 12 < sizeof(numbers))
			length += (size_t)snprintf(numbers + length, sizeof(numbers) - length, " %ld", other->rank.rank);
	}
	if (others == 0 || wanted <= process->n_cpus)
		return false;
	snprintf(finding->what, sizeof(finding->what), "rank %ld has no share of its own: %u busy threads of %u ranks on CPU %s",
	         process->rank.rank, wanted, others + 1, list_text(&process->cpus, list, sizeof(list)));
	snprintf(finding->evidence, sizeof(finding->evidence), "the same CPUs are all that rank%s%s may use; the cpuset has %u CPUs",
	         others > 1 ? "s" : "", numbers, cpulist_count(&process->limits.cpus));
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", cpulist_count(&process->limits.cpus) > process->n_cpus
	         ? "mpirun --map-by numa --bind-to numa, srun -c N: a part of the machine for each rank"
	         : "fewer ranks or threads, or more CPUs in the job's cpuset");
	return true;
}

static bool is_part(const struct doctor_process *process)
{
	return cpulist_count(&process->limits.cpus) > process->n_cpus && mask_within(&process->cpus, &process->limits.cpus);
}

bool find_foreign_share(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	char mine[DOCTOR_WORD], theirs[DOCTOR_WORD];

	if (process->rank.launcher == NULL || process->n_active == 0 || !is_part(process))
		return false;
	for (unsigned i = 0; i < doctor->job.n; i++) {
		const struct doctor_process *other = &doctor->job.process[i];

		if (!is_other_rank(process, other) || strcmp(other->rank.job, process->rank.job) == 0 || !is_part(other) ||
		    !meet(&process->cpus, &other->cpus))
			continue;
		snprintf(finding->what, sizeof(finding->what), "rank %ld is on CPUs that another job uses", process->rank.rank);
		snprintf(finding->evidence, sizeof(finding->evidence), "its mask is %s; process %ld (rank %ld of another job) has %s",
		         list_text(&process->cpus, mine, sizeof(mine)), other->pid, other->rank.rank,
		         list_text(&other->cpus, theirs, sizeof(theirs)));
		snprintf(finding->remedy, sizeof(finding->remedy), "one job on these CPUs at a time: --cpu-set LIST for each, or a cpuset (Slurm: task/cgroup)");
		return true;
	}
	return false;
}
