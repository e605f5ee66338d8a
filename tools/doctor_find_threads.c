/* What is wrong with the CPUs of a program's threads. */
#include "doctor_find.h"

#include <string.h>

#include "libnsched/sys/cpulist.h"

enum { NAMED = 3 }; /* threads that the evidence names; the rest are "..." */

/* Active threads that may run nowhere but on these CPUs. */
static unsigned confined(const struct doctor_process *process, const struct cpu_mask *cpus)
{
	unsigned n = 0;

	for (unsigned i = 0; i < process->n_threads; i++) {
		const struct doctor_thread *thread = &process->thread[i];

		n += thread->active && thread->n_cpus > 0 && mask_within(&thread->cpus, cpus);
	}
	return n;
}

/* CPUs that the active threads have together. */
static unsigned unite_active(const struct doctor_process *process, struct cpu_mask *cpus)
{
	mask_clear(cpus);
	for (unsigned i = 0; i < process->n_threads; i++) {
		for (unsigned word = 0; process->thread[i].active && word < MACHINE_CPUS / 64; word++)
			cpus->word[word] |= process->thread[i].cpus.word[word];
	}
	return cpulist_count(cpus);
}

/* The set of CPUs, smaller than what the process has, or a single one, that has the most threads for its size; NULL
 * where none has more threads than CPUs. */
static const struct cpu_mask *most_crowded(const struct doctor_process *process, const struct cpu_mask *all, unsigned *threads)
{
	const struct cpu_mask *worst = NULL;
	unsigned worst_cpus = 1;

	*threads = 0;
	for (unsigned i = 0; i < process->n_threads; i++) {
		const struct doctor_thread *thread = &process->thread[i];

		if (!thread->active || thread->n_cpus == 0 || (thread->n_cpus > 1 && mask_equal(&thread->cpus, all)))
			continue;

		unsigned n = confined(process, &thread->cpus);

		if (n <= thread->n_cpus || n * worst_cpus <= *threads * thread->n_cpus)
			continue;
		worst = &thread->cpus;
		worst_cpus = thread->n_cpus;
		*threads = n;
	}
	return worst;
}

/* "12, 13, 14, ...: run 33 %, wait 66 % of the time" of those that are confined to the CPUs. */
static void describe(const struct doctor_process *process, const struct cpu_mask *cpus, char *text, size_t bytes)
{
	unsigned n = 0;
	long run = 0, wait = 0;
	bool waits = true;
	size_t length = (size_t)snprintf(text, bytes, "threads");

	for (unsigned i = 0; i < process->n_threads; i++) {
		const struct doctor_thread *thread = &process->thread[i];

		if (!thread->active || !mask_within(&thread->cpus, cpus))
			continue;
		if (n++ < NAMED)
			length += (size_t)snprintf(text + length, bytes - length, "%s %ld", n == 1 ? "" : ",", thread->tid);
		run += thread->run_permille;
		wait += thread->wait_permille;
		waits &= thread->wait_permille >= 0;
	}
	if (n > NAMED)
		length += (size_t)snprintf(text + length, bytes - length, ", ...");
	if (n == 0)
		return;
	length += (size_t)snprintf(text + length, bytes - length, " run %ld %%", run / n / 10);
	if (waits)
		snprintf(text + length, bytes - length, ", wait for a CPU %ld %%", wait / n / 10);
	else
		snprintf(text + length, bytes - length, " of the time");
}

bool find_stacked(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	struct cpu_mask all;
	unsigned threads;
	const struct cpu_mask *cpus;
	char list[DOCTOR_WORD], binding[DOCTOR_WORD];

	(void)doctor;
	unite_active(process, &all);
	cpus = most_crowded(process, &all, &threads);
	if (cpus == NULL)
		return false;
	snprintf(finding->what, sizeof(finding->what), "%u busy threads are stacked on CPU %s", threads, list_text(cpus, list, sizeof(list)));
	describe(process, cpus, finding->evidence, sizeof(finding->evidence));
	if (find_binding(process, binding) != NULL)
		snprintf(finding->remedy, sizeof(finding->remedy), "unset %s, or let it name a CPU for each thread", binding);
	else
		snprintf(finding->remedy, sizeof(finding->remedy), "drop what binds them (taskset, the launcher), or one CPU for each thread");
	return true;
}

bool find_team(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	struct cpu_mask all;
	struct finding stacked;
	unsigned cpus = unite_active(process, &all), allowed = cpulist_count(&process->limits.cpus);
	char list[DOCTOR_WORD];

	if (cpus == 0 || process->n_active <= cpus || find_stacked(doctor, process, &stacked))
		return false;
	snprintf(finding->what, sizeof(finding->what), "%u busy threads, but CPUs for %u: the team is larger than its mask", process->n_active,
	         cpus);
	size_t length = (size_t)snprintf(finding->evidence, sizeof(finding->evidence), "mask %s of cpuset of %u; ",
	                                 list_text(&all, list, sizeof(list)), allowed);
	describe(process, &all, finding->evidence + length, sizeof(finding->evidence) - length);
	if (cpus < allowed)
		snprintf(finding->remedy, sizeof(finding->remedy), "wider: mpirun --map-by slot:pe=%u, srun -c %u, no taskset; or %u threads",
		         process->n_active, process->n_active, cpus);
	else
		snprintf(finding->remedy, sizeof(finding->remedy), "OMP_NUM_THREADS=%u, or as many threads as CPUs by the program's own means", cpus);
	return true;
}

/* Takes away the CPUs of all other ranks of this machine. */
static void without_neighbours(const struct doctor *doctor, const struct doctor_process *process, struct cpu_mask *cpus)
{
	for (unsigned i = 0; i < doctor->job.n; i++) {
		const struct doctor_process *other = &doctor->job.process[i];

		if (other->pid == process->pid || other->rank.launcher == NULL)
			continue;
		for (unsigned word = 0; word < MACHINE_CPUS / 64; word++)
			cpus->word[word] &= ~other->cpus.word[word];
	}
}

/* Is there a thread that could use every CPU of the mask? Where each is bound by itself, their number was chosen. */
static bool is_free_inside(const struct doctor_process *process, const struct cpu_mask *mask)
{
	for (unsigned i = 0; i < process->n_threads; i++) {
		if (process->thread[i].active && mask_equal(&process->thread[i].cpus, mask))
			return true;
	}
	return false;
}

/* Would more CPUs be used? A serial program or a rank that was given one CPU is as it should be; an OpenMP program
 * is serial there only because its runtime counts the CPUs of the mask. */
static bool fills_mask(const struct doctor_process *process, unsigned cpus)
{
	bool counted = process->openmp != NULL && cpus == 1 &&
	               variable(process->environment, process->environment_bytes, "OMP_NUM_THREADS") == NULL;

	if (process->rank.launcher != NULL)
		return process->n_active > cpus || counted;
	return process->n_active >= cpus && (process->n_active > 1 || counted);
}

bool find_narrow(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	struct cpu_mask left = process->limits.cpus;
	char mask[DOCTOR_WORD], allowed[DOCTOR_WORD], idle[DOCTOR_WORD], who[DOCTOR_WORD];
	unsigned cpus = process->n_cpus;

	/* What OpenMP's own variables have bound is no mask that was given: find_stacked judges it. */
	if (process->n_active == 0 || cpus == 0 || find_binding(process, mask) != NULL || !mask_within(&process->cpus, &left))
		return false;
	for (unsigned word = 0; word < MACHINE_CPUS / 64; word++)
		left.word[word] &= ~process->cpus.word[word];
	without_neighbours(doctor, process, &left);
	if (cpulist_count(&left) == 0 || !fills_mask(process, cpus) || !is_free_inside(process, &process->cpus))
		return false;
	snprintf(finding->what, sizeof(finding->what), "%s may use %u of the %u CPUs of its cpuset, and fills them", find_who(process, who), cpus,
	         cpulist_count(&process->limits.cpus));
	snprintf(finding->evidence, sizeof(finding->evidence), "mask %s, cpuset %s; %u busy threads; nobody's: %s",
	         list_text(&process->cpus, mask, sizeof(mask)), list_text(&process->limits.cpus, allowed, sizeof(allowed)), process->n_active,
	         list_text(&left, idle, sizeof(idle)));
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", process->rank.launcher != NULL
	         ? "mpirun --bind-to none or --map-by slot:pe=N, srun -c N: as many CPUs as threads"
	         : "start it without taskset or numactl -C, or with all the CPUs that it is to have");
	return true;
}

/* Cores of the cpuset; *used of them have active threads that are bound to a single CPU of theirs. */
static unsigned count_cores(const struct doctor *doctor, const struct doctor_process *process, const struct cpu_mask *single, unsigned *used)
{
	unsigned cores = 0;

	*used = 0;
	for (unsigned cpu = 0; cpu < MACHINE_CPUS; cpu++) {
		bool has = false;

		if (!mask_has(&process->limits.cpus, cpu) || doctor->machine.core[cpu] != cpu)
			continue;
		for (unsigned sibling = cpu; sibling < MACHINE_CPUS; sibling++)
			has |= doctor->machine.core[sibling] == cpu && mask_has(single, sibling);
		cores++;
		*used += has;
	}
	return cores;
}

bool find_siblings(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	struct cpu_mask single;
	unsigned bound = 0, used, cores;
	char list[DOCTOR_WORD], binding[DOCTOR_WORD];

	mask_clear(&single);
	for (unsigned i = 0; i < process->n_threads; i++) {
		const struct doctor_thread *thread = &process->thread[i];

		if (!thread->active || thread->n_cpus != 1)
			continue;
		for (unsigned word = 0; word < MACHINE_CPUS / 64; word++)
			single.word[word] |= thread->cpus.word[word];
	}
	bound = cpulist_count(&single);
	if (doctor->machine.threads_per_core < 2 || bound < 2 || process->rank.launcher != NULL)
		return false;
	cores = count_cores(doctor, process, &single, &used);
	if (used == 0 || used >= bound || used >= cores)
		return false;
	snprintf(finding->what, sizeof(finding->what), "%u bound threads share %u cores while %u cores have none", bound, used, cores - used);
	snprintf(finding->evidence, sizeof(finding->evidence), "bound to %s; %u threads for each core", list_text(&single, list, sizeof(list)),
	         doctor->machine.threads_per_core);
	snprintf(finding->remedy, sizeof(finding->remedy), "OMP_PLACES=cores OMP_PROC_BIND=spread%s%s",
	         find_binding(process, binding) != NULL ? " in place of " : "", find_binding(process, binding) != NULL ? binding : "");
	return true;
}
