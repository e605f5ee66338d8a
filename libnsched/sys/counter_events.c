#include "counter_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cpu {
	char vendor[16];
	unsigned family, model, stepping;
};

struct row {
	const char *vendor;
	unsigned family, model_least, model_most, stepping_least, stepping_most;
	bool demand;
	const char *local, *remote;
};

enum { ALL = 0, DEMAND = 1 };

static const struct row rows[] = {
#define CPU_EVENTS(vendor, family, m0, m1, s0, s1, cover, local, remote) \
	{ vendor, family, m0, m1, s0, s1, cover, local, remote },
#include "counter_events.def"
#undef CPU_EVENTS
};

static const char TOTAL[] = "total:";

/* ---- by name -------------------------------------------------------------------------------------------- */

static bool copy_name(char to[EVENT_NAME_BYTES], const char *from, size_t length)
{
	while (length && *from == ' ') {
		from++;
		length--;
	}
	while (length && from[length - 1] == ' ') length--;
	if (!length || length >= EVENT_NAME_BYTES) return false;
	memcpy(to, from, length);
	to[length] = 0;
	return true;
}

int counter_events_named(const char *text, struct counter_events *events, char *why, size_t bytes)
{
	const char *comma = strchr(text, ',');
	memset(events, 0, sizeof *events);
	events->named = true;
	if (!comma || strchr(comma + 1, ',')) {
		snprintf(why, bytes, "events wants two names, LOCAL,REMOTE; it has %s", comma ? "more" : "one");
		return -EINVAL;
	}
	if (copy_name(events->local, text, (size_t)(comma - text)) && copy_name(events->remote, comma + 1, strlen(comma + 1))) return 0;
	snprintf(why, bytes, "events wants two names, LOCAL,REMOTE; one is empty or longer than %d letters", EVENT_NAME_BYTES - 1);
	return -EINVAL;
}

/* ---- by CPU --------------------------------------------------------------------------------------------- */

/* The value of the first line "name : value", NULL without one. */
static const char *field(const char *text, const char *name)
{
	size_t length = strlen(name);
	for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, name, length)) continue;
		const char *value = line + length + strspn(line + length, " \t");
		if (*value == ':') return value + 1 + strspn(value + 1, " \t");
	}
	return NULL;
}

static unsigned number(const char *text, const char *name)
{
	const char *value = field(text, name);
	return value ? (unsigned)strtoul(value, NULL, 0) : 0;
}

static bool find_cpu(const char *cpuinfo, struct cpu *cpu)
{
	const char *vendor = field(cpuinfo, "vendor_id"), *power = field(cpuinfo, "cpu");
	memset(cpu, 0, sizeof *cpu);
	if (vendor) {
		snprintf(cpu->vendor, sizeof cpu->vendor, "%.*s", (int)strcspn(vendor, " \t\n"), vendor);
		cpu->family = number(cpuinfo, "cpu family");
		cpu->model = number(cpuinfo, "model");
		cpu->stepping = number(cpuinfo, "stepping");
	} else if (field(cpuinfo, "CPU implementer")) {
		strcpy(cpu->vendor, "ARM");
		cpu->family = number(cpuinfo, "CPU implementer");
		cpu->model = number(cpuinfo, "CPU part");
	} else if (power && !strncmp(power, "POWER", 5)) {
		strcpy(cpu->vendor, "POWER");
		cpu->family = (unsigned)strtoul(power + 5, NULL, 10);
	}
	return cpu->vendor[0] != 0;
}

static bool fits(const struct row *row, const struct cpu *cpu)
{
	return !strcmp(row->vendor, cpu->vendor) && row->family == cpu->family && cpu->model >= row->model_least &&
	       cpu->model <= row->model_most && cpu->stepping >= row->stepping_least && cpu->stepping <= row->stepping_most;
}

int counter_events_of_cpu(const char *cpuinfo, struct counter_events *events, char name[CPU_NAME_BYTES])
{
	struct cpu cpu;
	memset(events, 0, sizeof *events);
	if (!find_cpu(cpuinfo, &cpu)) {
		snprintf(name, CPU_NAME_BYTES, "a CPU that /proc/cpuinfo does not name");
		return -ENOENT;
	}
	snprintf(name, CPU_NAME_BYTES, "%s family %u model %#x", cpu.vendor, cpu.family, cpu.model);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!fits(&rows[i], &cpu)) continue;
		events->total = !strncmp(rows[i].local, TOTAL, sizeof TOTAL - 1);
		events->demand = rows[i].demand;
		snprintf(events->local, sizeof events->local, "%s", rows[i].local + (events->total ? sizeof TOTAL - 1 : 0));
		snprintf(events->remote, sizeof events->remote, "%s", rows[i].remote);
		return 0;
	}
	return -ENOENT;
}
