/* The machine from /sys and /proc, whether or not this process may use all of it. Not by hwloc, as the core has
 * it: hwloc shows what is allowed, and the doctor must show what is not, also of a tree that was recorded
 * elsewhere. */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

#include "libnsched/sys/cpulist.h"

/* `text` as a set; false (and the set empty) where it is none, or none at all. */
static bool parse_list(const char *text, struct cpu_mask *mask)
{
	if (cpulist_parse(text, mask) == 0)
		return true;
	mask_clear(mask);
	return false;
}

static void look_at_memory(struct doctor_node *node, const struct doctor_files *files)
{
	char *text = files_text(files, NULL, "/sys/devices/system/node/node%u/meminfo", node->os);

	if (text == NULL)
		return;

	long long total = text_number(text, "MemTotal:", 0), spare = text_number(text, "MemFree:", 0);

	/* Files in the cache give way, those in shared memory (Shmem, which counts as files too) do not. */
	spare += text_number(text, "FilePages:", 0) - text_number(text, "Shmem:", 0);
	node->memory_kib = total > 0 ? (uint64_t)total : 0;
	node->spare_kib = spare > 0 ? (uint64_t)spare : 0;
	free(text);
}

static void look_at_node(struct doctor_machine *machine, struct doctor_files *files, unsigned os)
{
	struct doctor_node *node = &machine->node[machine->n_nodes];
	char line[4096];

	*node = (struct doctor_node){ .os = os };
	files_line(files, line, sizeof(line), "/sys/devices/system/node/node%u/cpulist", os);
	parse_list(line, &node->cpus);
	look_at_memory(node, files);
	if (node->memory_kib > 0 || cpulist_count(&node->cpus) > 0)
		machine->n_nodes++;
}

/* A row has a number for each node that is online, those that do not count here included. */
static void look_at_distances(struct doctor_machine *machine, struct doctor_files *files, const struct cpu_mask *online)
{
	char line[4096];

	for (unsigned i = 0; i < machine->n_nodes; i++) {
		char *at = line, *end;
		unsigned to = 0;

		if (!files_line(files, line, sizeof(line), "/sys/devices/system/node/node%u/distance", machine->node[i].os)) {
			files_gap(files, "distances between nodes: /sys/devices/system/node/node%u/distance can't be read", machine->node[i].os);
			continue;
		}
		for (unsigned os = 0; os < MACHINE_CPUS && to < machine->n_nodes; os++) {
			if (!mask_has(online, os))
				continue;

			unsigned long distance = strtoul(at, &end, 10);

			if (end == at)
				break;
			at = end;
			if (machine->node[to].os == os)
				machine->distance[i][to++] = (uint16_t)distance;
		}
	}
}

static void look_at_nodes(struct doctor_machine *machine, struct doctor_files *files)
{
	struct cpu_mask online;
	char line[4096];

	files_line(files, line, sizeof(line), "/sys/devices/system/node/online");
	if (!parse_list(line, &online)) {
		files_gap(files, "NUMA nodes: /sys/devices/system/node/online can't be read (a kernel without NUMA?)");
		return;
	}
	for (unsigned os = 0; os < MACHINE_CPUS; os++) {
		if (mask_has(&online, os) && machine->n_nodes < MACHINE_NODES)
			look_at_node(machine, files, os);
	}
	look_at_distances(machine, files, &online);
}

static void look_at_cpus(struct doctor_machine *machine, struct doctor_files *files)
{
	char line[4096];

	files_line(files, line, sizeof(line), "/sys/devices/system/cpu/online");
	if (!parse_list(line, &machine->online))
		files_gap(files, "CPUs: /sys/devices/system/cpu/online can't be read");
	for (unsigned cpu = 0; cpu < MACHINE_CPUS; cpu++) {
		struct cpu_mask siblings;

		machine->core[cpu] = (uint16_t)cpu;
		if (!mask_has(&machine->online, cpu))
			continue;
		files_line(files, line, sizeof(line), "/sys/devices/system/cpu/cpu%u/topology/thread_siblings_list", cpu);
		if (!parse_list(line, &siblings))
			continue;

		unsigned n = cpulist_count(&siblings);

		machine->core[cpu] = (uint16_t)strtoul(line, NULL, 10);
		if (n > machine->threads_per_core)
			machine->threads_per_core = n;
	}
}

unsigned machine_node_of(const struct doctor_machine *machine, unsigned cpu_os)
{
	for (unsigned i = 0; i < machine->n_nodes; i++) {
		if (mask_has(&machine->node[i].cpus, cpu_os))
			return i;
	}
	return DOCTOR_NO_NODE;
}

static void look_at_measured(struct doctor_machine *machine, const struct doctor_files *files)
{
	if (files->root[0] == '\0')
		machine->is_measured = measured_read(&machine->measured) == 0;
	else
		(void)measured_identify(&machine->measured, files->root); /* a recorded machine has no cache */
	snprintf(machine->model, sizeof(machine->model), "%.*s", DOCTOR_WORD - 1, machine->measured.cpu);
}

void machine_look(struct doctor_machine *machine, struct doctor_files *files)
{
	char line[DOCTOR_WORD];

	memset(machine, 0, sizeof(*machine));
	files_line(files, machine->host, sizeof(machine->host), "/proc/sys/kernel/hostname");
	files_line(files, machine->kernel, sizeof(machine->kernel), "/proc/sys/kernel/osrelease");
	look_at_nodes(machine, files);
	look_at_cpus(machine, files);
	look_at_measured(machine, files);
	machine->numa_balancing = (int)files_number(files, -1, "/proc/sys/kernel/numa_balancing");
	machine->perf_paranoid_known = files_line(files, line, sizeof(line), "/proc/sys/kernel/perf_event_paranoid");
	machine->perf_paranoid = (int)text_number(line, NULL, -1);
}
