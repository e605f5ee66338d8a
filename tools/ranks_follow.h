/* What follows for this rank from what was decided for all: its CPUs, what it sets for the program, and what is said. */
#ifndef NSCHED_RANKS_FOLLOW_H
#define NSCHED_RANKS_FOLLOW_H

#include "launcher.h"
#include "libnsched/config.h"
#include "ranks_decide.h"

struct follow {
	const struct nsched_config *config;
	const struct launcher_job *job;
	const struct machine *machine;
	const struct decision *decision;
	const struct board_arrival *first; /* of the first rank */
	const struct cpu_mask *launch;     /* the CPUs that this one was given */
	unsigned ranks;                    /* of this machine */
};

void ranks_follow(const struct follow *follow);

#endif
