/* The machine as far as this process may use it: nodes, CPUs, distances, what memory can serve.
 *
 * Numbers are logical: node and CPU i are the i-th of the machine; the numbers of the operating
 * system end in _os and are for the edges only. CPUs are sorted by node, so that a node's CPUs are
 * neighbours. A node may have no CPU (memory only) or no memory (CPUs only). */
#ifndef NSCHED_MACHINE_H
#define NSCHED_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MACHINE_NODES = 64,    /* most nodes; Linux builds of distributions stop at 1024, machines at 32 */
	MACHINE_CPUS = 8192,   /* most CPUs, as Linux's NR_CPUS in distributions */
	MACHINE_LOCAL_NS = 90, /* latency of local memory where nothing better is known: within 30 % of servers since 2012 */
};

/* Streams of misses that each CPU adds before its node's memory is full, where nothing better is
 * known: a little above one, since code that is bound by latency does not fill a node by its own CPUs. */
#define MACHINE_STREAMS 1.25f

struct machine_cpu {
	uint16_t node;
	uint16_t core;  /* CPUs of one core have the same number */
	uint16_t l3;    /* likewise for the last-level cache */
	uint16_t os;
};

struct machine_node {
	uint64_t memory_bytes;      /* 0: no memory of its own, or none that this process may use */
	float lines_per_ns;         /* cache lines that its memory serves */
	uint16_t first_cpu, n_cpus; /* its CPUs */
	uint16_t os;
};

struct machine {
	unsigned n_nodes, n_cpus;
	struct machine_node node[MACHINE_NODES];
	struct machine_cpu *cpu;                         /* n_cpus of them */
	float latency_ns[MACHINE_NODES][MACHINE_NODES];  /* of an access from a CPU of the first to memory of the second */
};

/* An empty machine with room for `n_cpus` CPUs. 0, -ENOMEM, or -E2BIG beyond MACHINE_CPUS. */
int machine_init(struct machine *machine, unsigned n_cpus);
void machine_free(struct machine *machine);

/* Adds a node, and a CPU to the node that was added last. The machine must have room. */
unsigned machine_add_node(struct machine *machine, unsigned os, uint64_t memory_bytes);
unsigned machine_add_cpu(struct machine *machine, unsigned os, unsigned core, unsigned l3);

/* Latencies from the firmware's relative distances (local is 10), `n_nodes` squared of them, row by
 * row; NULL: 10 and 21, Linux's own default. Then what each node's memory can serve. */
void machine_set_distances(struct machine *machine, const unsigned *distances);

/* The part of `whole` that is left of it with only the CPUs in `cpus_os`, a set of MACHINE_CPUS bits by
 * the numbers of the operating system. Nodes with memory stay; with `all_nodes` all of them, so that their numbers
 * do, too. 0 or -ENOMEM. */
int machine_restrict(struct machine *part, const struct machine *whole, const uint64_t *cpus_os, bool all_nodes);

/* The node with this number of the operating system, or -1. */
int machine_node_of_os(const struct machine *machine, unsigned node_os);

/* The node with memory that is nearest to the CPUs of `node`, itself if it has any; -1: there is none. */
int machine_nearest_memory(const struct machine *machine, unsigned node);

/* 0, or -EINVAL with the reason where the parts do not fit together. */
int machine_check(const struct machine *machine, const char **why);

/* 1 where there is something to decide: two nodes, of which at least one has CPUs and two have memory
 * or CPUs. */
bool machine_worthwhile(const struct machine *machine);

#endif
