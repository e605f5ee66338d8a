/* What `nsched sim --table` prints. */
#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "sim_output.h"

static void print_values(const struct table_result *r, unsigned i, FILE *f)
{
	const struct table_row *row = &r->table->row[i];
	fprintf(f, "%-24s published", row->label);
	for (unsigned c = 0; c < r->n_columns; c++) {
		if (c < TABLE_COLUMNS && row->published[c] > 0) fprintf(f, " %9.2f %-7s", row->published[c], "");
		else fprintf(f, " %9s %-7s", "-", "");
	}
	fprintf(f, "\n%-24s simulated", "");
	for (unsigned c = 0; c < r->n_columns; c++) {
		const struct table_cell *cell = &r->cell[i][c];
		char deviation[16] = "";
		if (cell->deviation > 0) snprintf(deviation, sizeof deviation, "(%.2f)", cell->deviation);
		if (cell->there) fprintf(f, " %9.2f %-7s", cell->value, deviation);
		else fprintf(f, " %9s %-7s", "-", "");
	}
	fputc('\n', f);
}

static void print_ratios(const struct table_result *r, unsigned i, FILE *f)
{
	if (r->table->ratios) return;
	fprintf(f, "%-24s ratio    ", "");
	for (unsigned c = 0; c < r->n_columns; c++) {
		const struct table_cell *cell = &r->cell[i][c];
		char off[16] = "";
		if (c && cell->there && cell->published_ratio > 0) snprintf(off, sizeof off, "%+.0f %%", 100 * (cell->ratio / cell->published_ratio - 1));
		if (cell->there && cell->ratio > 0) fprintf(f, " %9.3f %-7s", cell->ratio, off);
		else fprintf(f, " %9s %-7s", "", "");
	}
	if (r->rank[i] <= 1) fprintf(f, " rank %+.2f", r->rank[i]);
	fputc('\n', f);
}

void sim_print_table(const struct table_result *r, FILE *f)
{
	fprintf(f, "%s\n%s, machine %s; ratios are of times to the first column's, less is better\n\n%34s", r->table->name, r->table->about,
	        r->table->machine, "");
	for (unsigned c = 0; c < r->n_columns; c++) fprintf(f, " %16.16s ", r->column[c]);
	fputc('\n', f);
	for (unsigned i = 0; i < r->table->n_rows; i++) {
		print_values(r, i, f);
		print_ratios(r, i, f);
	}
	fputc('\n', f);
	if (r->pairs) fprintf(f, "order of policies clearly apart: %u of %u pairs as published\n", r->pairs_right, r->pairs);
	if (r->ratios) fprintf(f, "ratios within 15 %%: %u of %u\n", r->ratios_right, r->ratios);
	if (r->ratio_rank <= 1) fprintf(f, "rank correlation of the ratios of %s: %.2f\n", r->column[1], r->ratio_rank);
	fprintf(f, "joint at its worst: %+.1f %% against the best policy, %+.1f %% against %s\n", 100 * (r->joint_to_best - 1),
	        100 * (r->joint_to_stay - 1), r->column[0]);
	if (r->table->lacks) fprintf(f, "where they differ: %s\n", r->table->lacks);
	fputc('\n', f);
}

static json_t *cell_json(const struct table_result *r, unsigned i, unsigned c)
{
	const struct table_row *row = &r->table->row[i];
	const struct table_cell *cell = &r->cell[i][c];
	json_t *o = json_pack("{s:s}", "policy", r->column[c]);
	if (c < TABLE_COLUMNS && row->published[c] > 0) json_object_set_new(o, "published", json_real(row->published[c]));
	if (cell->there) json_object_set_new(o, "simulated", json_real(cell->value));
	if (cell->there) json_object_set_new(o, "deviation", json_real(cell->deviation));
	if (cell->ratio > 0) json_object_set_new(o, "ratio", json_real(cell->ratio));
	if (cell->published_ratio > 0) json_object_set_new(o, "published_ratio", json_real(cell->published_ratio));
	return o;
}

int sim_print_table_json(const struct table_result *r, FILE *f)
{
	json_t *rows = json_array();
	for (unsigned i = 0; i < r->table->n_rows; i++) {
		json_t *cells = json_array(), *row = json_pack("{s:s, s:s}", "row", r->table->row[i].label, "workload", r->table->row[i].workload);
		for (unsigned c = 0; c < r->n_columns; c++) json_array_append_new(cells, cell_json(r, i, c));
		json_object_set_new(row, "policies", cells);
		if (r->rank[i] <= 1) json_object_set_new(row, "rank_correlation", json_real(r->rank[i]));
		json_array_append_new(rows, row);
	}
	json_t *all = json_pack("{s:s, s:s, s:o, s:i, s:i, s:i, s:i, s:f, s:f}", "table", r->table->name, "machine", r->table->machine, "rows", rows,
	                        "pairs", (int)r->pairs, "pairs_right", (int)r->pairs_right, "ratios", (int)r->ratios, "ratios_right",
	                        (int)r->ratios_right, "joint_to_best", r->joint_to_best, "joint_to_stay", r->joint_to_stay);
	if (!all) return -ENOMEM;
	if (r->ratio_rank <= 1) json_object_set_new(all, "ratio_rank_correlation", json_real(r->ratio_rank));
	int ret = json_dumpf(all, f, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) ? -EIO : 0;
	json_decref(all);
	fputc('\n', f);
	return ret;
}
