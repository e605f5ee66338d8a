/* Worlds made by chance: a machine and a workload, the same for the same number. What they are like is meant to be wide rather than likely:
 * few and many nodes, memory that is fast, slow, near or far, threads with memory of their own, slices of what all share, neighbours' rims,
 * all of it by chance or from end to end, phases, other processes that come later, crowds of short ones. */
#ifndef NSCHED_SIM_WORLDS_H
#define NSCHED_SIM_WORLDS_H

#include "machine.h"
#include "workload.h"

enum { WORLD_MACHINE = 64, WORLD_SETS = 256, WORLD_TEXT = 2048 };

struct world {
	uint64_t number;
	char machine[WORLD_MACHINE];  /* as sim_machine_load takes it */
	char sets[WORLD_SETS];        /* "name=value ...", as sim_machine_set takes each */
	char text[WORLD_TEXT];        /* as workload_parse takes it */
	struct sim_machine m;
	struct workload w;
};

/* Makes the world of that number. 0, or -errno with a text; then there is nothing to free. */
int world_make(struct world *world, uint64_t number, char error[SIM_ERROR]);
void world_free(struct world *world);

#endif
