/* The shape of the emulated machine, for its timing model: which node a CPU and a page of memory belongs to, and which
 * nodes are near to each other. numabox tells it, see shape_set. */
#ifndef NUMASHAPE_H
#define NUMASHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum { SHAPE_NODES = 16, SHAPE_CPUS = 256 };

struct shape {
	int nodes, cpus;
	int node_of_cpu[SHAPE_CPUS];
	uint64_t bytes[SHAPE_NODES]; /* of its memory, 0: none */
	int group;                   /* so many nodes, one after another, are near to each other; 0: all */
};

/* Takes one option: `cpus=0011`, the node of each CPU as a hexadecimal digit; `mibs=512/512/0`, the memory of each node;
 * `group=4`. 1: taken, 0: not one of these, -1: wrong, after a message. */
int shape_set(struct shape *shape, const char *option);

/* Is it no machine: no CPU, no memory, CPUs of nodes that there are not? */
bool shape_wrong(const struct shape *shape);

/* The node whose memory that is, by what the plugin API says of the address; -1: none's. */
int shape_node_of(const struct shape *shape, uint64_t address);

/* How many nodes have memory; at least 1. */
int shape_memories(const struct shape *shape);

bool shape_near(const struct shape *shape, int a, int b);

#endif
