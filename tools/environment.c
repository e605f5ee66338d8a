#define _GNU_SOURCE
#include "environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libnsched/sys/cpulist.h"

enum { LIST_BYTES = MACHINE_CPUS * 6 }; /* every second CPU of the largest machine: "8190," */

static int is_in(const char *list, const char *entry, const char *separators)
{
	size_t length;

	for (; *list != '\0'; list += length) {
		list += strspn(list, separators);
		length = strcspn(list, separators);
		if (length == strlen(entry) && strncmp(list, entry, length) == 0)
			return 1;
	}
	return 0;
}

static int set(const char *name, const char *value)
{
	return setenv(name, value, 1) == 0 ? 0 : -errno;
}

int environment_prepend(const char *name, const char *library, const char *separators)
{
	const char *list = getenv(name);
	char *longer;
	int result;

	if (list == NULL || list[0] == '\0')
		return set(name, library);
	if (is_in(list, library, separators))
		return 0;
	if (asprintf(&longer, "%s%c%s", library, separators[0], list) < 0)
		return -ENOMEM;
	result = set(name, longer);
	free(longer);
	return result;
}

int environment_add_tool(const char *plugin)
{
	const char *tools = getenv("OMP_TOOL_LIBRARIES");
	const char *chained = getenv("NSCHED_TOOL_LIBRARIES");
	int result = 0;

	/* What the user chained by hand stands. */
	if (tools != NULL && tools[0] != '\0' && chained == NULL && !is_in(tools, plugin, ":"))
		result = set("NSCHED_TOOL_LIBRARIES", tools);
	return result < 0 ? result : environment_prepend("OMP_TOOL_LIBRARIES", plugin, ":");
}

/* The mask of this process, "0-3,8", to be freed; NULL if the kernel does not tell. */
static char *own_cpus(void)
{
	struct cpu_mask mask;
	char *list = malloc(LIST_BYTES);

	mask_clear(&mask);
	if (list == NULL || syscall(SYS_sched_getaffinity, 0, sizeof(mask), &mask) < 0) {
		free(list);
		return NULL;
	}
	return cpulist_print(&mask, list, LIST_BYTES);
}

int environment_is_ours(const char *name)
{
	const char *exported = getenv("NSCHED_EXPORTED");

	return exported != NULL && is_in(exported, name, ",");
}

void environment_default(const char *name, const char *value)
{
	if (getenv(name) == NULL && environment_prepend("NSCHED_EXPORTED", name, ",") == 0)
		set(name, value);
}

int environment_mark_launch(void)
{
	char pid[24], *cpus = own_cpus();
	int result;

	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	result = set("NSCHED_LAUNCH_PID", pid);
	if (result == 0 && cpus != NULL)
		result = set("NSCHED_LAUNCH_CPUS", cpus);
	else if (cpus == NULL) /* not those of a launcher further up */
		unsetenv("NSCHED_LAUNCH_CPUS");
	free(cpus);
	return result;
}
