/* Who else binds threads or moves pages: variables of OpenMP runtimes, launchers and MPI libraries, and what runs
 * on the whole machine. */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- variables ---------------------------------------------------------------------------------------------- */

/* True where the value is one of those words that say no, or begins with one and a comma. */
static bool says(const char *value, const char *const *words)
{
	for (; *words != NULL; words++) {
		size_t length = strlen(*words);

		if (strncasecmp(value, *words, length) == 0 && (value[length] == '\0' || value[length] == ','))
			return true;
	}
	return false;
}

static bool always(const char *value)
{
	return value[0] != '\0';
}

static bool unless_off(const char *value)
{
	static const char *const off[] = { "false", "0", "no", "off", "disabled", "none", NULL };

	return value[0] != '\0' && !says(value, off);
}

/* KMP_AFFINITY=verbose,none: modifiers stand before the kind. */
static bool kmp_binds(const char *value)
{
	static const char *const kinds[] = { "compact", "scatter", "balanced", "explicit", "physical", "logical", "norespect", NULL };

	for (const char *word = value; word != NULL; word = strchr(word, ',')) {
		word += *word == ',';
		if (says(word, kinds))
			return true;
	}
	return strncasecmp(value, "proclist", 8) == 0;
}

static bool preload_binds(const char *value)
{
	return strstr(value, "likwidpin") != NULL || strstr(value, "libdlb") != NULL;
}

static bool slurm_binds(const char *value)
{
	return value[0] != '\0' && strncmp(value, "none", 4) != 0 && strncmp(value, "quiet,none", 10) != 0;
}

static const char threads_stay[] = "binds its threads: nsched leaves them, moves pages only";
static const char mask_before[] = "gives each rank its CPUs: nsched stays inside";
static const char rebinds[] = "binds again in MPI_Init: the whole rank, all threads";

static const struct setting {
	const char *name, *who;
	bool (*binds)(const char *value);
	const char *effect;
} settings[] = {
	{ "OMP_PROC_BIND", "OpenMP", unless_off, threads_stay },
	{ "OMP_PLACES", "OpenMP", always, threads_stay },
	{ "KMP_AFFINITY", "LLVM, Intel", kmp_binds, threads_stay },
	{ "GOMP_CPU_AFFINITY", "OpenMP", always, threads_stay },
	{ "LD_PRELOAD", "preload", preload_binds, "binds threads, or moves CPUs between programs" },
	{ "OMPI_MCA_hwloc_base_binding_policy", "Open MPI", unless_off, mask_before },
	{ "OMPI_MCA_orte_bound_at_launch", "Open MPI", unless_off, mask_before },
	{ "I_MPI_PIN", "Intel MPI", unless_off, rebinds },
	{ "I_MPI_PIN_DOMAIN", "Intel MPI", always, rebinds },
	{ "MV2_ENABLE_AFFINITY", "MVAPICH", unless_off, rebinds },
	{ "MV2_CPU_MAPPING", "MVAPICH", always, rebinds },
	{ "HYDRA_BINDING", "MPICH", unless_off, mask_before },
	{ "SLURM_CPU_BIND_TYPE", "Slurm", slurm_binds, mask_before },
	{ "SLURM_MEM_BIND_TYPE", "Slurm", slurm_binds, "a policy on all memory: nsched respects it" },
};

static void add(struct doctor_binders *binders, long pid, const char *who, const char *name, const char *value, const char *effect)
{
	if (binders->n == DOCTOR_BINDERS)
		return;

	struct doctor_binder *binder = &binders->binder[binders->n++];

	*binder = (struct doctor_binder){ .pid = pid, .effect = effect };
	snprintf(binder->who, sizeof(binder->who), "%s", who);
	snprintf(binder->setting, sizeof(binder->setting), value[0] != '\0' ? "%s=%s" : "%s", name, value);
	text_clean(binder->setting);
}

/* Does another process have the same setting already? Ranks are told once. */
static bool is_known(const struct doctor_binders *binders, const char *name, const char *value)
{
	char setting[DOCTOR_WORD];

	snprintf(setting, sizeof(setting), "%s=%s", name, value);
	for (unsigned i = 0; i < binders->n; i++) {
		if (strcmp(binders->binder[i].setting, setting) == 0)
			return true;
	}
	return false;
}

void binders_of(struct doctor_binders *binders, long pid, const char *environment, size_t bytes)
{
	const char *bind = variable(environment, bytes, "OMP_PROC_BIND");
	bool places_count = bind == NULL || unless_off(bind);

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const char *value = variable(environment, bytes, settings[i].name);

		if (!places_count && strcmp(settings[i].name, "OMP_PLACES") == 0)
			continue;
		if (value != NULL && settings[i].binds(value) && !is_known(binders, settings[i].name, value))
			add(binders, pid, settings[i].who, settings[i].name, value, settings[i].effect);
	}
}

/* ---- the machine ----------------------------------------------------------------------------------------------- */

struct daemons {
	struct doctor_binders *binders;
	const struct doctor_files *files;
};

static void judge_daemon(void *arg, long pid)
{
	static const struct {
		const char *name, *effect;
	} known[] = {
		{ "numad", "binds processes and moves their pages, as nsched does" },
		{ "ananicy", "changes the masks of processes by rules" },
	};
	struct daemons *daemons = arg;
	char name[DOCTOR_WORD], number[DOCTOR_WORD];

	files_line(daemons->files, name, sizeof(name), "/proc/%ld/comm", pid);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i].name) != 0)
			continue;
		snprintf(number, sizeof(number), "%ld", pid);
		add(daemons->binders, 0, known[i].name, "process", number, known[i].effect);
	}
}

void binders_look(struct doctor_binders *binders, struct doctor_files *files, const struct doctor_machine *machine)
{
	struct daemons daemons = { binders, files };

	if (machine->numa_balancing == 1)
		add(binders, 0, "kernel", "kernel.numa_balancing", "1", "moves threads and pages, too; nsched reads its faults");
	else if (machine->numa_balancing > 1)
		add(binders, 0, "kernel", "kernel.numa_balancing", "2", "tiering: moves pages between fast and slow memory");
	if (files_numbers(files, "/proc", judge_daemon, &daemons) < 0)
		files_gap(files, "who else binds: /proc can't be listed");
}
