#include "pure/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

enum { DISTANCE_LOCAL = 10, DISTANCE_REMOTE = 21 };  /* ACPI's SLIT, and Linux's guess where there is none */

int machine_init(struct machine *machine, unsigned n_cpus)
{
	memset(machine, 0, sizeof *machine);
	if (n_cpus > MACHINE_CPUS) return -E2BIG;
	machine->cpu = calloc(n_cpus ? n_cpus : 1, sizeof *machine->cpu);
	return machine->cpu ? 0 : -ENOMEM;
}

void machine_free(struct machine *machine)
{
	free(machine->cpu);
	memset(machine, 0, sizeof *machine);
}

unsigned machine_add_node(struct machine *machine, unsigned os, uint64_t memory_bytes)
{
	struct machine_node *node = &machine->node[machine->n_nodes];
	node->os = (uint16_t)os;
	node->memory_bytes = memory_bytes;
	node->first_cpu = (uint16_t)machine->n_cpus;
	return machine->n_nodes++;
}

unsigned machine_add_cpu(struct machine *machine, unsigned os, unsigned core, unsigned l3)
{
	struct machine_cpu *cpu = &machine->cpu[machine->n_cpus];
	cpu->node = (uint16_t)(machine->n_nodes - 1);
	cpu->core = (uint16_t)core;
	cpu->l3 = (uint16_t)l3;
	cpu->os = (uint16_t)os;
	machine->node[cpu->node].n_cpus++;
	return machine->n_cpus++;
}

/* Memory without CPUs serves like the average node's: nothing better is known. */
static void set_service(struct machine *machine)
{
	unsigned with_cpus = 0;
	for (unsigned n = 0; n < machine->n_nodes; n++) with_cpus += machine->node[n].n_cpus > 0;
	float average = with_cpus ? (float)machine->n_cpus / (float)with_cpus : 1;
	for (unsigned n = 0; n < machine->n_nodes; n++) {
		struct machine_node *node = &machine->node[n];
		float cpus = node->n_cpus ? (float)node->n_cpus : average;
		node->lines_per_ns = MACHINE_STREAMS * cpus / machine->latency_ns[n][n];
	}
}

void machine_set_distances(struct machine *machine, const unsigned *distances)
{
	unsigned n = machine->n_nodes;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++) {
			unsigned d = distances ? distances[i * n + j] : i == j ? DISTANCE_LOCAL : DISTANCE_REMOTE;
			machine->latency_ns[i][j] = (float)MACHINE_LOCAL_NS * (float)d / DISTANCE_LOCAL;
		}
	set_service(machine);
}

int machine_restrict(struct machine *part, const struct machine *whole, const uint64_t *cpus_os, bool all_nodes)
{
	unsigned of[MACHINE_NODES];
	int ret = machine_init(part, whole->n_cpus);
	if (ret) return ret;
	for (unsigned n = 0; n < whole->n_nodes; n++) {
		const struct machine_node *node = &whole->node[n];
		unsigned new = part->n_nodes;
		part->node[new] = *node;
		part->node[new].n_cpus = 0;
		part->node[new].first_cpu = (uint16_t)part->n_cpus;
		part->n_nodes++;
		for (unsigned c = node->first_cpu; c < node->first_cpu + node->n_cpus; c++) {
			const struct machine_cpu *cpu = &whole->cpu[c];
			if (cpus_os[cpu->os / 64] >> cpu->os % 64 & 1) machine_add_cpu(part, cpu->os, cpu->core, cpu->l3);
		}
		of[new] = n;
		if (!all_nodes && !part->node[new].n_cpus && !part->node[new].memory_bytes) part->n_nodes--;
	}
	for (unsigned i = 0; i < part->n_nodes; i++)
		for (unsigned j = 0; j < part->n_nodes; j++) part->latency_ns[i][j] = whole->latency_ns[of[i]][of[j]];
	set_service(part);
	return 0;
}

int machine_node_of_os(const struct machine *machine, unsigned node_os)
{
	for (unsigned n = 0; n < machine->n_nodes; n++)
		if (machine->node[n].os == node_os) return (int)n;
	return -1;
}

int machine_nearest_memory(const struct machine *machine, unsigned node)
{
	int nearest = -1;
	if (machine->node[node].memory_bytes) return (int)node;
	for (unsigned n = 0; n < machine->n_nodes; n++) {
		if (!machine->node[n].memory_bytes) continue;
		if (nearest < 0 || machine->latency_ns[node][n] < machine->latency_ns[node][nearest]) nearest = (int)n;
	}
	return nearest;
}

int machine_check(const struct machine *machine, const char **why)
{
	unsigned cpus = 0;
	*why = NULL;
	for (unsigned n = 0; n < machine->n_nodes; n++) {
		const struct machine_node *node = &machine->node[n];
		if (node->first_cpu != cpus) *why = "the CPUs are not sorted by node";
		cpus += node->n_cpus;
		for (unsigned m = 0; m < machine->n_nodes; m++)
			if (!(machine->latency_ns[n][m] > 0)) *why = "a latency is missing";
	}
	if (cpus != machine->n_cpus) *why = "a CPU belongs to no node";
	if (!machine->n_nodes) *why = "there is no node";
	return *why ? -EINVAL : 0;
}

bool machine_worthwhile(const struct machine *machine)
{
	unsigned with_memory = 0;
	for (unsigned n = 0; n < machine->n_nodes; n++) with_memory += machine->node[n].memory_bytes > 0;
	return machine->n_nodes > 1 && machine->n_cpus > 0 && with_memory > 0;
}
