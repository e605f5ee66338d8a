/* What is wrong with where a program's memory is. */
#include "doctor_find.h"

#include <stdlib.h>
#include <string.h>

#include "libnsched/sys/cpulist.h"

enum {
	LEAST_KIB = 4096,          /* less fits into a cache: where it is matters little */
	ONE_NODE_PERMILLE = 900,   /* of the memory on one node is "all of it" */
	THREADS_MOST_PERMILLE = 750, /* of the threads on that node: then they are on several, and not by chance */
	NEAR_LEAST_PERMILLE = 500, /* of the memory has to be on nodes of the threads */
	OUTSIDE_PERMILLE = 250,    /* of the threads outside of a policy's nodes: more than a helper */
	POLICY_LEAST_PERMILLE = 100, /* of the memory under a policy, or it is a detail */
	PERMILLE = 1000,
};

static unsigned permille(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : (unsigned)(part * PERMILLE / whole);
}

static bool worth_a_look(const struct doctor *doctor, const struct doctor_process *process)
{
	return process->memory.known && process->memory.kib >= LEAST_KIB && process->n_active > 0 && doctor->machine.n_nodes > 1;
}

static unsigned top_node(const struct doctor *doctor, const struct doctor_process *process)
{
	unsigned top = 0;

	for (unsigned i = 1; i < doctor->machine.n_nodes; i++) {
		if (process->memory.node_kib[i] > process->memory.node_kib[top])
			top = i;
	}
	return top;
}

static uint64_t nodes_of_threads(const unsigned active[MACHINE_NODES])
{
	uint64_t nodes = 0;

	for (unsigned i = 0; i < MACHINE_NODES; i++)
		nodes |= (uint64_t)(active[i] > 0) << i;
	return nodes;
}

/* Memory that a policy has put where it is, and not the first touch. */
static uint64_t bound_kib(const struct doctor_process *process)
{
	uint64_t kib = 0;

	for (unsigned i = 0; i < process->memory.n_policies; i++)
		kib += process->memory.policy[i].kib;
	return kib;
}

static void say_remedy(const struct doctor_process *process, struct finding *finding)
{
	if (process->nsched)
		snprintf(finding->remedy, sizeof(finding->remedy), "nsched is in it and has not moved it yet: its report says why (NSCHED_REPORT=-)");
	else
		snprintf(finding->remedy, sizeof(finding->remedy), "nsched run moves it beside its threads; or fill the arrays in the threads that use them");
}

bool find_one_node(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	unsigned active[MACHINE_NODES], top = top_node(doctor, process);
	char nodes[DOCTOR_WORD];

	if (!worth_a_look(doctor, process) || process->n_active < 2 || bound_kib(process) * 2 > process->memory.kib)
		return false;
	find_active_by_node(process, active);
	if (permille(process->memory.node_kib[top], process->memory.kib) < ONE_NODE_PERMILLE ||
	    permille(active[top], process->n_active) > THREADS_MOST_PERMILLE || __builtin_popcountll(nodes_of_threads(active)) < 2)
		return false;
	snprintf(finding->what, sizeof(finding->what), "all memory is on node %u, and the threads are on nodes %s", doctor->machine.node[top].os,
	         find_nodes(&doctor->machine, nodes_of_threads(active), nodes));
	snprintf(finding->evidence, sizeof(finding->evidence), "%u %% of %llu MiB; %u of %u busy threads are on that node",
	         permille(process->memory.node_kib[top], process->memory.kib) / 10, (unsigned long long)(process->memory.kib >> 10), active[top],
	         process->n_active);
	say_remedy(process, finding);
	return true;
}

bool find_far(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	unsigned active[MACHINE_NODES], top = top_node(doctor, process);
	uint64_t near_kib = 0, near_memory = 0;
	char nodes[DOCTOR_WORD], who[DOCTOR_WORD];
	struct finding one_node;

	if (!worth_a_look(doctor, process) || bound_kib(process) * 2 > process->memory.kib || find_one_node(doctor, process, &one_node))
		return false;
	find_active_by_node(process, active);
	for (unsigned i = 0; i < doctor->machine.n_nodes; i++) {
		near_kib += active[i] > 0 ? process->memory.node_kib[i] : 0;
		near_memory += active[i] > 0 ? doctor->machine.node[i].memory_kib : 0;
	}
	/* Threads whose node is not known may be there; nodes without memory have none to be near to. */
	if (nodes_of_threads(active) == 0 || near_memory == 0 || active[top] > 0 ||
	    permille(near_kib, process->memory.kib) >= NEAR_LEAST_PERMILLE)
		return false;
	for (unsigned i = 0; i < process->n_threads; i++) {
		if (process->thread[i].active && process->thread[i].node == DOCTOR_NO_NODE)
			return false;
	}
	snprintf(finding->what, sizeof(finding->what), "%s is on node %s, and its memory is elsewhere", find_who(process, who),
	         find_nodes(&doctor->machine, nodes_of_threads(active), nodes));
	snprintf(finding->evidence, sizeof(finding->evidence), "%u %% of %llu MiB are on node %u, %u %% beside the threads",
	         permille(process->memory.node_kib[top], process->memory.kib) / 10, (unsigned long long)(process->memory.kib >> 10),
	         doctor->machine.node[top].os, permille(near_kib, process->memory.kib) / 10);
	say_remedy(process, finding);
	return true;
}

/* ---- policies ------------------------------------------------------------------------------------------------------ */

/* The logical nodes of "bind:0-1". */
static uint64_t policy_nodes(const struct doctor_machine *machine, const char *text)
{
	const char *list = strrchr(text, ':');
	struct cpu_mask os;
	uint64_t nodes = 0;

	if (list == NULL || cpulist_parse(list + 1, &os) != 0)
		return 0;
	for (unsigned i = 0; i < machine->n_nodes; i++)
		nodes |= (uint64_t)mask_has(&os, machine->node[i].os) << i;
	return nodes;
}

/* Active threads that are known to be on none of the nodes. */
static unsigned outside(const unsigned active[MACHINE_NODES], uint64_t nodes)
{
	unsigned n = 0;

	for (unsigned i = 0; i < MACHINE_NODES; i++)
		n += nodes >> i & 1 ? 0 : active[i];
	return n;
}

bool find_policy(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	unsigned active[MACHINE_NODES];
	char nodes[DOCTOR_WORD];

	if (!worth_a_look(doctor, process))
		return false;
	find_active_by_node(process, active);
	for (unsigned i = 0; i < process->memory.n_policies; i++) {
		const struct doctor_policy *policy = &process->memory.policy[i];
		uint64_t wanted = policy_nodes(&doctor->machine, policy->text);
		unsigned n = outside(active, wanted);

		if (wanted == 0 || policy->kib < LEAST_KIB || permille(policy->kib, process->memory.kib) < POLICY_LEAST_PERMILLE ||
		    permille(n, process->n_active) < OUTSIDE_PERMILLE)
			continue;
		snprintf(finding->what, sizeof(finding->what), "a memory policy keeps memory on node %s, where %u of %u busy threads are not",
		         find_nodes(&doctor->machine, wanted, nodes), n, process->n_active);
		snprintf(finding->evidence, sizeof(finding->evidence), "%s for %llu MiB; threads on nodes %s", policy->text,
		         (unsigned long long)(policy->kib >> 10), find_nodes(&doctor->machine, nodes_of_threads(active), nodes));
		snprintf(finding->remedy, sizeof(finding->remedy), "without numactl --membind or mbind (nsched leaves such memory), or threads there: numactl -N");
		return true;
	}
	return false;
}

bool find_mems(const struct doctor *doctor, const struct doctor_process *process, struct finding *finding)
{
	unsigned active[MACHINE_NODES];
	uint64_t missing = 0, given = 0;
	char nodes[DOCTOR_WORD], allowed[DOCTOR_WORD];

	find_active_by_node(process, active);
	for (unsigned i = 0; i < doctor->machine.n_nodes; i++) {
		bool may = mask_has(&process->limits.mems_os, doctor->machine.node[i].os);

		given |= (uint64_t)may << i;
		if (active[i] > 0 && doctor->machine.node[i].memory_kib > 0 && !may)
			missing |= (uint64_t)1 << i;
	}
	if (given == 0 || missing == 0)
		return false;
	snprintf(finding->what, sizeof(finding->what), "threads run on node %s, whose memory the process may not use",
	         find_nodes(&doctor->machine, missing, nodes));
	snprintf(finding->evidence, sizeof(finding->evidence), "Mems_allowed %s, by the cpuset %.128s", find_nodes(&doctor->machine, given, allowed),
	         process->limits.cgroup[0] != '\0' ? process->limits.cgroup : "(not known)");
	snprintf(finding->remedy, sizeof(finding->remedy), "cpuset.mems with the nodes of cpuset.cpus (Slurm: ConstrainRAMSpace and task/cgroup agree)");
	return true;
}
