/* The report of `nsched sim` as JSON. */
#include <errno.h>
#include <jansson.h>

#include "sim_output.h"

enum { DIGITS = 9 };   /* of a number: enough for all that is measured, and the same on every machine */

static json_t *row_json(const struct sim_report *r, const char *policy, const struct sim_summary *s, double ratio)
{
	static const char *const metrics[] = { "seconds", "marks_per_s", "gb_per_s" };
	const struct sim_result *a = &s->average;
	json_t *row = json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "policy", policy, "metric",
	                        metrics[r->workload->metric], "mean", s->mean, "deviation", s->deviation, "least", s->least, "most", s->most,
	                        "time_s", a->time_s, "local", a->local, "thread_moves", a->thread_moves, "moved_bytes", a->moved_bytes,
	                        "reverts", a->reverts,
	                        "user_s", a->user_s, "own_permille", a->own_permille, "node_migrations", a->node_migrations, "switches",
	                        a->switches);
	if (row && ratio > 0) json_object_set_new(row, "ratio_to_stay", json_real(ratio));
	if (row && a->converged_s >= 0) json_object_set_new(row, "converged_s", json_real(a->converged_s));
	if (row && r->oracle)
		json_object_set_new(row, "gap_to_oracle", json_real(sim_ratio(r->workload->metric, s->mean, r->oracle_summary.mean) - 1));
	return row;
}

int sim_print_json(const struct sim_report *r, FILE *file)
{
	json_t *rows = json_array();
	for (unsigned i = 0; i < r->n_rows; i++)
		json_array_append_new(rows, row_json(r, r->row[i].policy, &r->row[i].summary, r->row[i].ratio));
	json_t *all = json_pack("{s:s, s:s, s:i, s:i, s:i, s:o}", "machine", r->machine->name, "workload", r->workload->name, "nodes",
	                        (int)r->machine->known.n_nodes, "cpus", (int)r->machine->known.n_cpus, "seeds", (int)r->seeds, "policies", rows);
	if (!all) return -ENOMEM;
	if (r->oracle)
		json_object_set_new(all, "oracle", json_pack("{s:s, s:f}", "how", r->oracle, "mean", r->oracle_summary.mean));
	int ret = json_dumpf(all, file, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS)) ? -EIO : 0;
	json_decref(all);
	fputc('\n', file);
	return ret;
}
