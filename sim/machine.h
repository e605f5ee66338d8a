/* The simulated machine: what nsched is told of it, what is true, and how its system schedules. Read once,
 * then the same for every run: no run writes to it. */
#ifndef NSCHED_SIM_MACHINE_H
#define NSCHED_SIM_MACHINE_H

#include <stddef.h>

#include "pure/machine.h"

struct sim_params {
#define PARAM(name, ...) double name;
#include "params.def"
#undef PARAM
};

struct sim_param {
	const char *name;
	double value, least, most;
	const char *unit, *help;
	size_t offset;  /* in struct sim_params */
};

/* The table of params.def; NULL behind the last. */
const struct sim_param *sim_param_at(unsigned i);

enum { SIM_ERROR = 200 };  /* room for an error's text */

struct sim_machine {
	char name[128];
	struct machine known;                        /* as nsched sees it */
	struct sim_params params;
	float latency[MACHINE_NODES][MACHINE_NODES]; /* the truth, in ns */
	uint16_t sibling[MACHINE_CPUS];              /* the next CPU of the same core, round and round; itself where there is none */
};

struct sim_preset {
	const char *name, *synthetic;
	const unsigned *distances;                   /* n_nodes squared; NULL: Linux's default */
	const char *set;                             /* "name=value ..." */
	const char *about;
};

/* NULL behind the last. */
const struct sim_preset *sim_preset_at(unsigned i);

/* `spec` is the name of a preset, a file of lstopo (it ends in .xml), or a synthetic description
 * of hwloc's ("node:4 core:2 pu:1"). 0 or -EINVAL, -ENOMEM with a text. */
int sim_machine_load(struct sim_machine *machine, const char *spec, char error[SIM_ERROR]);
void sim_machine_free(struct sim_machine *machine);

/* "name=value" of params.def. 0 or -EINVAL with a text that names the nearest right one. */
int sim_machine_set(struct sim_machine *machine, const char *pair, char error[SIM_ERROR]);

/* Each parameter of memory and processors is changed by up to `share` up or down, by chance, and nothing that
 * nsched is told changes with it. */
void sim_machine_perturb(struct sim_machine *machine, double share, uint64_t seed);

/* A copy of `known` for a session, which frees it. 0 or -ENOMEM. */
int sim_machine_known(const struct sim_machine *machine, struct machine *copy);

#endif
