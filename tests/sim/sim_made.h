/* Machines and workloads for the tests of the simulator. */
#ifndef TESTS_SIM_MADE_H
#define TESTS_SIM_MADE_H

#include "run.h"

/* A machine without noise, and with `sets` ("name=value ..."). Ends the test where there is none. */
void sim_made_machine(struct sim_machine *machine, const char *spec, const char *sets);

/* A workload of these lines. Ends the test where they are wrong. */
void sim_made_workload(struct workload *workload, const char *text);

/* One that comes with nsched, "numa02:threads=8". */
void sim_made_shipped(struct workload *workload, const char *spec);

/* One run of a policy. */
struct sim_result sim_made_run(const struct sim_machine *machine, const struct workload *workload, const char *policy, uint64_t seed);

/* The same with the lines of a workload; the machine is freed. */
struct sim_result sim_made_result(const char *machine, const char *sets, const char *text, const char *policy);

#endif
