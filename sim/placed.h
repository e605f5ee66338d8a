/* A placement that is given from the start: threads on nodes, memory where its users are. For the oracle. */
#ifndef NSCHED_SIM_PLACED_H
#define NSCHED_SIM_PLACED_H

#include <stdint.h>

struct engine;

struct placed {
	unsigned n_tasks;
	const uint8_t *node;   /* of each task, in the order in which they begin */
};

/* From now on tasks of the engine begin where `placed` has them, and their memory with them. NULL: nothing. 0 or -ENOMEM. */
int placed_use(const struct placed *placed, struct engine *engine);

#endif
