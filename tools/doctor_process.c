/* One process: its threads with their masks and times, its libraries and its environment. */
#include "doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libnsched/sys/cpulist.h"
#include "libnsched/sys/threads.h"

#define NSCHED_HELPER "nsched" /* the name of its thread, as libnsched/loop.c gives it */

enum {
	ACTIVE_PERMILLE = 200,  /* of the time between the looks, run or waiting for a CPU: less is a helper or a progress
	                         * thread, which may share a CPU without harm */
	TICKS_PER_S = 100,      /* USER_HZ: what /proc counts in, on every architecture of today */
	STATE_FIELD = 2,        /* characters from the ")" of stat to the state */
};

/* ---- one look ------------------------------------------------------------------------------------------- */

static void look_at_times(struct doctor_thread *thread, const struct doctor_files *files, long pid)
{
	char line[1024];
	struct thread_times times;

	thread->cpu_os = -1;
	thread->state = '?';
	if (files_line(files, line, sizeof(line), "/proc/%ld/task/%ld/stat", pid, thread->tid) && threads_parse_stat(line, &times) == 0) {
		thread->cpu_os = (int)times.cpu_os;
		thread->state = strrchr(line, ')')[STATE_FIELD];
		thread->run_ns = times.ticks * (1000000000 / TICKS_PER_S);
	}
	if (files_line(files, line, sizeof(line), "/proc/%ld/task/%ld/schedstat", pid, thread->tid)) {
		char *end;
		uint64_t run = strtoull(line, &end, 10), wait = strtoull(end, NULL, 10);

		thread->exact = run > 0; /* 0 where the kernel does not keep it */
		if (thread->exact) {
			thread->run_ns = run;
			thread->wait_ns = wait;
		}
	}
}

/* False where it is gone. */
static bool look_at_thread(struct doctor_thread *thread, struct doctor_files *files, long pid)
{
	char *status = files_text(files, NULL, "/proc/%ld/task/%ld/status", pid, thread->tid), value[4096];

	if (status == NULL)
		return false;
	text_field(status, "Name", thread->name, sizeof(thread->name));
	text_clean(thread->name);
	text_field(status, "Cpus_allowed_list", value, sizeof(value));
	if (cpulist_parse(value, &thread->cpus) != 0)
		mask_clear(&thread->cpus);
	thread->n_cpus = cpulist_count(&thread->cpus);
	free(status);
	look_at_times(thread, files, pid);
	return true;
}

struct threads_of {
	struct doctor_process *process;
	struct doctor_files *files;
	unsigned room;
};

static void add_thread(void *arg, long tid)
{
	struct threads_of *of = arg;
	struct doctor_process *process = of->process;

	if (process->n_threads == of->room) {
		unsigned room = of->room + 64;
		struct doctor_thread *larger = realloc(process->thread, room * sizeof(*larger));

		if (larger == NULL)
			return;
		process->thread = larger;
		of->room = room;
	}

	struct doctor_thread *thread = &process->thread[process->n_threads];

	*thread = (struct doctor_thread){ .tid = tid, .run_permille = -1, .wait_permille = -1, .node = DOCTOR_NO_NODE };
	process->n_threads += look_at_thread(thread, of->files, process->pid);
}

/* A run-time library that is mapped, by the part of its file's name. */
static const char *library(const char *maps, const char *const names[][2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (strstr(maps, names[i][0]) != NULL)
			return names[i][1];
	}
	return NULL;
}

static void look_at_libraries(struct doctor_process *process, struct doctor_files *files)
{
	static const char *const openmp[][2] = {
		{ "/libomp.so", "LLVM's OpenMP" }, { "/libomp-", "LLVM's OpenMP" }, { "/libiomp5", "Intel's OpenMP" }, { "/libgomp", "gcc's OpenMP" },
	};
	static const char *const mpi[][2] = {
		{ "/libmpich", "MPICH" }, { "/libopen-pal", "Open MPI" }, { "/libopen-rte", "Open MPI" }, { "/libmvapich", "MVAPICH" },
		{ "/libmpi.so.12", "MPICH or Intel MPI" }, { "/libmpi.so", "Open MPI" },
	};
	char *maps = files_text(files, NULL, "/proc/%ld/maps", process->pid);

	if (maps == NULL) {
		if (errno != ESRCH)
			files_gap(files, "process %ld: its libraries: maps can't be read (%s)", process->pid, strerror(errno));
		return;
	}
	process->openmp = library(maps, openmp, sizeof(openmp) / sizeof(openmp[0]));
	process->mpi = library(maps, mpi, sizeof(mpi) / sizeof(mpi[0]));
	process->nsched = strstr(maps, "/libnsched.so") != NULL;
	free(maps);
}

static void unite_masks(struct doctor_process *process)
{
	for (unsigned i = 0; i < process->n_threads; i++) {
		for (unsigned word = 0; word < MACHINE_CPUS / 64; word++)
			process->cpus.word[word] |= process->thread[i].cpus.word[word];
	}
	process->n_cpus = cpulist_count(&process->cpus);
}

int process_look_at(struct doctor_process *process, struct doctor_files *files, const struct doctor_machine *machine, long pid)
{
	char line[1024], folder[DOCTOR_WORD];
	struct threads_of of = { process, files, 0 };

	memset(process, 0, sizeof(*process));
	if (!files_line(files, line, sizeof(line), "/proc/%ld/stat", pid) || strrchr(line, ')') == NULL)
		return -ESRCH;
	process->pid = pid;
	process->parent = text_number(strrchr(line, ')') + STATE_FIELD + 1, NULL, 0);
	files_line(files, process->name, sizeof(process->name), "/proc/%ld/comm", pid);
	text_clean(process->name);
	snprintf(folder, sizeof(folder), "/proc/%ld/task", pid);
	files_numbers(files, folder, add_thread, &of);
	unite_masks(process);
	limits_look(&process->limits, files, machine, pid);
	process->environment = files_text(files, &process->environment_bytes, "/proc/%ld/environ", pid);
	if (process->environment == NULL && errno != ESRCH)
		files_gap(files, "process %ld: who binds it: environ can't be read (%s)", pid, strerror(errno));
	look_at_libraries(process, files);
	memory_look(&process->memory, files, machine, pid);
	rank_look(&process->rank, process->environment, process->environment_bytes, process->parent);
	return process->n_threads > 0 ? 0 : -ESRCH;
}

void process_free(struct doctor_process *process)
{
	free(process->thread);
	free(process->environment);
	memset(process, 0, sizeof(*process));
}

/* ---- two looks compared ------------------------------------------------------------------------------------ */

static int share(uint64_t now, uint64_t then, uint64_t window_ns)
{
	uint64_t permille = now > then ? (now - then) * 1000 / window_ns : 0;

	return permille > 1000 ? 1000 : (int)permille;
}

/* The node that all CPUs of the mask are on; else where it ran at both looks. */
static unsigned node_of_thread(const struct doctor_thread *now, const struct doctor_thread *then, const struct doctor_machine *machine)
{
	for (unsigned i = 0; i < machine->n_nodes; i++) {
		if (now->n_cpus > 0 && mask_within(&now->cpus, &machine->node[i].cpus))
			return i;
	}

	unsigned here = now->cpu_os < 0 ? DOCTOR_NO_NODE : machine_node_of(machine, (unsigned)now->cpu_os);
	unsigned before = then->cpu_os < 0 ? here : machine_node_of(machine, (unsigned)then->cpu_os);

	return here == before ? here : DOCTOR_NO_NODE;
}

void process_compare(struct doctor_process *now, const struct doctor_process *then, uint64_t window_ns,
                     const struct doctor_machine *machine)
{
	for (unsigned i = 0, j = 0; window_ns > 0 && i < now->n_threads; i++) {
		struct doctor_thread *thread = &now->thread[i];

		while (j < then->n_threads && then->thread[j].tid < thread->tid)
			j++;
		if (j == then->n_threads || then->thread[j].tid != thread->tid)
			continue;

		const struct doctor_thread *before = &then->thread[j];

		/* From its start on, where the kernel began to keep the exact times only now. */
		thread->run_permille = share(thread->run_ns, before->run_ns, window_ns);
		if (thread->exact)
			thread->wait_permille = share(thread->wait_ns, before->wait_ns, window_ns);
		/* Where the waiting is not told, one that is ready to run counts: it may have waited all the time. */
		thread->active = thread->run_permille + (thread->exact ? thread->wait_permille : 0) >= ACTIVE_PERMILLE ||
		                 (!thread->exact && (thread->state == 'R' || before->state == 'R'));
		if (now->nsched && strcmp(thread->name, NSCHED_HELPER) == 0)
			thread->active = false; /* our own helper is no part of the team, however busy a slow machine makes it */
		thread->node = node_of_thread(thread, before, machine);
		now->n_active += thread->active;
	}
}
