#define _GNU_SOURCE
#include "sys/measured.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FORMAT = 1,
	SMALL_BYTES = 8192,     /* the files of /sys, and the beginning of /proc/cpuinfo */
	FILE_BYTES = 131072,    /* the largest: 64 nodes, two lines of 64 numbers of up to 12 characters for each */
	PATH_BYTES = 512,
	VALUE_MOST = 1000000000, /* a millisecond of latency, a million GB/s: beyond, the file is damaged */
	PS_IN_NS = 1000,
	MEMORY_STEPS = 4,       /* memory counts in quarters of a power of two: what the kernel keeps for itself varies */
};

/* ---- identity ---------------------------------------------------------------------------------------------- */

/* The beginning of a file, with a closing zero; false if there is none. */
static bool slurp(const char *root, const char *name, char *text, size_t bytes)
{
	char path[PATH_BYTES];
	size_t length = 0;
	ssize_t got;
	if (snprintf(path, sizeof path, "%s%s", root, name) >= (int)sizeof path) return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) return false;
	while (length < bytes - 1 && (got = read(fd, text + length, bytes - 1 - length)) > 0) length += (size_t)got;
	close(fd);
	text[length] = 0;
	return length > 0;
}

/* FNV-1a, 64 bits: the same on every machine, whatever its byte order. */
static void mix(uint64_t *hash, const char *text)
{
	for (; *text; text++) *hash = (*hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	*hash = (*hash ^ '\n') * UINT64_C(0x100000001b3);
}

/* x86 and POWER name the processor, Arm numbers it. */
static void find_cpu(char *cpu, const char *info)
{
	static const char *const names[] = { "model name", "cpu\t", "CPU part", "Processor" };
	snprintf(cpu, MEASURED_NAME, "unknown");
	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *at = strstr(info, names[i]), *colon = at ? strchr(at, ':') : NULL;
		if (!colon) continue;
		colon += 1 + strspn(colon + 1, " \t");
		size_t length = strcspn(colon, "\n");
		while (length && colon[length - 1] == ' ') length--;
		if (length) {
			snprintf(cpu, MEASURED_NAME, "%.*s", (int)length, colon);
			return;
		}
	}
}

static unsigned memory_step(const char *meminfo)
{
	const char *at = strstr(meminfo, "MemTotal:");
	unsigned long long kib = at ? strtoull(at + strlen("MemTotal:"), NULL, 10) : 0, power = 1;
	while (power * 2 <= kib) power *= 2;
	return (unsigned)((kib * MEMORY_STEPS + power / 2) / power + (kib ? 64u - (unsigned)__builtin_clzll(power) : 0) * 16);
}

static void mix_node(uint64_t *hash, const char *root, unsigned node, char text[SMALL_BYTES])
{
	static const char *const files[] = { "cpulist", "distance" };
	char name[PATH_BYTES];
	for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++) {
		snprintf(name, sizeof name, "/sys/devices/system/node/node%u/%s", node, files[i]);
		mix(hash, slurp(root, name, text, SMALL_BYTES) ? text : "?");
	}
	snprintf(name, sizeof name, "/sys/devices/system/node/node%u/meminfo", node);
	unsigned step = slurp(root, name, text, SMALL_BYTES) ? memory_step(text) : 0;
	snprintf(text, SMALL_BYTES, "%u %u", node, step);
	mix(hash, text);
}

/* The nodes of a list "0-3,8"; their number, -E2BIG or -EINVAL. */
static int list_nodes(const char *list, uint16_t os[MACHINE_NODES])
{
	unsigned n = 0;
	for (const char *p = list; *p && *p != '\n';) {
		char *end;
		unsigned long first = strtoul(p, &end, 10), last = first;
		if (end == p) return -EINVAL;
		if (*end == '-') last = strtoul(end + 1, &end, 10);
		for (; first <= last; first++) {
			if (n == MACHINE_NODES || first > UINT16_MAX) return -E2BIG;
			os[n++] = (uint16_t)first;
		}
		p = *end == ',' ? end + 1 : end;
		if (p == end && *end && *end != '\n') return -EINVAL;
	}
	return (int)n;
}

static int identify(struct measured *m, const char *root, char text[SMALL_BYTES])
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	if (!slurp(root, "/sys/devices/system/node/online", text, SMALL_BYTES)) return -ENODEV;
	int n = list_nodes(text, m->os);
	if (n <= 0) return n == -E2BIG ? n : -ENODEV;
	m->n_nodes = (unsigned)n;
	find_cpu(m->cpu, slurp(root, "/proc/cpuinfo", text, SMALL_BYTES) ? text : "");
	mix(&hash, m->cpu);
	for (unsigned i = 0; i < m->n_nodes; i++) mix_node(&hash, root, m->os[i], text);
	m->identity = hash;
	return 0;
}

int measured_identify(struct measured *m, const char *root)
{
	char *text = malloc(SMALL_BYTES);
	memset(m, 0, sizeof *m);
	int ret = text ? identify(m, root, text) : -ENOMEM;
	free(text);
	return ret;
}

int measured_path(uint64_t identity, char *path, size_t bytes)
{
	const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int length;
	if (cache && cache[0] == '/')   /* the standard: a relative one is to be ignored */
		length = snprintf(path, bytes, "%s/nsched/machine-%016llx", cache, (unsigned long long)identity);
	else if (home && home[0] == '/')
		length = snprintf(path, bytes, "%s/.cache/nsched/machine-%016llx", home, (unsigned long long)identity);
	else
		return -ENOENT;
	return (size_t)length < bytes ? 0 : -ENAMETOOLONG;
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

static int index_of(const struct measured *m, unsigned long os)
{
	for (unsigned i = 0; i < m->n_nodes; i++)
		if (m->os[i] == os) return (int)i;
	return -1;
}

/* "0 90100 150200 -": the node, then a number or "-" for each node. Whole numbers, since a program's locale may
 * write fractions with a comma. */
static int parse_row(const struct measured *m, const char *p, float unit, float table[MACHINE_NODES][MACHINE_NODES])
{
	char *end;
	unsigned long os = strtoul(p, &end, 10);
	int row = end == p ? -1 : index_of(m, os);
	if (row < 0) return -EINVAL;
	p = end;
	for (unsigned i = 0; i < m->n_nodes; i++) {
		unsigned long value = 0;
		p += strspn(p, " ");
		if (*p == '-' && (p[1] == ' ' || p[1] == '\n' || !p[1])) {
			end = (char *)(uintptr_t)p + 1;
		} else {
			value = strtoul(p, &end, 10);
			if (end == p || value == 0 || value > VALUE_MOST) return -EINVAL;
		}
		table[row][i] = (float)value / unit;
		p = end;
	}
	return *p && *p != '\n' ? -EINVAL : 0;
}

static int parse_line(struct measured *m, const char *line, unsigned *nodes)
{
	char *end;
	if (!strncmp(line, "identity ", 9)) return strtoull(line + 9, &end, 16) == m->identity && end - line == 25 ? 0 : -ESTALE;
	if (!strncmp(line, "measured ", 9)) {
		snprintf(m->when, sizeof m->when, "%.*s", (int)strcspn(line + 9, "\n"), line + 9);
		return 0;
	}
	if (!strncmp(line, "node ", 5)) {
		int i = index_of(m, strtoul(line + 5, NULL, 10));
		return i == (int)(*nodes)++ ? 0 : -EINVAL;
	}
	if (!strncmp(line, "latency_ps ", 11)) return parse_row(m, line + 11, PS_IN_NS, m->latency_ns);
	if (!strncmp(line, "bandwidth_mbs ", 14)) return parse_row(m, line + 14, 1, m->bandwidth_mbs);
	return 0;
}

static int parse(struct measured *m, const char *text)
{
	unsigned nodes = 0;
	bool identified = false;
	if (strncmp(text, "nsched-machine ", 15)) return -EINVAL;
	if (strtoul(text + 15, NULL, 10) != FORMAT) return -ESTALE;
	memset(m->latency_ns, 0, sizeof m->latency_ns);
	memset(m->bandwidth_mbs, 0, sizeof m->bandwidth_mbs);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		int ret = parse_line(m, line, &nodes);
		if (ret) return ret;
		identified |= !strncmp(line, "identity ", 9);
	}
	return identified && nodes == m->n_nodes ? 0 : -EINVAL;
}

int measured_parse(struct measured *m, const char *text)
{
	struct measured *copy = malloc(sizeof *copy);
	if (!copy) return -ENOMEM;
	*copy = *m;
	int ret = parse(copy, text);
	if (!ret) *m = *copy;
	free(copy);
	return ret;
}

int measured_read(struct measured *m)
{
	char path[PATH_BYTES];
	int ret = measured_identify(m, "");
	if (!ret) ret = measured_path(m->identity, path, sizeof path);
	if (ret) return ret;
	char *text = malloc(FILE_BYTES);
	if (!text) return -ENOMEM;
	if (slurp("", path, text, FILE_BYTES)) ret = measured_parse(m, text);
	else ret = -ENOENT;
	free(text);
	return ret;
}

static void write_row(const struct measured *m, FILE *file, const char *word, unsigned row, float unit, const float *value)
{
	fprintf(file, "%s %u", word, m->os[row]);
	for (unsigned i = 0; i < m->n_nodes; i++) {
		if (value[i] * unit >= 1) fprintf(file, " %.0f", (double)(value[i] * unit));
		else fputs(" -", file);
	}
	fputc('\n', file);
}

static bool has_any(const struct measured *m, const float *value)
{
	for (unsigned i = 0; i < m->n_nodes; i++)
		if (value[i] > 0) return true;
	return false;
}

void measured_write(const struct measured *m, FILE *file)
{
	fprintf(file, "nsched-machine %d\nidentity %016llx\ncpu %s\nmeasured %s\n", FORMAT, (unsigned long long)m->identity, m->cpu, m->when);
	for (unsigned i = 0; i < m->n_nodes; i++) fprintf(file, "node %u\n", m->os[i]);
	for (unsigned i = 0; i < m->n_nodes; i++)
		if (has_any(m, m->latency_ns[i])) write_row(m, file, "latency_ps", i, PS_IN_NS, m->latency_ns[i]);
	for (unsigned i = 0; i < m->n_nodes; i++)
		if (has_any(m, m->bandwidth_mbs[i])) write_row(m, file, "bandwidth_mbs", i, 1, m->bandwidth_mbs[i]);
}
