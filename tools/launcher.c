#define _GNU_SOURCE
#include "launcher.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libnsched/launch.h"
#include "libnsched/pure/launchers.h"

enum {
	ANCESTORS = 16,               /* processes between a rank and its launcher: shells, wrappers */
	ENVIRON_BYTES = 1 << 18,      /* of an ancestor's environment */
};

/* A number of the environment; -1 if there is none. */
static int number(const char *variable)
{
	const char *text = variable == NULL ? NULL : getenv(variable);
	char *end;

	if (text == NULL || !isdigit((unsigned char)text[0]))
		return -1;
	errno = 0;
	long value = strtol(text, &end, 10);

	return errno != 0 || *end != '\0' || value > INT_MAX ? -1 : (int)value;
}

int launcher_slurm_tasks(const char *list, unsigned node)
{
	while (isdigit((unsigned char)*list)) {
		char *end;
		unsigned long tasks = strtoul(list, &end, 10), times = 1;

		if (end[0] == '(' && end[1] == 'x' && isdigit((unsigned char)end[2])) {
			times = strtoul(end + 2, &end, 10);
			if (*end++ != ')')
				return 0;
		}
		if (node < times)
			return tasks > INT_MAX ? 0 : (int)tasks;
		node -= (unsigned)times;
		list = *end == ',' ? end + 1 : "";
	}
	return 0;
}

/* The one that tells how many ranks each machine has, and nobody the number of this one's. */
static int is_slurm(const struct launcher *launcher)
{
	return strcmp(launcher->name, "Slurm") == 0;
}

static int local_ranks(const struct launcher *launcher)
{
	const char *tasks = getenv("SLURM_STEP_TASKS_PER_NODE");
	int node = number("SLURM_NODEID"), told = number(launcher->local_ranks);

	if (launcher->local_ranks == NULL && is_slurm(launcher) && tasks != NULL && node >= 0)
		told = launcher_slurm_tasks(tasks, (unsigned)node);
	return told < 0 ? 0 : told;
}

static void name_job(const struct launcher *launcher, char job[LAUNCHER_JOB_BYTES])
{
	const char *word[2];

	for (int i = 0; i < 2; i++) {
		word[i] = launcher->job[i] == NULL ? NULL : getenv(launcher->job[i]);
		if (word[i] == NULL)
			word[i] = "";
	}
	snprintf(job, LAUNCHER_JOB_BYTES, "%s.%s.%s", launcher->name, word[0], word[1]);
}

static int bound_by_default(const struct launcher *launcher)
{
	if (launcher->bound == NULL || getenv(launcher->bound) == NULL)
		return 0;
	for (size_t i = 0; i < sizeof(launcher->asked) / sizeof(launcher->asked[0]); i++) {
		if (launcher->asked[i] != NULL && getenv(launcher->asked[i]) != NULL)
			return 0;
	}
	return 1;
}

/* ---- the launcher's process --------------------------------------------------------------------- */

static pid_t parent_of(pid_t pid)
{
	char path[64], stat[512];
	long parent = 0;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);

	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return 0;
	stat[got] = '\0';
	const char *behind_name = strrchr(stat, ')');

	return behind_name != NULL && sscanf(behind_name, ") %*c %ld", &parent) == 1 ? (pid_t)parent : 0;
}

/* Whether the process `pid` was started with the very value that this one has. */
static int has_same(pid_t pid, const char *variable, char *memory)
{
	char path[64], wanted[LAUNCHER_JOB_BYTES * 2];
	const char *value = getenv(variable);
	ssize_t got;
	size_t bytes = 0;
	int length = snprintf(wanted, sizeof(wanted), "%s=%s", variable, value == NULL ? "" : value);

	snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || length >= (int)sizeof(wanted)) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (bytes < ENVIRON_BYTES - 1 && (got = read(fd, memory + bytes, ENVIRON_BYTES - 1 - bytes)) > 0)
		bytes += (size_t)got;
	close(fd);
	memory[bytes] = '\0';
	for (const char *entry = memory; entry < memory + bytes; entry += strlen(entry) + 1) {
		if (strcmp(entry, wanted) == 0)
			return 1;
	}
	return 0;
}

/* Shells and wrappers between the launcher and us have our variables; the launcher itself has not, or is
 * another user's, whose environment can't be read. */
static pid_t launcher_pid(const struct launcher *launcher)
{
	char *memory = malloc(ENVIRON_BYTES);
	pid_t pid = getppid();

	for (int i = 0; memory != NULL && pid > 1 && i < ANCESTORS; i++) {
		if (!has_same(pid, launcher->local_rank, memory))
			break;
		if (launcher->job[0] != NULL && getenv(launcher->job[0]) != NULL && !has_same(pid, launcher->job[0], memory))
			break;
		pid = parent_of(pid);
	}
	free(memory);
	return pid;
}

static void find_rank(struct launcher_job *job)
{
	const struct launcher *launcher = launchers_of_rank(launch_variable, NULL);

	if (launcher == NULL)
		return;
	job->rank_text = getenv(launcher->rank);
	job->rank = number(launcher->rank);
	job->ranks = number(launcher->ranks);
	if (job->ranks < 0)
		job->ranks = 0;
}

static void find_local_rank(struct launcher_job *job)
{
	const struct launcher *launcher = launchers_of_local_rank(launch_variable, NULL);

	job->local_rank = -1;
	if (launcher == NULL)
		return;
	job->launcher = launcher->name;
	job->families = launcher->family;
	job->local_rank = number(launcher->local_rank);
	job->local_ranks = local_ranks(launcher);
	if (job->local_rank < 0 || job->local_rank >= job->local_ranks)
		job->local_ranks = 0;
	job->default_bound = bound_by_default(launcher);
	name_job(launcher, job->job);
	job->pid = launcher_pid(launcher);
}

void launcher_find(struct launcher_job *job)
{
	memset(job, 0, sizeof(*job));
	find_rank(job);
	find_local_rank(job);
}
