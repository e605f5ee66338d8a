/* What is wrong before any program runs. */
#include "doctor_find.h"

#include <string.h>

#include "libnsched/sys/cpulist.h"

enum { SPARE_LEAST_PERMILLE = 20 }; /* of a node's memory: with less, no page can be moved there, and the kernel puts
                                     * new ones on other nodes */

bool find_installation(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	(void)process;
	if (!doctor->tools_tried || doctor->tools.loaded)
		return false;
	snprintf(finding->what, sizeof(finding->what), "nsched's library is missing, or is not of this version");
	snprintf(finding->evidence, sizeof(finding->evidence), "%s", doctor->tools.library);
	snprintf(finding->remedy, sizeof(finding->remedy), "make install again; one version only in LD_LIBRARY_PATH");
	return true;
}

/* Nothing to move on a machine with one node: then nothing is missing either. */
static bool matters(const struct doctor *doctor)
{
	return doctor->tools_tried && doctor->tools.loaded && doctor->machine.n_nodes > 1;
}

bool find_no_sampling(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	const struct doctor_tools *tools = &doctor->tools;
	const char *remedy = "";

	(void)process;
	if (!matters(doctor))
		return false;
	for (unsigned i = tools->n_sources; i > 0; i--) {
		if (strcmp(tools->source[i - 1].is.name, "bandwidth") == 0)
			continue; /* how busy memory is says nothing of who uses it */
		if (tools->source[i - 1].is.error == 0)
			return false;
		if (tools->source[i - 1].remedy[0] != '\0')
			remedy = tools->source[i - 1].remedy;
	}
	snprintf(finding->what, sizeof(finding->what), "no source of evidence works: nsched sees only what the program says itself");
	snprintf(finding->evidence, sizeof(finding->evidence), "all %u were tried", tools->n_sources);
	snprintf(finding->remedy, sizeof(finding->remedy), "%s", remedy[0] != '\0' ? remedy : "see the reasons above");
	return true;
}

bool find_pages_stay(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	const struct doctor_tools *tools = &doctor->tools;

	(void)process;
	for (unsigned i = 0; matters(doctor) && i < tools->n_abilities; i++) {
		const struct doctor_ability *ability = &tools->ability[i];

		if (ability->error == 0 || strcmp(ability->name, "policies are seen") == 0)
			continue;
		snprintf(finding->what, sizeof(finding->what), "%s: not here; %s", ability->name, ability->without);
		snprintf(finding->evidence, sizeof(finding->evidence), "the system call was refused: %s", strerror(-ability->error));
		snprintf(finding->remedy, sizeof(finding->remedy), "%s", ability->remedy);
		return true;
	}
	return false;
}

bool find_full(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	(void)process;
	for (unsigned i = 0; doctor->machine.n_nodes > 1 && i < doctor->machine.n_nodes; i++) {
		const struct doctor_node *node = &doctor->machine.node[i];

		if (node->memory_kib == 0 || node->spare_kib * 1000 >= node->memory_kib * SPARE_LEAST_PERMILLE)
			continue;
		snprintf(finding->what, sizeof(finding->what), "node %u is full: nothing can be moved there", node->os);
		snprintf(finding->evidence, sizeof(finding->evidence), "%llu of %llu MiB are free or file cache", (unsigned long long)(node->spare_kib >> 10),
		         (unsigned long long)(node->memory_kib >> 10));
		snprintf(finding->remedy, sizeof(finding->remedy), "numastat -m shows by what; numactl --interleave for what is read once and kept");
		return true;
	}
	return false;
}

bool find_mover(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	(void)process;
	for (unsigned i = 0; i < doctor->binders.n; i++) {
		const struct doctor_binder *binder = &doctor->binders.binder[i];

		if (strcmp(binder->who, "numad") != 0)
			continue;
		snprintf(finding->what, sizeof(finding->what), "numad moves threads and pages, too: it and nsched undo each other's work");
		snprintf(finding->evidence, sizeof(finding->evidence), "%s runs", binder->setting);
		snprintf(finding->remedy, sizeof(finding->remedy), "root: systemctl stop numad (or numad -i 0); or NSCHED_POLICY=stay, which only watches");
		return true;
	}
	return false;
}

/* Of the doctor's own cgroup, where no program was named; else of each program's. */
bool find_quota(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	const struct doctor_limits *limits = process == NULL ? &doctor->own : &process->limits;
	unsigned wanted = process == NULL ? cpulist_count(&limits->cpus) : process->n_active;

	if ((process == NULL && doctor->with_program) || limits->quota_cpus <= 0 || (double)wanted <= limits->quota_cpus)
		return false;
	snprintf(finding->what, sizeof(finding->what), "the cgroup has CPU time for %.1f CPUs, and %s %u", limits->quota_cpus,
	         process == NULL ? "there are" : "busy threads are", wanted);
	int length = snprintf(finding->evidence, sizeof(finding->evidence), "quota of %s", limits->cgroup[0] != '\0' ? limits->cgroup : "/");
	if (limits->throttled >= 0 && (size_t)length < sizeof(finding->evidence))
		snprintf(finding->evidence + length, sizeof(finding->evidence) - (size_t)length, "; throttled %lld times so far", limits->throttled);
	snprintf(finding->remedy, sizeof(finding->remedy), "a cpuset in place of a quota (docker run --cpuset-cpus), or %.0f threads", limits->quota_cpus);
	return true;
}
