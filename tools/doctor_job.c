/* Which processes are looked at: the one that was named, all below it, and the other ranks of this machine, as
 * its neighbours. */
#include "doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Every process of the machine, with its parent. */
struct family {
	const struct doctor_files *files;
	unsigned n, room;
	struct member {
		long pid, parent;
		bool wanted;
	} *member;
};

static void add_member(void *arg, long pid)
{
	struct family *family = arg;
	char line[1024];

	if (family->n == family->room) {
		struct member *larger = realloc(family->member, (family->room += 512) * sizeof(*larger));

		if (larger == NULL)
			return;
		family->member = larger;
	}
	if (!files_line(family->files, line, sizeof(line), "/proc/%ld/stat", pid) || strrchr(line, ')') == NULL)
		return;
	family->member[family->n++] = (struct member){ pid, text_number(strrchr(line, ')') + 3, NULL, 0), false };
}

static bool is_wanted(const struct family *family, long pid)
{
	for (unsigned i = 0; i < family->n; i++) {
		if (family->member[i].pid == pid)
			return family->member[i].wanted;
	}
	return false;
}

/* Marks `pid` and its descendants. Numbers do not rise with the generations, so until nothing changes. */
static void mark_family(struct family *family, long pid)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (unsigned i = 0; i < family->n; i++) {
			struct member *member = &family->member[i];

			if (member->wanted || (member->pid != pid && !is_wanted(family, member->parent)))
				continue;
			member->wanted = changed = true;
		}
	}
}

static void add_process(struct doctor_job *job, struct doctor_files *files, const struct doctor_machine *machine, long pid)
{
	struct doctor_process *process = &job->process[job->n];

	if (job->n == DOCTOR_PROCESSES) {
		files_gap(files, "more than %d processes: the rest is not looked at", DOCTOR_PROCESSES);
		return;
	}
	if (process_look_at(process, files, machine, pid) == 0) {
		process->target = true;
		job->n++;
	} else {
		process_free(process);
	}
}

static bool has_rank(const struct doctor_job *job)
{
	for (unsigned i = 0; i < job->n; i++) {
		if (job->process[i].rank.launcher != NULL)
			return true;
	}
	return false;
}

/* Other ranks that this user may look at. What can't be read is no gap here: it is someone else's. */
static void add_neighbours(struct doctor_job *job, const struct doctor_files *files, const struct doctor_machine *machine,
                           const struct family *family)
{
	struct doctor_files quiet = { .root = files->root };

	for (unsigned i = 0; i < family->n && job->n < DOCTOR_PROCESSES; i++) {
		size_t bytes;
		char *environment = family->member[i].wanted ? NULL : files_text(files, &bytes, "/proc/%ld/environ", family->member[i].pid);
		struct doctor_rank rank;

		if (environment == NULL)
			continue;
		rank_look(&rank, environment, bytes, family->member[i].parent);
		free(environment);
		if (rank.launcher == NULL)
			continue;
		if (process_look_at(&job->process[job->n], &quiet, machine, family->member[i].pid) == 0)
			job->n++;
		else
			process_free(&job->process[job->n]);
	}
}

int job_look(struct doctor_job *job, struct doctor_files *files, const struct doctor_machine *machine, long pid)
{
	struct family family = { .files = files };
	int n = files_numbers(files, "/proc", add_member, &family);

	*job = (struct doctor_job){ .process = calloc(DOCTOR_PROCESSES, sizeof(*job->process)) };
	if (job->process == NULL || n < 0 || family.member == NULL) {
		free(family.member);
		return n < 0 ? n : -ENOMEM;
	}
	mark_family(&family, pid);
	for (unsigned i = 0; i < family.n; i++) {
		if (family.member[i].wanted)
			add_process(job, files, machine, family.member[i].pid);
	}
	if (has_rank(job))
		add_neighbours(job, files, machine, &family);
	free(family.member);
	return job->n > 0 ? 0 : -ESRCH;
}

void job_compare(struct doctor_job *now, const struct doctor_job *then, uint64_t window_ns, const struct doctor_machine *machine)
{
	for (unsigned i = 0; i < now->n; i++) {
		for (unsigned j = 0; j < then->n; j++) {
			if (then->process[j].pid == now->process[i].pid)
				process_compare(&now->process[i], &then->process[j], window_ns, machine);
		}
	}
}

void job_free(struct doctor_job *job)
{
	for (unsigned i = 0; job->process != NULL && i < DOCTOR_PROCESSES; i++)
		process_free(&job->process[i]);
	free(job->process);
	*job = (struct doctor_job){ 0 };
}
