/* The published tables: rows of measurements, each with the workload that models it and what was published for each
 * policy. Data, and the comparison of the two. */
#ifndef NSCHED_SIM_TABLES_H
#define NSCHED_SIM_TABLES_H

#include "run.h"

enum { TABLE_COLUMNS = 6, TABLE_ROWS = 32 };

struct table_row {
	const char *label, *workload;         /* "numa_test:N=4" */
	bool user;                            /* compares CPU time per task, not the time until the end */
	double published[TABLE_COLUMNS];      /* 0: not published */
	double deviation[TABLE_COLUMNS];
};

struct table {
	const char *name, *about, *machine;
	const char *option, *value;           /* of nsched's, for all columns; NULL: none */
	const char *column[TABLE_COLUMNS];    /* policies, the first one is `stay` or what stood for it; "hard", "packed" and "spread" are
	                                         placements that are given from the start; NULL behind the last */
	bool higher;                          /* of what was published, more is better */
	bool ratios;                          /* published are ratios to the first column, less is better */
	const struct table_row *row;
	unsigned n_rows;
	const char *lacks;                    /* what the model lacks where they differ */
};

/* NULL behind the last. */
const struct table *table_at(unsigned i);
const struct table *table_find(const char *name);

/* Spearman's rank correlation of two series of `n`, with equal ranks shared; 2 where there is none (n < 3, or all equal). */
double table_rank_correlation(const double *a, const double *b, unsigned n);

#endif
