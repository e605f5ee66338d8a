/* A table, simulated: the runs of all its rows and columns, and how they compare with what was published. */
#ifndef NSCHED_SIM_TABLE_RUN_H
#define NSCHED_SIM_TABLE_RUN_H

#include "tables.h"

struct table_cell {
	bool there;                    /* this build has the policy, and the runs went well */
	struct sim_summary summary;
	double value, deviation;       /* in the table's measure, as published[] */
	double ratio;                  /* to the first column, as times: below 1 is better; 0: there is none */
	double published_ratio;        /* the same of what was published; 0: it was not */
};

struct table_result {
	const struct table *table;
	unsigned n_columns, joint;     /* joint: its column, always there */
	const char *column[TABLE_COLUMNS + 1];
	struct table_cell cell[TABLE_ROWS][TABLE_COLUMNS + 1];
	double rank[TABLE_ROWS];       /* correlation of the policies' order in each row; 2: too few to have one */
	double ratio_rank;             /* of the ratios of the second column over all rows */
	unsigned pairs, pairs_right;   /* pairs of published means more than two deviations apart, and those in the same order */
	unsigned ratios, ratios_right; /* published ratios, and those met within 15 % */
	double joint_to_best, joint_to_stay; /* the worst ratio of joint's time to the best policy's and to the first column's */
};

struct table_setup {
	const struct nsched_config *config;
	const char *const *set;        /* parameters of the machine, over the table's own */
	unsigned n_set;
	double perturb;
	unsigned long seeds, seed, jobs;
	unsigned oracle;               /* placements tried for each row's best; 0: it is not looked for (--standing only) */
};

/* Runs it. 0, or -errno with a text. */
int table_run(const struct table *table, const struct table_setup *setup, struct table_result *result, char error[SIM_ERROR],
              void (*done)(void *arg, double share), void *arg);

#endif
