#define _GNU_SOURCE
#include "launch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pure/filename.h"
#include "pure/launchers.h"

enum launch_role launch_role(void)
{
	const char *pid = secure_getenv("NSCHED_LAUNCH_PID");

	if (pid == NULL || pid[0] == '\0')
		return LAUNCH_NONE;
	return strtol(pid, NULL, 10) == getpid() ? LAUNCH_FIRST : LAUNCH_CHILD;
}

const char *launch_variable(const void *unused, const char *name)
{
	(void)unused;
	return getenv(name);
}

bool launch_is_rank(void)
{
	return launchers_of_rank(launch_variable, NULL) != NULL;
}

bool launch_is_first_here(void)
{
	const struct launcher *launcher = launchers_of_local_rank(launch_variable, NULL);
	const char *rank = launcher != NULL ? launch_variable(NULL, launcher->local_rank) : NULL;

	return rank == NULL || strtol(rank, NULL, 10) == 0;
}

const char *launch_cpus(void)
{
	const char *cpus = launch_role() == LAUNCH_FIRST ? secure_getenv("NSCHED_LAUNCH_CPUS") : NULL;

	return cpus != NULL && cpus[0] != '\0' ? cpus : NULL;
}

int launch_report_file(const char *report, char *file, size_t bytes)
{
	char pid[24];
	int length;

	if (launch_role() == LAUNCH_CHILD && report[0] != '\0' && strcmp(report, "-") != 0) {
		snprintf(pid, sizeof(pid), "%ld", (long)getpid());
		length = filename_insert(report, pid, file, bytes);
		return length < 0 ? -ENOSPC : length;
	}
	length = snprintf(file, bytes, "%s", report);
	return (size_t)length < bytes ? length : -ENOSPC;
}
