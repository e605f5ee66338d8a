#include "sys/topo.h"

#include <errno.h>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys/measured.h"

#if __has_include(<sys/single_threaded.h>)   /* glibc 2.32 */
#include <sys/single_threaded.h>
#include "sys/room.h"
#define HAS_SINGLE_THREADED
#endif

/* Distances between NUMA nodes in the order of hwloc's logical numbers; NULL where there are none. */
static unsigned *read_distances(hwloc_topology_t topology, hwloc_obj_t *nodes, unsigned n)
{
	struct hwloc_distances_s *d = NULL;
	unsigned one = 1, *out = NULL;
	unsigned long kind = HWLOC_DISTANCES_KIND_FROM_OS | HWLOC_DISTANCES_KIND_MEANS_LATENCY;
	if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &one, &d, kind, 0) || !one) return NULL;
	if (d->nbobjs >= n && (out = calloc((size_t)n * n, sizeof *out)))
		for (unsigned i = 0; i < n; i++)
			for (unsigned j = 0; j < n; j++) {
				hwloc_uint64_t there = 0, back = 0;
				if (hwloc_distances_obj_pair_values(d, nodes[i], nodes[j], &there, &back) || !there) {
					free(out);
					hwloc_distances_release(topology, d);
					return NULL;
				}
				out[i * n + j] = (unsigned)there;
			}
	hwloc_distances_release(topology, d);
	return out;
}

static unsigned ancestor_number(hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_type_t type)
{
	hwloc_obj_t up = hwloc_get_ancestor_obj_by_type(topology, type, pu);
	return up ? up->logical_index : pu->logical_index;
}

static bool usable(hwloc_obj_t pu, const struct cpu_mask *allowed)
{
	return pu->os_index < MACHINE_CPUS && (!allowed || mask_has(allowed, pu->os_index));
}

/* A CPU belongs to the first node that has it: memory-side caches and HBM give several. `taken` keeps
 * those that have gone to an earlier node. */
static void add_cpus(struct machine *machine, hwloc_topology_t topology, hwloc_obj_t node, const struct cpu_mask *allowed,
                     hwloc_bitmap_t taken)
{
	hwloc_obj_t pu = NULL;
	while ((pu = hwloc_get_next_obj_inside_cpuset_by_type(topology, node->cpuset, HWLOC_OBJ_PU, pu))) {
		if (!usable(pu, allowed) || hwloc_bitmap_isset(taken, pu->os_index)) continue;
		hwloc_bitmap_set(taken, pu->os_index);
		machine_add_cpu(machine, pu->os_index, ancestor_number(topology, pu, HWLOC_OBJ_CORE),
		                ancestor_number(topology, pu, HWLOC_OBJ_L3CACHE));
	}
}

static int fill(struct machine *machine, hwloc_topology_t topology, const struct cpu_mask *allowed)
{
	int n_nodes = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), n_cpus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
	if (n_nodes <= 0 || n_cpus <= 0) return -ENODEV;
	if (n_nodes > MACHINE_NODES) return -E2BIG;
	int ret = machine_init(machine, (unsigned)n_cpus);
	hwloc_bitmap_t taken = ret ? NULL : hwloc_bitmap_alloc();
	hwloc_obj_t nodes[MACHINE_NODES];
	if (!taken) {
		machine_free(machine);
		return ret ? ret : -ENOMEM;
	}
	unsigned n = 0;
	for (hwloc_obj_t node = NULL; (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node));) {
		unsigned before = machine->n_cpus;
		machine_add_node(machine, node->os_index, node->attr->numanode.local_memory);
		add_cpus(machine, topology, node, allowed, taken);
		nodes[n++] = node;
		/* neither CPUs nor memory for us: it is not there */
		if (machine->n_cpus == before && !machine->node[n - 1].memory_bytes) machine->n_nodes = --n;
	}
	unsigned *distances = read_distances(topology, nodes, n);
	machine_set_distances(machine, distances);
	free(distances);
	hwloc_bitmap_free(taken);
	const char *why;
	return machine_check(machine, &why) ? -ENODEV : 0;
}

static bool has_one_thread(void)
{
#ifdef HAS_SINGLE_THREADED
	return __libc_single_threaded;
#else
	return false;
#endif
}

/* Everything that is not needed is left out: it halves the time. Groups are needed: hwloc makes one for each
 * node that no cache or package is as large as, and without it takes the node for one of the whole machine. The x86 component would bind the
 * calling thread to every CPU in turn; the flag forbids it. */
static int open_topology(hwloc_topology_t *topology)
{
	if (!room_is_left() || hwloc_topology_init(topology)) return -ENOMEM;
	hwloc_topology_set_all_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
	hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
	hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
	hwloc_topology_set_type_filter(*topology, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL);
	return 0;
}

static int finish(struct machine *machine, hwloc_topology_t topology, const struct cpu_mask *allowed)
{
	int ret = hwloc_topology_load(topology) ? -ENODEV : fill(machine, topology, allowed);
	hwloc_topology_destroy(topology);
	return ret;
}

/* hwloc knows of the plugins' folder from the environment alone, when the first topology is made. So this one sees
 * an environment of its own: the pointer is changed and not the program's environment, which only a process with
 * one thread can do safely. The topology is kept (empty, a few hundred bytes), and hwloc's list of components with it. */
void topo_prepare(void)
{
	static hwloc_topology_t kept;
	static char no_plugins[] = "HWLOC_PLUGINS_PATH=/nonexistent";
	unsigned n = 0;
	if (kept || !has_one_thread() || !environ || getenv("HWLOC_PLUGINS_PATH")) return;
	while (environ[n]) n++;
	char **saved = environ, **own = !room_is_left() ? NULL : malloc((n + 2) * sizeof *own);
	if (!own) return;
	own[0] = no_plugins;
	memcpy(own + 1, saved, (n + 1) * sizeof *own);
	environ = own;
	if (hwloc_topology_init(&kept)) kept = NULL;
	environ = saved;
	free(own);
}

static int find_measured(const struct measured *m, unsigned os)
{
	for (unsigned i = 0; i < m->n_nodes; i++)
		if (m->os[i] == os) return (int)i;
	return -1;
}

/* Latencies as `nsched doctor --measure` has found them: all, or none of them, for what was measured and what the firmware claims
 * have no common unit. What a node serves keeps its relation to them: measured bandwidth is that of streams, which samples of
 * time know nothing of. */
static void take_measured(struct machine *machine)
{
	struct measured measured;
	int at[MACHINE_NODES];
	if (measured_read(&measured)) return;
	for (unsigned n = 0; n < machine->n_nodes; n++)
		if ((at[n] = find_measured(&measured, machine->node[n].os)) < 0) return;
	for (unsigned a = 0; a < machine->n_nodes; a++)
		for (unsigned b = 0; b < machine->n_nodes; b++)
			if (!(measured.latency_ns[at[a]][at[b]] > 0)) return;
	for (unsigned a = 0; a < machine->n_nodes; a++) {
		float claimed = machine->latency_ns[a][a];
		for (unsigned b = 0; b < machine->n_nodes; b++) machine->latency_ns[a][b] = measured.latency_ns[at[a]][at[b]];
		machine->node[a].lines_per_ns *= claimed / machine->latency_ns[a][a];
	}
}

int topo_load(struct machine *machine, const struct cpu_mask *allowed)
{
	hwloc_topology_t topology;
	int ret = open_topology(&topology);
	if (ret) return ret;
	hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
	ret = finish(machine, topology, allowed);
	if (!ret) take_measured(machine);
	return ret;
}

int topo_load_xml(struct machine *machine, const char *file)
{
	hwloc_topology_t topology;
	int ret = open_topology(&topology);
	if (ret) return ret;
	if (hwloc_topology_set_xml(topology, file)) {
		hwloc_topology_destroy(topology);
		return -EINVAL;
	}
	return finish(machine, topology, NULL);
}

/* The objects of the lowest level that it describes, "node:4 core:2": hwloc would make any number of them. What is in
 * brackets are attributes. */
static bool is_too_large(const char *description)
{
	unsigned long objects = 1;
	unsigned depth = 0;
	bool begins = true;   /* of a word, or behind its colon: here a number counts */
	for (const char *c = description; *c; c++) {
		depth += *c == '(' || *c == '[';
		if (depth && (*c == ')' || *c == ']')) depth--;
		if (!depth && begins && *c >= '0' && *c <= '9') {
			unsigned long n = strtoul(c, NULL, 10);
			if (n > MACHINE_CPUS || objects * n > MACHINE_CPUS) return true;
			objects *= n ? n : 1;
		}
		begins = *c == ' ' || *c == ':';
	}
	return false;
}

int topo_load_synthetic(struct machine *machine, const char *description)
{
	hwloc_topology_t topology;
	if (is_too_large(description)) return -E2BIG;
	int ret = open_topology(&topology);
	if (ret) return ret;
	if (hwloc_topology_set_synthetic(topology, description)) {
		hwloc_topology_destroy(topology);
		return -EINVAL;
	}
	return finish(machine, topology, NULL);
}

int topo_cpuset(struct cpu_mask *mask)
{
	hwloc_topology_t topology;
	int ret = open_topology(&topology);
	if (ret) return ret;
	hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
	if (hwloc_topology_load(topology)) {
		hwloc_topology_destroy(topology);
		return -ENODEV;
	}
	unsigned cpu;
	mask_clear(mask);
	hwloc_bitmap_foreach_begin(cpu, hwloc_topology_get_allowed_cpuset(topology)) mask_add(mask, cpu);
	hwloc_bitmap_foreach_end();
	hwloc_topology_destroy(topology);
	return 0;
}
