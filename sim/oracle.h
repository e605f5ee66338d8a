/* The oracle: the best placement that could have been, had one known all from the start. Found by running placements. */
#ifndef NSCHED_SIM_ORACLE_H
#define NSCHED_SIM_ORACLE_H

#include "placed.h"
#include "run.h"

enum { ORACLE_HOW = 120 };

/* Searches with runs like `like` (its policy is not used; all that the system does is), `runs` of them at the most, into `best`,
 * whose `node` is to be freed, and says in `how` how it was found. 0 or -ENOMEM. */
int oracle_search(const struct sim_run *like, unsigned runs, unsigned jobs, struct placed *best, char how[ORACLE_HOW],
                  void (*done)(void *arg, double share), void *arg);

/* Placements by a fixed rule, as a person makes them. */
enum oracle_rule {
	ORACLE_BLOCKS,     /* those that do the same fill node after node, evenly: hard binding */
	ORACLE_TURNS,      /* they go to the nodes in turn: spread */
	ORACLE_PROCESSES,  /* each process has a node */
	ORACLE_PACKED,     /* as few nodes as have CPUs for all */
};

/* `node` of the placement is to be freed. 0 or -ENOMEM. */
int oracle_rule(const struct workload *workload, const struct machine *machine, enum oracle_rule rule, struct placed *placed);

#endif
