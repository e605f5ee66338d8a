/* The table of everything that the doctor can find wrong, and what its functions share. */
#include "doctor_find.h"

#include <string.h>

static const struct {
	const char *id;
	bool of_process; /* asked for each process that was named; else once */
	find_test *test;
} tests[] = {
	{ "installation", false, find_installation },
	{ "no-sampling", false, find_no_sampling },
	{ "pages-stay", false, find_pages_stay },
	{ "node-full", false, find_full },
	{ "two-movers", false, find_mover },
	{ "quota", false, find_quota },
	{ "stacked", true, find_stacked },
	{ "team", true, find_team },
	{ "narrow", true, find_narrow },
	{ "siblings", true, find_siblings },
	{ "no-share", true, find_no_share },
	{ "foreign-share", true, find_foreign_share },
	{ "one-node", true, find_one_node },
	{ "far-memory", true, find_far },
	{ "policy", true, find_policy },
	{ "mems", true, find_mems },
	{ "quota", true, find_quota },
};

enum { TESTS = sizeof(tests) / sizeof(tests[0]) };

static void judge(struct doctor *doctor, unsigned test, const struct doctor_process *process)
{
	struct finding finding = { .id = tests[test].id, .pid = process == NULL ? 0 : process->pid };

	if (doctor->n_found < DOCTOR_FOUND && tests[test].test(doctor, process, &finding))
		doctor->found[doctor->n_found++] = finding;
}

void doctor_judge(struct doctor *doctor)
{
	doctor->n_found = 0;
	for (unsigned test = 0; test < TESTS; test++) {
		if (!tests[test].of_process)
			judge(doctor, test, NULL);
	}
	for (unsigned i = 0; i < doctor->job.n; i++) {
		for (unsigned test = 0; test < TESTS; test++) {
			if (tests[test].of_process && doctor->job.process[i].target)
				judge(doctor, test, &doctor->job.process[i]);
		}
	}
}

/* ---- what the tests share --------------------------------------------------------------------------------------- */

const char *find_who(const struct doctor_process *process, char text[DOCTOR_WORD])
{
	if (process->rank.launcher != NULL)
		snprintf(text, DOCTOR_WORD, "rank %ld", process->rank.rank);
	else
		snprintf(text, DOCTOR_WORD, "%.*s", DOCTOR_WORD - 1, process->name[0] != '\0' ? process->name : "the program");
	return text;
}

const char *find_binding(const struct doctor_process *process, char text[DOCTOR_WORD])
{
	static const char *const names[] = { "GOMP_CPU_AFFINITY", "KMP_AFFINITY", "OMP_PLACES", "OMP_PROC_BIND" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = variable(process->environment, process->environment_bytes, names[i]);

		if (value == NULL || value[0] == '\0')
			continue;
		snprintf(text, DOCTOR_WORD, "%s=%s", names[i], value);
		return text;
	}
	return NULL;
}

void find_active_by_node(const struct doctor_process *process, unsigned active[MACHINE_NODES])
{
	memset(active, 0, MACHINE_NODES * sizeof(*active));
	for (unsigned i = 0; i < process->n_threads; i++) {
		if (process->thread[i].active && process->thread[i].node < MACHINE_NODES)
			active[process->thread[i].node]++;
	}
}

const char *find_nodes(const struct doctor_machine *machine, uint64_t nodes, char text[DOCTOR_WORD])
{
	struct cpu_mask os = { { 0 } };

	for (unsigned i = 0; i < machine->n_nodes; i++) {
		if (nodes >> i & 1)
			mask_add(&os, machine->node[i].os);
	}
	return list_text(&os, text, DOCTOR_WORD);
}
