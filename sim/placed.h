/* A placement that is given from the start: threads on nodes, memory with its users. For the oracle and for hard
 * binding. Decides nothing.
 *
 * Each thread of the processes that are there from the start has a place: process by process, section by section; then
 * each process that is spawned has one for all of its threads, in the order of spawning. Memory that some thread uses
 * as a slice lies with that thread; other memory lies evenly over the nodes of its process's threads. */
#ifndef NSCHED_SIM_PLACED_H
#define NSCHED_SIM_PLACED_H

#include <stdbool.h>
#include <stdint.h>

#include "workload.h"

struct engine;
struct task;
struct piece;

struct placed {
	const struct workload *workload;
	unsigned n;            /* places */
	unsigned fixed;        /* of them, for threads that are there from the start */
	uint8_t *node;         /* of each */
	unsigned nodes;        /* below this */
	bool even;             /* all memory evenly over the nodes of its process's threads, slices too */
};

enum { PLACED_FREE = 0xff };

/* Places for the workload, all on node 0. `node` is to be freed. 0 or -ENOMEM. */
int placed_init(struct placed *placed, const struct workload *workload, unsigned nodes);

/* What a place is, for who makes a placement: of which process (counted over all), and the how-manieth of how many that do
 * the same, over all processes. */
struct place {
	unsigned process, index, count;
};
struct place placed_at(const struct placed *placed, unsigned place);

/* The task's place; PLACED_FREE: it has none, and is left to the system. */
unsigned placed_node(const struct placed *placed, const struct engine *engine, const struct task *task);

/* Makes the absent pages of the part where they belong. How many. */
uint32_t placed_touch(const struct placed *placed, struct engine *engine, const struct task *task, unsigned memory, struct piece *piece,
                      uint32_t first, uint32_t count);

#endif
