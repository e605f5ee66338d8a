/* The report of `nsched sim` for people. */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_output.h"

static const char *const metric_units[] = { "s", "marks/s", "GB/s" };

static void print_row(const struct sim_report *r, const struct sim_row *row, FILE *file)
{
	const struct sim_result *a = &row->summary.average;
	fprintf(file, "%-17s %10.3f %9.3f", row->policy, row->summary.mean, row->summary.deviation);
	if (row->ratio > 0) fprintf(file, " %7.3f", row->ratio);
	else fprintf(file, " %7s", "-");
	fprintf(file, " %6.1f %% %7.0f %9.1f", 100 * a->local, a->thread_moves, a->moved_bytes / 1048576);
	fprintf(file, " %6.0f", a->reverts);
	if (a->converged_s >= 0) fprintf(file, " %7.1f s", a->converged_s);
	else fprintf(file, " %9s", "never");
	fprintf(file, " %5.1f", a->own_permille);
	if (r->oracle) fprintf(file, " %+6.1f %%", 100 * (sim_ratio(r->workload->metric, row->summary.mean, r->oracle_summary.mean) - 1));
	fputc('\n', file);
}

void sim_print_text(const struct sim_report *r, FILE *file)
{
	const struct machine *k = &r->machine->known;
	fprintf(file, "%s on %s (%u nodes, %u CPUs), %u seed%s\n%s\n\n", r->workload->name, r->machine->name, k->n_nodes, k->n_cpus, r->seeds,
	        r->seeds == 1 ? "" : "s", r->workload->about);
	fprintf(file, "%-17s %10s %9s %7s %8s %7s %9s %6s %9s %5s%s\n", "policy", metric_units[r->workload->metric], "deviation", "ratio", "local",
	        "moves", "moved MiB", "back", "95 % at", "own", r->oracle ? "   oracle" : "");
	for (unsigned i = 0; i < r->n_rows; i++) print_row(r, &r->row[i], file);
	if (r->oracle) fprintf(file, "\noracle %10.3f, %s\n", r->oracle_summary.mean, r->oracle);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_workload(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);
	return n > 4 && !strcmp(entry->d_name + n - 4, ".sim");
}

static void list_workloads(FILE *file)
{
	struct dirent **entry = NULL;
	const char *folder = getenv("NSCHED_SIM_WORKLOADS");
	if (!folder || !*folder) folder = NSCHED_WORKLOADS;
	int n = scandir(folder, &entry, is_workload, by_name);
	fprintf(file, "\nworkloads, in %s%s\n\n", folder, n < 0 ? ": it can't be read" : "");
	for (int i = 0; i < n; i++) {
		struct workload w;
		struct workload_error error;
		char name[256];
		snprintf(name, sizeof name, "%.*s", (int)strlen(entry[i]->d_name) - 4, entry[i]->d_name);
		free(entry[i]);
		if (workload_load(&w, name, &error)) {
			fprintf(file, "  %-17s %s\n", name, error.text);
			continue;
		}
		fprintf(file, "  %-17s %s\n%20s", name, w.about, "");
		for (unsigned k = 0; k < w.n_params; k++) fprintf(file, "%s%s=%g", k ? ", " : "", w.param[k].name, w.param[k].value);
		fputc('\n', file);
		workload_free(&w);
	}
	free(entry);
}

void sim_print_list(FILE *file)
{
	fprintf(file, "machines\n\n");
	for (unsigned i = 0; sim_preset_at(i); i++) fprintf(file, "  %-17s %s\n", sim_preset_at(i)->name, sim_preset_at(i)->about);
	fprintf(file, "\nparameters of a machine, for --set NAME=VALUE (default, range)\n\n");
	for (unsigned i = 0; sim_param_at(i); i++) {
		const struct sim_param *p = sim_param_at(i);
		fprintf(file, "  %-17s %s%s%s (%g, %g..%g)\n", p->name, p->help, *p->unit ? ", in " : "", p->unit, p->value, p->least, p->most);
	}
	list_workloads(file);
	fprintf(file, "\ntables\n\n");
	for (unsigned i = 0; table_at(i); i++) fprintf(file, "  %-17s %s\n", table_at(i)->name, table_at(i)->about);
}

void sim_progress(void *arg, double share)
{
	enum { WIDTH = 40 };
	(void)arg;
	if (!isatty(STDERR_FILENO)) return;
	unsigned n = (unsigned)(share * WIDTH);
	fprintf(stderr, "\r[%.*s%*s] %3.0f %%", (int)n, "########################################", (int)(WIDTH - n), "", 100 * share);
	if (share >= 1) fprintf(stderr, "\r%*s\r", WIDTH + 8, "");
	fflush(stderr);
}
