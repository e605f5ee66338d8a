#include "kernel_faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FILE_BYTES = 24576,      /* a head of 3 KiB, and up to 130 bytes for each of 128 nodes; what is behind is cut */
	PATH_BYTES = 128,
};

/* ---- the text -------------------------------------------------------------------------------------------- */

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number right here; false where there is none, or none that fits. */
static bool number(const char *text, uint64_t *value, const char **end)
{
	char *behind;
	if (!digit(*text)) return false;
	errno = 0;
	*value = strtoull(text, &behind, 10);
	if (end) *end = behind;
	return errno == 0;
}

/* "name   :   value", as kernels before 5.10 and behind print it, only wider. */
static bool line_value(const char *line, size_t length, const char *name, uint64_t *value)
{
	size_t n = strlen(name);
	if (length < n || strncmp(line, name, n)) return false;
	const char *at = line + n + strspn(line + n, " \t");
	if (*at != ':') return false;
	return number(at + 1 + strspn(at + 1, " \t"), value, NULL);
}

/* The number behind "word=" of this line. */
static bool word_value(const char *line, size_t length, const char *word, uint64_t *value)
{
	size_t n = strlen(word);
	for (const char *at = line; at + n < line + length; at++)
		if (!strncmp(at, word, n) && (at == line || at[-1] == ' ')) return number(at + n, value, NULL);
	return false;
}

/* "numa_faults node=1 task_private=178 task_shared=2689 group_private=.. group_shared=..". Kernels before 4.17
 * had private and shared the wrong way round; the sum is the same. */
static int faults_line(const char *line, size_t length, struct kernel_faults *faults, kernel_faults_node *node, void *arg)
{
	uint64_t os, private, shared;
	if (!word_value(line, length, "node=", &os) || os >= KERNEL_NODES) return -EINVAL;
	if (!word_value(line, length, "task_private=", &private) || !word_value(line, length, "task_shared=", &shared)) return -EINVAL;
	if (private > UINT32_MAX || shared > UINT32_MAX) return -EINVAL;    /* it counts sampled pages, and halves them */
	faults->sum += private + shared;
	faults->n++;
	if (node) node(arg, (unsigned)os, private + shared);
	return 0;
}

int kernel_faults_parse(const char *text, struct kernel_faults *faults, kernel_faults_node *node, void *arg)
{
	static const char FAULTS[] = "numa_faults ";
	int ret = 0;
	uint64_t preferred = KERNEL_NODES;
	memset(faults, 0, sizeof *faults);
	for (const char *line = text; !ret && *line;) {
		size_t length = strcspn(line, "\n");
		if (!strncmp(line, FAULTS, sizeof FAULTS - 1) && line[length] == '\n') ret = faults_line(line, length, faults, node, arg);
		else if (!line_value(line, length, "total_numa_faults", &faults->total) &&
		         !line_value(line, length, "numa_pages_migrated", &faults->migrated))
			(void)line_value(line, length, "numa_preferred_nid", &preferred);
		line += length + (line[length] == '\n');
	}
	faults->preferred_os = preferred < KERNEL_NODES ? (int)preferred : -1;
	return ret ? ret : faults->n ? 0 : -ENODATA;
}

/* ---- the file -------------------------------------------------------------------------------------------- */

static int slurp(const char *path, char *text, size_t bytes)
{
	size_t length = 0;
	ssize_t got = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	if (fd < 0) return -errno;
	while (length < bytes - 1 && (got = read(fd, text + length, bytes - 1 - length)) > 0) length += (size_t)got;
	if (got < 0) err = -errno;
	close(fd);
	text[length] = 0;
	return err;
}

int kernel_faults_read(pid_t tid, struct kernel_faults *faults, kernel_faults_node *node, void *arg)
{
	char path[PATH_BYTES], text[FILE_BYTES];
	snprintf(path, sizeof path, "/proc/self/task/%d/sched", (int)tid);
	int ret = slurp(path, text, sizeof text);
	return ret ? ret : kernel_faults_parse(text, faults, node, arg);
}

int kernel_balancing(const char *root)
{
	char path[PATH_BYTES], text[16];
	uint64_t bits;
	snprintf(path, sizeof path, "%s/proc/sys/kernel/numa_balancing", root);
	return !slurp(path, text, sizeof text) && number(text, &bits, NULL) ? (int)(bits & 3) : 0;
}
