/* Before the program runs: the ranks of this machine meet, and each gets its CPUs. */
#ifndef NSCHED_RANKS_H
#define NSCHED_RANKS_H

#include "libnsched/config.h"

/* Finds the board of this process's MPI job, or of the processes it belongs to, or makes one; waits a
 * bounded time for the other ranks of this machine, takes this rank's share of the CPUs, and sets what the
 * program needs to find the board. `threaded`: the program has an OpenMP runtime. Nothing that fails here is a reason not to run the program. */
void ranks_prepare(const struct nsched_config *config, int threaded);

#endif
