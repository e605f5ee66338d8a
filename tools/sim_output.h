/* What `nsched sim` prints. */
#ifndef NSCHED_SIM_OUTPUT_H
#define NSCHED_SIM_OUTPUT_H

#include <stdio.h>

#include "run.h"
#include "table_run.h"

/* One policy's runs. */
struct sim_row {
	const char *policy;
	struct sim_summary summary;
	double ratio;           /* to `stay`: below 1 is better; 0: there is no stay among the rows */
};

struct sim_report {
	const struct sim_machine *machine;
	const struct workload *workload;
	unsigned seeds;
	const struct sim_row *row;
	unsigned n_rows;
	const char *oracle;     /* how it was found; NULL: it was not looked for */
	struct sim_summary oracle_summary;
};

void sim_print_text(const struct sim_report *report, FILE *file);
int sim_print_json(const struct sim_report *report, FILE *file);

void sim_print_table(const struct table_result *result, FILE *file);
int sim_print_table_json(const struct table_result *result, FILE *file);

/* Runs the rows of a table, or of all (NULL), under the policies, and prints how joint stands against the best of them and
 * against stay (both are added if they are not among them). 0, or a command's exit status, said why. */
int sim_standing(const char *table, const struct table_setup *setup, const char *const *policies, unsigned n, bool json);

struct sim_random_setup {
	const struct nsched_config *config;
	const char *policy;
	unsigned n;             /* worlds, */
	uint64_t seed;          /* from the one of this number on */
	unsigned oracle;        /* placements tried for each; 0: the oracle is not asked */
	unsigned long jobs;
	bool json;
};

/* Runs worlds made by chance under the policy, and prints how it stands against nothing, and where it stands worst. 0, or a command's exit
 * status, said why. */
int sim_random(const struct sim_random_setup *setup);

/* Machines, workloads and parameters. */
void sim_print_list(FILE *file);

/* A bar on standard error, if that is a terminal: `share` of all is done. 1 ends it. */
void sim_progress(void *arg, double share);

#endif
