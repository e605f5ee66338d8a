#include "sys/nodes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum {
	PATH_BYTES = 256,
	LIST_BYTES = 4096,    /* "0-3,8,10-11": a node's CPUs, or the nodes, of the largest machines */
	STATUS_BYTES = 16384, /* /proc/self/status; its hexadecimal masks grow with the kernel's NR_CPUS */
};

/* Not on the stack: whoever makes a thread may stand on a small one. */
struct texts {
	char online[LIST_BYTES], mems[LIST_BYTES], own_cpus[LIST_BYTES], node_cpus[LIST_BYTES], status[STATUS_BYTES];
};

/* The file into `text` with a closing zero; 0 if there is none. */
static int slurp(const char *root, const char *name, char *text, size_t bytes)
{
	char path[PATH_BYTES];
	size_t length = 0;
	ssize_t got;

	if (snprintf(path, sizeof(path), "%s%s", root, name) >= (int)sizeof(path))
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	while (length < bytes - 1 && (got = read(fd, text + length, bytes - 1 - length)) > 0)
		length += (size_t)got;
	close(fd);
	text[length] = '\0';
	return length > 0;
}

/* The next range "first-last" or "first" of a list at *cursor; 0 at its end. */
static int next_range(const char **cursor, unsigned long *first, unsigned long *last)
{
	char *end;

	while (**cursor == ',' || **cursor == ' ' || **cursor == '\t')
		++*cursor;
	*first = strtoul(*cursor, &end, 10);
	if (end == *cursor)
		return 0;
	*last = *first;
	if (*end == '-')
		*last = strtoul(end + 1, &end, 10);
	*cursor = end;
	return 1;
}

static int lists_meet(const char *a, const char *b)
{
	unsigned long a_first, a_last, b_first, b_last;

	while (next_range(&a, &a_first, &a_last)) {
		for (const char *cursor = b; next_range(&cursor, &b_first, &b_last);) {
			if (a_first <= b_last && b_first <= a_last)
				return 1;
		}
	}
	return 0;
}

static int has_number(const char *list, unsigned long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%lu", number);
	return lists_meet(list, text);
}

/* Cuts the line "name list" out of the status file. */
static const char *status_line(const char *status, const char *name, char list[LIST_BYTES])
{
	const char *line = strstr(status, name);

	list[0] = '\0';
	if (line != NULL) {
		size_t length = strcspn(line += strlen(name), "\n");

		length = length < LIST_BYTES ? length : LIST_BYTES - 1;
		memcpy(list, line, length);
		list[length] = '\0';
	}
	return list;
}

static int has_own_cpus(struct texts *texts, const char *root, unsigned long node, const char *cpus)
{
	char name[PATH_BYTES];

	snprintf(name, sizeof(name), "/sys/devices/system/node/node%lu/cpulist", node);
	return slurp(root, name, texts->node_cpus, LIST_BYTES) && lists_meet(texts->node_cpus, cpus);
}

static int choose(struct texts *texts, const char *root, const char *cpus)
{
	unsigned long first, last;
	const char *cursor = texts->online;
	int usable = 0;

	if (!slurp(root, "/sys/devices/system/node/online", texts->online, LIST_BYTES))
		return 0;
	/* Nearly every machine that is no server ends here, after one small file. */
	if (strpbrk(texts->online, "-,") == NULL)
		return 0;
	if (!slurp(root, "/proc/self/status", texts->status, STATUS_BYTES))
		return 0;
	status_line(texts->status, "Mems_allowed_list:", texts->mems);
	if (cpus == NULL || cpus[0] == '\0')
		cpus = status_line(texts->status, "Cpus_allowed_list:", texts->own_cpus);
	while (usable < 2 && next_range(&cursor, &first, &last)) {
		for (unsigned long node = first; usable < 2 && node <= last; node++)
			usable += has_number(texts->mems, node) || has_own_cpus(texts, root, node, cpus);
	}
	return usable >= 2;
}

int nodes_to_choose(const char *root, const char *cpus)
{
	/* a program with more rights than its user is left alone */
	struct texts *texts = getauxval(AT_SECURE) ? NULL : malloc(sizeof(*texts));
	int result = texts != NULL && choose(texts, root, cpus);

	free(texts);
	return result;
}
