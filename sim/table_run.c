#include "table_run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "pure/policy.h"

#define CLEARLY 2.0      /* deviations that two means must be apart for their order to count */
#define RATIO_OFF 0.15

struct batch {
	struct sim_machine machine;
	struct workload workload[TABLE_ROWS];
	struct placed placed[TABLE_ROWS][TABLE_COLUMNS + 1];
	struct sim_run *run;
	unsigned long seeds;
};

/* The placements that stand for a column. */
static int rule_of(const char *column)
{
	if (!strcmp(column, "hard")) return ORACLE_BLOCKS;
	if (!strcmp(column, "packed")) return ORACLE_PACKED;
	return strcmp(column, "spread") ? -1 : ORACLE_TURNS;
}

static bool is_there(const char *column)
{
	return rule_of(column) >= 0 || policy_find(column);
}

static struct sim_run *runs_of(const struct batch *b, const struct table_result *r, unsigned row, unsigned column)
{
	return b->run + ((size_t)row * r->n_columns + column) * b->seeds;
}

static int load_row(struct batch *b, const struct table_row *row, unsigned i, char error[SIM_ERROR])
{
	struct workload_error wrong;
	int ret = workload_load(&b->workload[i], row->workload, &wrong);
	if (ret) snprintf(error, SIM_ERROR, "%s: %.150s", row->workload, wrong.text);
	return ret;
}

static int prepare_cell(struct batch *b, const struct table_result *r, const struct table_setup *setup, unsigned row, unsigned column)
{
	int rule = rule_of(r->column[column]), ret = 0;
	nsched_error_t wrong;
	if (rule >= 0) ret = oracle_rule(&b->workload[row], &b->machine.known, (enum oracle_rule)rule, &b->placed[row][column]);
	/* who binds processes to nodes by hand leaves their memory to the first touch, from any of these nodes */
	unsigned processes = 0;
	for (unsigned i = 0; i < b->workload[row].n_processes; i++) processes += b->workload[row].process[i].count;
	b->placed[row][column].even = rule == ORACLE_BLOCKS && processes > 1;
	for (unsigned long k = 0; !ret && k < b->seeds; k++) {
		struct sim_run *run = runs_of(b, r, row, column) + k;
		*run = (struct sim_run){ .machine = &b->machine, .workload = &b->workload[row], .config = *setup->config, .seed = setup->seed + k };
		if (rule >= 0) run->placed = &b->placed[row][column];
		ret = nsched_config_set(&run->config, "policy", rule >= 0 ? "stay" : r->column[column], &wrong);
		if (ret >= 0 && r->table->option) ret = nsched_config_set(&run->config, r->table->option, r->table->value, &wrong);
		if (ret > 0) ret = 0;
	}
	return ret;
}

static int prepare(struct batch *b, const struct table_result *r, const struct table_setup *setup, char error[SIM_ERROR])
{
	const struct table *t = r->table;
	int ret = sim_machine_load(&b->machine, t->machine, error);
	for (unsigned i = 0; !ret && i < setup->n_set; i++) ret = sim_machine_set(&b->machine, setup->set[i], error);
	if (!ret && setup->perturb > 0) sim_machine_perturb(&b->machine, setup->perturb, setup->seed);
	b->seeds = setup->seeds;
	b->run = calloc((size_t)t->n_rows * r->n_columns * b->seeds, sizeof *b->run);
	if (!ret && !b->run) ret = -ENOMEM;
	for (unsigned i = 0; !ret && i < t->n_rows; i++) {
		ret = load_row(b, &t->row[i], i, error);
		for (unsigned c = 0; !ret && c < r->n_columns; c++)
			if (is_there(r->column[c])) ret = prepare_cell(b, r, setup, i, c);
	}
	if (ret == -ENOMEM) snprintf(error, SIM_ERROR, "no memory");
	return ret;
}

/* ---- comparing ----------------------------------------------------------------------------------------------- */

/* The run's measure as it was published: a time, or what is done in a time. */
static double measure(const struct table_row *row, const struct sim_summary *s)
{
	return row->user ? s->average.user_s : s->mean;
}

/* a's time in b's, whatever was published. */
static double as_times(const struct table_result *r, const struct table_row *row, const struct workload *w, double a, double b, bool simulated)
{
	bool higher = simulated ? !row->user && w->metric != METRIC_TIME : r->table->higher;
	return higher ? b / a : a / b;
}

static void fill_cell(struct table_result *r, const struct batch *b, unsigned i, unsigned c)
{
	const struct table_row *row = &r->table->row[i];
	struct table_cell *cell = &r->cell[i][c], *first = &r->cell[i][0];
	if (!is_there(r->column[c])) return;
	cell->summary = sim_summarize(runs_of(b, r, i, c), (unsigned)b->seeds);
	cell->there = !cell->summary.average.error && !cell->summary.average.stuck_line;
	cell->value = measure(row, &cell->summary);
	cell->deviation = row->user ? 0 : cell->summary.deviation;
	if (cell->there && first->there) cell->ratio = as_times(r, row, &b->workload[i], cell->value, measure(row, &first->summary), true);
	if (c < TABLE_COLUMNS && row->published[c] > 0 && row->published[0] > 0)
		cell->published_ratio = r->table->ratios ? row->published[c] : as_times(r, row, NULL, row->published[c], row->published[0], false);
	else if (c < TABLE_COLUMNS && row->published[c] > 0) cell->published_ratio = row->published[c];
	if (r->table->ratios) {
		cell->value = cell->ratio;
		cell->deviation = 0;
	}
}

static void count_pairs(struct table_result *r, unsigned i)
{
	const struct table_row *row = &r->table->row[i];
	for (unsigned a = 0; a < r->n_columns && a < TABLE_COLUMNS; a++)
		for (unsigned b = 0; b < a; b++) {
			const struct table_cell *x = &r->cell[i][a], *y = &r->cell[i][b];
			if (!x->there || !y->there || !(x->published_ratio > 0) || !(y->published_ratio > 0) || row->user) continue;
			double apart = fabs(row->published[a] - row->published[b]);
			if (!(apart > CLEARLY * fmax(row->deviation[a], row->deviation[b]))) continue;
			r->pairs++;
			r->pairs_right += (x->published_ratio < y->published_ratio) == (x->ratio < y->ratio);
		}
}

static void compare_row(struct table_result *r, unsigned i)
{
	double published[TABLE_COLUMNS], simulated[TABLE_COLUMNS], best = INFINITY;
	unsigned n = 0;
	for (unsigned c = 0; c < r->n_columns; c++) {
		const struct table_cell *cell = &r->cell[i][c];
		if (!cell->there) continue;
		if (rule_of(r->column[c]) < 0) best = fmin(best, cell->ratio);
		if (!(cell->published_ratio > 0)) continue;
		published[n] = cell->published_ratio;
		simulated[n++] = cell->ratio;
		if (!c) continue;
		r->ratios++;
		r->ratios_right += fabs(cell->ratio / cell->published_ratio - 1) <= RATIO_OFF;
	}
	r->rank[i] = table_rank_correlation(published, simulated, n);
	const struct table_cell *joint = &r->cell[i][r->joint];
	if (!joint->there || r->table->row[i].user) return;
	r->joint_to_best = fmax(r->joint_to_best, joint->ratio / best);
	r->joint_to_stay = fmax(r->joint_to_stay, joint->ratio);
}

static void compare(struct table_result *r, const struct batch *b)
{
	double published[TABLE_ROWS], simulated[TABLE_ROWS];
	unsigned n = 0;
	for (unsigned i = 0; i < r->table->n_rows; i++) {
		for (unsigned c = 0; c < r->n_columns; c++) fill_cell(r, b, i, c);
		compare_row(r, i);
		count_pairs(r, i);
		if (!r->cell[i][1].there || !(r->cell[i][1].published_ratio > 0)) continue;
		published[n] = r->cell[i][1].published_ratio;
		simulated[n++] = r->cell[i][1].ratio;
	}
	r->ratio_rank = table_rank_correlation(published, simulated, n);
}

static void name_columns(struct table_result *r)
{
	r->joint = UINT32_MAX;
	for (; r->n_columns < TABLE_COLUMNS && r->table->column[r->n_columns]; r->n_columns++) {
		r->column[r->n_columns] = r->table->column[r->n_columns];
		if (!strcmp(r->column[r->n_columns], "joint")) r->joint = r->n_columns;
	}
	if (r->joint != UINT32_MAX) return;
	r->joint = r->n_columns++;
	r->column[r->joint] = "joint";
}

static void free_batch(struct batch *b)
{
	for (unsigned i = 0; i < TABLE_ROWS; i++) {
		workload_free(&b->workload[i]);
		for (unsigned c = 0; c <= TABLE_COLUMNS; c++) free(b->placed[i][c].node);
	}
	sim_machine_free(&b->machine);
	free(b->run);
	free(b);
}

/* Cells of policies that this build does not have are not run. */
static unsigned squeeze(const struct batch *b, unsigned n, struct sim_run **kept)
{
	unsigned k = 0;
	for (unsigned i = 0; i < n; i++)
		if (b->run[i].machine) kept[k++] = &b->run[i];
	return k;
}

int table_run(const struct table *table, const struct table_setup *setup, struct table_result *r, char error[SIM_ERROR],
              void (*done)(void *arg, double share), void *arg)
{
	struct batch *b = calloc(1, sizeof *b);
	memset(r, 0, sizeof *r);
	r->table = table;
	name_columns(r);
	int ret = b ? prepare(b, r, setup, error) : -ENOMEM;
	unsigned n = (unsigned)(table->n_rows * r->n_columns * setup->seeds);
	struct sim_run **kept = ret ? NULL : malloc(n * sizeof(*kept));
	if (!ret && !kept) ret = -ENOMEM;
	if (!ret) {
		sim_run_each(kept, squeeze(b, n, kept), (unsigned)setup->jobs, done, arg);
		compare(r, b);
	}
	free(kept);
	if (b) free_batch(b);
	return ret;
}
