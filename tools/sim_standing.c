/* `nsched sim --standing`: how joint stands, in every row of the published tables, against the best policy and against stay. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "oracle.h"
#include "pure/policy.h"
#include "sim_output.h"

/* joint is to be the best, or within so much of the best, and never further behind stay. */
#define BEST_WITHIN 0.02
#define STAY_WITHIN 0.01
/* And within this of the best placement that could have been. */
#define ORACLE_WITHIN 0.03

enum { POLICIES = 32 };

struct standing {
	const struct table_setup *setup;
	const char *policy[POLICIES];
	unsigned n, joint, stay;
	bool json;
	unsigned rows, near_best, near_stay, near_oracle;
	double worst_best, worst_stay, worst_oracle;
};

/* Rows of the same workload on the same machine are the same runs; those that compare CPU time have none of their own. */
static bool is_again(const struct table *t, unsigned row)
{
	for (unsigned i = 0; i < row; i++)
		if (!t->row[i].user && !strcmp(t->row[i].workload, t->row[row].workload)) return true;
	return t->row[row].user;
}

static int prepare(const struct standing *s, const struct sim_machine *machine, const struct workload *workload, struct sim_run *run)
{
	nsched_error_t wrong;
	for (unsigned p = 0; p < s->n; p++)
		for (unsigned long k = 0; k < s->setup->seeds; k++, run++) {
			*run = (struct sim_run){ .machine = machine, .workload = workload, .config = *s->setup->config, .seed = s->setup->seed + k };
			if (nsched_config_set(&run->config, "policy", s->policy[p], &wrong) < 0) return -EINVAL;
		}
	return 0;
}

/* What the best placement from the start comes to, by the row's measure; 0: it is not asked for. Below 0: there is no memory. */
static double find_oracle(const struct standing *s, const struct sim_run *like)
{
	struct placed best;
	char how[ORACLE_HOW];
	nsched_error_t wrong;
	double sum = 0;
	if (!s->setup->oracle) return 0;
	if (oracle_search(like, s->setup->oracle, (unsigned)s->setup->jobs, &best, how, NULL, NULL)) return -1;
	for (unsigned long k = 0; k < s->setup->seeds; k++) {
		struct sim_run run = *like;
		run.placed = &best;
		run.seed = s->setup->seed + k;
		run.config.sample_hz = 0;
		if (nsched_config_set(&run.config, "policy", "stay", &wrong) >= 0) sim_run(&run);
		sum += run.result.metric / (double)s->setup->seeds;
	}
	free(best.node);
	return sum;
}

static void print(struct standing *s, const struct table *t, unsigned row, const struct workload *w, const struct sim_summary *each, unsigned best, double oracle)
{
	const struct sim_summary *joint = &each[s->joint], *stay = &each[s->stay];
	double to_best = sim_ratio(w->metric, joint->mean, each[best].mean) - 1, to_stay = sim_ratio(w->metric, joint->mean, stay->mean) - 1;
	s->rows++;
	s->near_best += to_best <= BEST_WITHIN;
	s->near_stay += to_stay <= STAY_WITHIN;
	s->worst_best = fmax(s->worst_best, to_best);
	s->worst_stay = fmax(s->worst_stay, to_stay);
	double to_oracle = oracle > 0 ? sim_ratio(w->metric, joint->mean, oracle) - 1 : 0;
	s->near_oracle += to_oracle <= ORACLE_WITHIN;
	s->worst_oracle = fmax(s->worst_oracle, to_oracle);
	if (s->json) {
		printf("%s\n  { \"table\": \"%s\", \"row\": \"%s\", \"stay\": %.6g, \"best\": %.6g, \"best_policy\": \"%s\", \"joint\": %.6g, "
		       "\"against_best\": %.4f, \"against_stay\": %.4f",
		       s->rows > 1 ? "," : "[", t->name, t->row[row].label, stay->mean, each[best].mean, s->policy[best], joint->mean, to_best, to_stay);
		if (oracle > 0) printf(", \"oracle\": %.6g, \"against_oracle\": %.4f", oracle, to_oracle);
		printf(" }");
		return;
	}
	printf("%-9s%-24s %9.2f %9.2f %-17s %9.2f (%.2f) %+7.1f %% %+7.1f %%", t->name, t->row[row].label, stay->mean, each[best].mean,
	       s->policy[best], joint->mean, joint->deviation, 100 * to_best, 100 * to_stay);
	if (oracle > 0) printf(" %+7.1f %%", 100 * to_oracle);
	printf("%s%s%s\n", to_best > BEST_WITHIN ? "  behind the best" : "", to_stay > STAY_WITHIN ? "  behind stay" : "",
	       to_oracle > ORACLE_WITHIN ? "  behind the oracle" : "");
	fflush(stdout);
}

static int do_row(struct standing *s, const struct table *t, unsigned row, const struct sim_machine *machine, struct sim_run *run)
{
	struct workload w;
	struct workload_error wrong;
	struct sim_summary each[POLICIES];
	unsigned best = 0;
	int ret = workload_load(&w, t->row[row].workload, &wrong);
	if (ret) {
		complain("%s: %s", t->row[row].workload, wrong.text);
		return COMMAND_USAGE;
	}
	ret = prepare(s, machine, &w, run);
	if (!ret) sim_run_all(run, s->n * (unsigned)s->setup->seeds, (unsigned)s->setup->jobs, NULL, NULL);
	for (unsigned p = 0; !ret && p < s->n; p++) {
		each[p] = sim_summarize(run + p * s->setup->seeds, (unsigned)s->setup->seeds);
		if (each[p].average.error || each[p].average.stuck_line) ret = -EIO;
		else if (p && sim_ratio(w.metric, each[p].mean, each[best].mean) < 1) best = p;
	}
	double oracle = ret ? 0 : find_oracle(s, run + s->joint * s->setup->seeds);
	if (oracle < 0) ret = -ENOMEM;
	if (!ret) print(s, t, row, &w, each, best, oracle);
	else complain("%s: a run went wrong", t->row[row].workload);
	workload_free(&w);
	return ret ? COMMAND_BROKEN : 0;
}

static int do_table(struct standing *s, const struct table *t, struct sim_run *run)
{
	struct sim_machine machine;
	char error[SIM_ERROR];
	int ret = sim_machine_load(&machine, t->machine, error), result = 0;
	for (unsigned i = 0; !ret && i < s->setup->n_set; i++) ret = sim_machine_set(&machine, s->setup->set[i], error);
	if (ret) {
		complain("%s", error);
		return COMMAND_USAGE;
	}
	if (s->setup->perturb > 0) sim_machine_perturb(&machine, s->setup->perturb, s->setup->seed);
	for (unsigned i = 0; !result && i < t->n_rows; i++)
		if (!is_again(t, i)) result = do_row(s, t, i, &machine, run);
	sim_machine_free(&machine);
	return result;
}

static unsigned add_policy(struct standing *s, const char *name)
{
	unsigned i = 0;
	while (i < s->n && strcmp(s->policy[i], name)) i++;
	if (i == s->n) s->policy[s->n++] = name;
	return i;
}

int sim_standing(const char *table, const struct table_setup *setup, const char *const *policies, unsigned n, bool json)
{
	struct standing s = { .setup = setup, .json = json };
	int result = 0;
	for (unsigned i = 0; i < n && s.n < POLICIES - 2; i++) add_policy(&s, policies[i]);
	s.stay = add_policy(&s, "stay");
	s.joint = add_policy(&s, "joint");
	struct sim_run *run = calloc(s.n * setup->seeds, sizeof *run);
	if (!run) {
		complain("there is no memory for so many runs");
		return COMMAND_BROKEN;
	}
	if (!json)
		printf("%-9s%-24s %9s %9s %-17s %9s %6s %9s %9s%s\n", "table", "row", "stay", "best", "", "joint", "", "to best", "to stay",
		       setup->oracle ? " to oracle" : "");
	for (unsigned i = 0; !result && table_at(i); i++)
		if (!table || !strcmp(table_at(i)->name, table)) result = do_table(&s, table_at(i), run);
	free(run);
	if (!json && !result && setup->oracle)
		printf("\njoint is within %.0f %% of the best placement from the start in %u of %u rows (worst %+.1f %%)", 100 * ORACLE_WITHIN, s.near_oracle, s.rows,
		       100 * s.worst_oracle);
	if (json) printf("%s\n]\n", s.rows ? "" : "[");
	else if (!result)
		printf("\njoint is the best, or within %.0f %% of it, in %u of %u rows (worst %+.1f %%), and at most %.0f %% behind stay in %u (worst %+.1f %%)\n",
		       100 * BEST_WITHIN, s.near_best, s.rows, 100 * s.worst_best, 100 * STAY_WITHIN, s.near_stay, 100 * s.worst_stay);
	return result;
}
