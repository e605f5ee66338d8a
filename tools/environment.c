#define _GNU_SOURCE
#include "environment.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	CPUS_AT_FIRST = 1024,   /* the kernel refuses a mask that is smaller than its own: try larger ones */
	CPUS_AT_MOST = 1 << 18, /* no kernel has more */
	RANGE_LETTERS = 24,     /* ",123456-123456" */
};

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
	for (int cpus = CPUS_AT_FIRST; cpus <= CPUS_AT_MOST; cpus *= 2) {
		size_t bytes = CPU_ALLOC_SIZE(cpus), length = 0;
		cpu_set_t *mask = CPU_ALLOC(cpus);

		if (mask == NULL || sched_getaffinity(0, bytes, mask) < 0) {
			CPU_FREE(mask);
			if (mask == NULL || errno != EINVAL)
				return NULL;
			continue;
		}
		char *list = calloc((size_t)CPU_COUNT_S(bytes, mask) + 1, RANGE_LETTERS);

		for (int first = 0; list != NULL && first < cpus; first++) {
			int last = first;

			if (!CPU_ISSET_S(first, bytes, mask))
				continue;
			while (last + 1 < cpus && CPU_ISSET_S(last + 1, bytes, mask))
				last++;
			length += (size_t)sprintf(list + length, length > 0 ? ",%d" : "%d", first);
			if (last > first)
				length += (size_t)sprintf(list + length, "-%d", last);
			first = last;
		}
		CPU_FREE(mask);
		return list;
	}
	return NULL;
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
