/* The doctor's words for people: a label, and text that is wrapped at 80 columns. What is well is told briefly, so
 * that a healthy machine fits on one screen of 24 lines. */
#include "doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "libnsched/sys/cpulist.h"

enum {
	COLUMNS = 79, LABEL = 11,
	TEXT_BYTES = 4096,
	NODES_IN_FULL = 8,     /* nodes of different kinds that are told one by one */
};

/* One paragraph behind its label, broken at spaces. */
__attribute__((format(printf, 3, 4))) static void say(FILE *out, const char *label, const char *format, ...)
{
	char text[TEXT_BYTES];
	va_list args;
	const char *at = text;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(out, "%-*s", LABEL, label);
	for (bool first = true; first || *at != '\0'; first = false) {
		size_t room = COLUMNS - LABEL, length = strlen(at);

		if (length > room) {
			for (length = room; length > 0 && at[length] != ' ';)
				length--;
			if (length == 0) /* a word longer than a line */
				length = strcspn(at, " ");
		}
		fprintf(out, "%s%.*s\n", first ? "" : "           ", (int)length, at);
		at += length;
		at += strspn(at, " ");
	}
}

/* Appends to a text of TEXT_BYTES. */
__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, TEXT_BYTES - length, format, args);
	va_end(args);
}

/* ---- the machine ----------------------------------------------------------------------------------------------- */

static const char *size_text(uint64_t kib, char text[DOCTOR_WORD])
{
	if (kib >= 10 << 20)
		snprintf(text, DOCTOR_WORD, "%.0f GiB", (double)kib / (1 << 20));
	else
		snprintf(text, DOCTOR_WORD, "%llu MiB", (unsigned long long)(kib >> 10));
	return text;
}

static void say_nodes(const struct doctor_machine *machine, FILE *out)
{
	char text[TEXT_BYTES] = "", cpus[DOCTOR_WORD], size[DOCTOR_WORD];

	for (unsigned i = 0; i < machine->n_nodes; i++) {
		const struct doctor_node *node = &machine->node[i];

		if (i == NODES_IN_FULL) {
			add(text, "; and %u more (--json)", machine->n_nodes - i);
			break;
		}
		add(text, "%s%u:", i > 0 ? "; " : "", node->os);
		if (cpulist_count(&node->cpus) == 0)
			add(text, " no CPU (memory only)");
		else
			add(text, " CPU %s", list_text(&node->cpus, cpus, sizeof(cpus)));
		if (node->memory_kib == 0)
			add(text, ", no memory (CPUs only)");
		else
			add(text, ", %s", size_text(node->memory_kib, size));
	}
	say(out, "  nodes", "%s", text[0] != '\0' ? text : "not known");
}

struct range {
	double own_least, own_most, other_least, other_most;
};

static void widen(double *least, double *most, double value)
{
	if (*most == 0 || value < *least)
		*least = value;
	if (value > *most)
		*most = value;
}

static void add_range(char *text, double least, double most, const char *unit, const char *of)
{
	if (most == 0)
		return;
	if (most - least < 0.5)
		add(text, "%s%.0f%s %s", text[0] != '\0' ? ", " : "", most, unit, of);
	else
		add(text, "%s%.0f-%.0f%s %s", text[0] != '\0' ? ", " : "", least, most, unit, of);
}

static double distance(const struct doctor_machine *machine, unsigned from, unsigned to)
{
	return machine->distance[from][to];
}

static double latency(const struct doctor_machine *machine, unsigned from, unsigned to)
{
	return (double)machine->measured.latency_ns[from][to];
}

static double bandwidth(const struct doctor_machine *machine, unsigned from, unsigned to)
{
	return (double)machine->measured.bandwidth_mbs[from][to] / 1000;
}

/* "10 to itself, 21-31 to others", of all pairs of nodes. */
static void add_pairs(char *text, const struct doctor_machine *machine, unsigned n,
                      double (*value)(const struct doctor_machine *machine, unsigned from, unsigned to), const char *unit)
{
	struct range range = { 0 };
	char own[TEXT_BYTES] = "";

	for (unsigned from = 0; from < n; from++) {
		for (unsigned to = 0; to < n; to++) {
			double v = value(machine, from, to);

			if (v > 0 && from == to)
				widen(&range.own_least, &range.own_most, v);
			else if (v > 0)
				widen(&range.other_least, &range.other_most, v);
		}
	}
	add_range(own, range.own_least, range.own_most, unit, "to itself");
	add_range(own, range.other_least, range.other_most, unit, "to others");
	add(text, "%s%s", text[0] != '\0' && own[0] != '\0' ? "; " : "", own);
}

static void say_distances(const struct doctor_machine *machine, FILE *out)
{
	char text[TEXT_BYTES] = "";

	add_pairs(text, machine, machine->n_nodes, distance, "");
	say(out, "  distance", "%s", text[0] != '\0' ? text : "not known");
	if (!machine->is_measured) {
		say(out, "  measured", "not yet: nsched doctor --measure");
		return;
	}
	text[0] = '\0';
	add_pairs(text, machine, machine->measured.n_nodes, latency, " ns");
	add_pairs(text, machine, machine->measured.n_nodes, bandwidth, " GB/s");
	say(out, "  measured", "%s (%s)", text, machine->measured.when);
}

static void say_limits(const struct doctor *doctor, FILE *out)
{
	char cpus[DOCTOR_WORD], mems[DOCTOR_WORD], quota[DOCTOR_WORD] = "";
	const struct doctor_limits *own = &doctor->own;

	if (own->quota_cpus > 0)
		snprintf(quota, sizeof(quota), ", time for %.1f CPUs", own->quota_cpus);
	say(out, "  allowed", "CPU %s, memory of node %s; cgroup %s%s", list_text(&own->cpus, cpus, sizeof(cpus)),
	    list_text(&own->mems_os, mems, sizeof(mems)), own->cgroup[0] != '\0' ? own->cgroup : "not known", quota);
}

static void say_machine(const struct doctor *doctor, FILE *out)
{
	const struct doctor_machine *machine = &doctor->machine;
	char smt[DOCTOR_WORD] = "";

	if (machine->threads_per_core > 0)
		snprintf(smt, sizeof(smt), ", %u thread%s a core", machine->threads_per_core, machine->threads_per_core == 1 ? "" : "s");
	say(out, "machine", "%s: %u NUMA node%s, %u CPUs%s", machine->model, machine->n_nodes, machine->n_nodes == 1 ? "" : "s",
	    cpulist_count(&machine->online), smt);
	say_nodes(machine, out);
	say_limits(doctor, out);
	say_distances(machine, out);
	if (doctor->tools.loaded)
		say(out, "  nsched", "%s%s", doctor->tools.worthwhile ? "serves programs here" : "stands aside here: ",
		    doctor->tools.worthwhile ? "" : doctor->tools.why_not.text);
}

/* ---- what nsched can do, and who else does it --------------------------------------------------------------------- */

/* The names of all sources and calls that have this remedy, once. */
static void say_remedies(const struct doctor_tools *tools, FILE *out)
{
	for (unsigned i = 0; i < tools->n_sources; i++) {
		const char *remedy = tools->source[i].remedy;
		char text[TEXT_BYTES] = "";
		bool told = false;

		for (unsigned j = 0; j < i; j++)
			told |= strcmp(tools->source[j].remedy, remedy) == 0;
		if (remedy[0] == '\0' || told)
			continue;
		for (unsigned j = i; j < tools->n_sources; j++) {
			if (strcmp(tools->source[j].remedy, remedy) == 0)
				add(text, "%s%s", text[0] != '\0' ? ", " : "", tools->source[j].is.name);
		}
		say(out, "  better", "%s: %s", text, remedy);
	}
}

static void say_abilities(const struct doctor_tools *tools, FILE *out)
{
	char text[TEXT_BYTES] = "";

	for (unsigned i = 0; i < tools->n_abilities; i++) {
		if (tools->ability[i].error == 0)
			add(text, "%s%s", text[0] != '\0' ? ", " : "", tools->ability[i].name);
	}
	say(out, "acts", "%s", text[0] != '\0' ? text : "not at all");
	for (unsigned i = 0; i < tools->n_abilities; i++) {
		const struct doctor_ability *ability = &tools->ability[i];
		bool told = false;

		if (ability->error == 0)
			continue;
		say(out, "  not", "%s: %s; %s", ability->name, strerror(-ability->error), ability->without);
		for (unsigned j = 0; j < i; j++)
			told |= strcmp(tools->ability[j].remedy, ability->remedy) == 0;
		if (!told && ability->remedy[0] != '\0')
			say(out, "  better", "%s", ability->remedy);
	}
}

static void say_tools(const struct doctor *doctor, FILE *out)
{
	const struct doctor_tools *tools = &doctor->tools;
	char on[TEXT_BYTES] = "";

	if (!doctor->tools_tried)
		return;
	for (unsigned i = 0; i < tools->n_sources; i++) {
		if (tools->source[i].is.error == 0)
			add(on, "%s%s", on[0] != '\0' ? ", " : "", tools->source[i].is.name);
	}
	say(out, "evidence", "on: %s", on[0] != '\0' ? on : "nothing");
	for (unsigned i = 0; i < tools->n_sources; i++) {
		if (tools->source[i].is.error != 0)
			say(out, "  off", "%s: %s", tools->source[i].is.name, tools->source[i].is.why);
	}
	say_remedies(tools, out);
	say_abilities(tools, out);
}

static void say_binders(const struct doctor *doctor, FILE *out)
{
	const struct doctor_binders *binders = &doctor->binders;

	if (binders->n == 0)
		say(out, "others", "nobody else binds threads or moves pages");
	for (unsigned i = 0; i < binders->n; i++) {
		const struct doctor_binder *binder = &binders->binder[i];

		say(out, i == 0 ? "others" : "", "%s (%s): %s", binder->who, binder->setting, binder->effect);
	}
}

/* ---- programs, and what is wrong -------------------------------------------------------------------------------------- */

static void add_memory(char *text, const struct doctor *doctor, const struct doctor_process *process)
{
	char size[DOCTOR_WORD];
	const struct doctor_memory *memory = &process->memory;

	if (!memory->known)
		return;
	add(text, "; %s", size_text(memory->kib, size));
	for (unsigned i = 0; i < doctor->machine.n_nodes && memory->kib > 0; i++) {
		if (memory->node_kib[i] * 100 >= memory->kib)
			add(text, ", node %u %llu %%", doctor->machine.node[i].os, (unsigned long long)(memory->node_kib[i] * 100 / memory->kib));
	}
}

static void say_process(const struct doctor *doctor, const struct doctor_process *process, FILE *out)
{
	char text[TEXT_BYTES] = "", cpus[DOCTOR_WORD];

	add(text, "%s (%ld)", process->name, process->pid);
	if (process->rank.launcher != NULL)
		add(text, ", rank %ld by %s", process->rank.rank, process->rank.launcher);
	add(text, ": %u thread%s, %u busy; CPU %s", process->n_threads, process->n_threads == 1 ? "" : "s", process->n_active,
	    list_text(&process->cpus, cpus, sizeof(cpus)));
	add_memory(text, doctor, process);
	if (process->openmp != NULL)
		add(text, "; %s", process->openmp);
	if (process->mpi != NULL)
		add(text, "; %s", process->mpi);
	if (process->nsched)
		add(text, "; nsched is in it");
	say(out, "program", "%s", text);
}

/* Idle ones (shells, launchers) are told only where there is nothing else. */
static void say_processes(const struct doctor *doctor, FILE *out)
{
	unsigned told = 0, idle = 0;

	for (unsigned i = 0; i < doctor->job.n; i++) {
		const struct doctor_process *process = &doctor->job.process[i];

		if (!process->target)
			continue;
		idle += process->n_active == 0;
		told += process->n_active > 0;
		if (process->n_active > 0)
			say_process(doctor, process, out);
	}
	for (unsigned i = 0; told == 0 && i < doctor->job.n; i++) {
		if (doctor->job.process[i].target)
			say_process(doctor, &doctor->job.process[i], out);
	}
	if (told > 0 && idle > 0)
		say(out, "", "and %u process%s that did nothing meanwhile", idle, idle == 1 ? "" : "es");
}

static const char *name_of(const struct doctor *doctor, long pid)
{
	for (unsigned i = 0; i < doctor->job.n; i++) {
		if (doctor->job.process[i].pid == pid)
			return doctor->job.process[i].name;
	}
	return "process";
}

static void say_findings(const struct doctor *doctor, FILE *out)
{
	if (doctor->n_found == 0)
		say(out, "findings", "none");
	for (unsigned i = 0; i < doctor->n_found; i++) {
		const struct finding *finding = &doctor->found[i];

		if (finding->pid != 0)
			say(out, "FINDING", "%s: %s [%s %ld]", finding->id, finding->what, name_of(doctor, finding->pid), finding->pid);
		else
			say(out, "FINDING", "%s: %s", finding->id, finding->what);
		say(out, "  seen", "%s", finding->evidence);
		say(out, "  do", "%s", finding->remedy);
	}
}

static void say_gaps(const struct doctor_files *files, FILE *out)
{
	for (unsigned i = 0; i < files->n_gaps && i < DOCTOR_GAPS; i++)
		say(out, i == 0 ? "not known" : "", "%s", files->gap[i]);
	if (files->n_gaps > DOCTOR_GAPS)
		say(out, "", "and %u more", files->n_gaps - DOCTOR_GAPS);
}

void doctor_text(const struct doctor *doctor, FILE *out)
{
	fprintf(out, "nsched %d.%d.%d doctor, %s, Linux %s: ", NSCHED_VERSION_MAJOR, NSCHED_VERSION_MINOR, NSCHED_VERSION_PATCH,
	        doctor->machine.host, doctor->machine.kernel);
	if (doctor->n_found == 0)
		fputs("healthy\n", out);
	else
		fprintf(out, "%u finding%s\n", doctor->n_found, doctor->n_found == 1 ? "" : "s");
	say_machine(doctor, out);
	say_tools(doctor, out);
	say_binders(doctor, out);
	say_processes(doctor, out);
	say_gaps(&doctor->files, out);
	say_findings(doctor, out);
}
