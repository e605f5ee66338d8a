/* nsched sim: workloads on simulated machines, under the real policies. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "oracle.h"
#include "pure/nearest.h"
#include "pure/policy.h"
#include "run.h"
#include "sim_output.h"
#include "sys/cpulist.h"

enum { POLICIES_MOST = 32, SEEDS_MOST = 10000, WORLDS_MOST = 1000000, ORACLE_RUNS = 200 };

enum argument { NO_ARGUMENT, WITH_ARGUMENT, MAYBE_ARGUMENT /* only as --name=VALUE */ };

struct sim {
	const char *machine, *workload, *policies, *table;
	struct nsched_config config;
	struct sim_machine m;
	struct workload w;
	const char *set[64];
	unsigned n_set;
	unsigned long seeds, seed, jobs;
	double perturb;
	struct cpu_mask cpus;
	bool some_cpus;
	bool json, trace, list, help, standing;
	unsigned long worlds;   /* made by chance; 0: the machine and the workload that are named */
	unsigned long oracle;   /* placements tried for it; 0: it is not looked for */
	char name[POLICIES_MOST][WORKLOAD_NAME];
	unsigned n_policies;
};

/* ---- the command line --------------------------------------------------------------------------------- */

static int take_machine(struct sim *s, const char *value) { s->machine = value; return 0; }
static int take_workload(struct sim *s, const char *value) { s->workload = value; return 0; }
static int take_policies(struct sim *s, const char *value) { s->policies = value; return 0; }
static int take_table(struct sim *s, const char *value) { s->table = value; return 0; }
static int take_json(struct sim *s, const char *value) { (void)value; s->json = true; return 0; }
static int take_trace(struct sim *s, const char *value) { (void)value; s->trace = true; return 0; }
static int take_list(struct sim *s, const char *value) { (void)value; s->list = true; return 0; }
static int take_standing(struct sim *s, const char *value) { (void)value; s->standing = true; return 0; }
static int take_help(struct sim *s, const char *value) { (void)value; s->help = true; return 0; }

static int whole(const char *name, const char *value, unsigned long least, unsigned long most, unsigned long *number)
{
	char *end;
	errno = 0;
	*number = strtoul(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end && !errno && *number >= least && *number <= most) return 0;
	complain("%s %s: wanted is a number from %lu to %lu", name, value, least, most);
	return COMMAND_USAGE;
}

static int take_seeds(struct sim *s, const char *value) { return whole("--seeds", value, 1, SEEDS_MOST, &s->seeds); }
static int take_seed(struct sim *s, const char *value) { return whole("--seed", value, 0, 4294967295ul, &s->seed); }
static int take_random(struct sim *s, const char *value) { return whole("--random", value, 1, WORLDS_MOST, &s->worlds); }
static int take_jobs(struct sim *s, const char *value) { return whole("--jobs", value, 1, 64, &s->jobs); }

static int take_oracle(struct sim *s, const char *value)
{
	s->oracle = ORACLE_RUNS;
	return value ? whole("--oracle", value, 1, 1000000, &s->oracle) : 0;
}

static int take_perturb(struct sim *s, const char *value)
{
	char *end;
	s->perturb = strtod(value, &end);
	if (end != value && !*end && s->perturb >= 0 && s->perturb < 1) return 0;
	complain("--perturb %s: wanted is a share from 0 to below 1", value);
	return COMMAND_USAGE;
}

static int take_cpus(struct sim *s, const char *value)
{
	s->some_cpus = true;
	if (!cpulist_parse(value, &s->cpus)) return 0;
	complain("--cpus %s: wanted is a list of CPUs, as 0-3,8", value);
	return COMMAND_USAGE;
}

static int take_set(struct sim *s, const char *value)
{
	if (s->n_set == sizeof s->set / sizeof *s->set) {
		complain("too many --set");
		return COMMAND_USAGE;
	}
	s->set[s->n_set++] = value;
	return 0;
}

static int take_option(struct sim *s, const char *value)
{
	nsched_error_t error;
	char name[64];
	const char *sign = strchr(value, '=');
	snprintf(name, sizeof name, "%.*s", (int)(sign ? sign - value : 63), value);
	if (!sign) {
		complain("--option %s: a value is missing; write --option %s=VALUE", value, value);
		return COMMAND_USAGE;
	}
	if (nsched_config_set(&s->config, name, sign + 1, &error) >= 0) return 0;
	complain("%s", error.text);
	return COMMAND_USAGE;
}

static const struct flag {
	const char *name;
	enum argument argument;
	int (*take)(struct sim *s, const char *value);
	const char *help;
} flags[] = {
	{ "--machine", WITH_ARGUMENT, take_machine, "--machine M         a preset, a file of lstopo (M.xml), or \"node:4 core:2 pu:1\"" },
	{ "--workload", WITH_ARGUMENT, take_workload, "--workload W        one that comes with nsched, or a file; W:NAME=VALUE,... sets its parameters" },
	{ "--policy", WITH_ARGUMENT, take_policies, "--policy P,Q,...    the policies (default: stay,joint)" },
	{ "--table", WITH_ARGUMENT, take_table, "--table T           a published table beside the simulated one; --list has them" },
	{ "--standing", NO_ARGUMENT, take_standing, "--standing          how joint stands in a table's rows (--table; default: of all) against all policies, or --policy" },
	{ "--random", WITH_ARGUMENT, take_random, "--random N          N machines and workloads made by chance, from number --seed on: joint (--policy) against nothing" },
	{ "--seeds", WITH_ARGUMENT, take_seeds, "--seeds N           runs of each, with seeds that follow each other (default 5)" },
	{ "--seed", WITH_ARGUMENT, take_seed, "--seed N            the first seed (default 1)" },
	{ "--oracle", MAYBE_ARGUMENT, take_oracle, "--oracle[=N]        also look for the best placement that could have been, in N tries (default 200)" },
	{ "--perturb", WITH_ARGUMENT, take_perturb, "--perturb SHARE     the machine differs from what is said of it by up to SHARE, by chance" },
	{ "--cpus", WITH_ARGUMENT, take_cpus, "--cpus LIST         the program may use these CPUs only, as under taskset" },
	{ "--set", WITH_ARGUMENT, take_set, "--set NAME=VALUE    a parameter of the machine; may be repeated" },
	{ "--option", WITH_ARGUMENT, take_option, "--option NAME=VALUE an option of nsched's, as for nsched run; may be repeated" },
	{ "--jobs", WITH_ARGUMENT, take_jobs, "--jobs N            runs at a time (default: one for each CPU)" },
	{ "--json", NO_ARGUMENT, take_json, "--json              print JSON" },
	{ "--trace", NO_ARGUMENT, take_trace, "--trace             print a line for each simulated second" },
	{ "--list", NO_ARGUMENT, take_list, "--list              machines, their parameters, and workloads" },
	{ "--help", NO_ARGUMENT, take_help, "--help              this text" },
};
enum { FLAGS = sizeof flags / sizeof *flags };

static void usage(FILE *file)
{
	fputs("usage: nsched sim --machine M --workload W [--policy P,Q,...] [OPTIONS]\n"
	      "       nsched sim --table T [OPTIONS]\n"
	      "       nsched sim --standing [--table T] [OPTIONS]\n"
	      "       nsched sim --random N [--seed S] [--policy P] [OPTIONS]\n"
	      "       nsched sim --list\n"
	      "\n"
	      "Runs a workload on a simulated machine under nsched's policies, and compares them.\n"
	      "\n", file);
	for (size_t i = 0; i < FLAGS; i++) fprintf(file, "  %s\n", flags[i].help);
}

static int unknown(const char *word)
{
	const char *names[FLAGS];
	for (size_t i = 0; i < FLAGS; i++) names[i] = flags[i].name;
	const char *nearest = nearest_name(word, names, FLAGS);
	if (nearest) complain("sim has no option %s; did you mean %s?", word, nearest);
	else complain("sim has no option %s; see nsched sim --help", word);
	return COMMAND_USAGE;
}

static int take_flag(struct sim *s, int argc, char **argv, int *i)
{
	char name[32];
	const char *word = argv[*i], *sign = strchr(word, '=');
	snprintf(name, sizeof name, "%.*s", (int)(sign ? sign - word : 31), word);
	for (size_t k = 0; k < FLAGS; k++) {
		if (strcmp(flags[k].name, name)) continue;
		const char *value = sign ? sign + 1 : NULL;
		if (flags[k].argument == NO_ARGUMENT && value) {
			complain("%s takes no value", name);
			return COMMAND_USAGE;
		}
		if (flags[k].argument == WITH_ARGUMENT && !value && *i + 1 < argc) value = argv[++*i];
		if (flags[k].argument == WITH_ARGUMENT && !value) {
			complain("%s: a value is missing", name);
			return COMMAND_USAGE;
		}
		return flags[k].take(s, value);
	}
	return unknown(word);
}

/* ---- what is to be run --------------------------------------------------------------------------------- */

static int no_policy(const char *name)
{
	const char *names[POLICIES_MOST];
	size_t n = 0;
	for (; policy_at((unsigned)n) && n < POLICIES_MOST; n++) names[n] = policy_at((unsigned)n)->name;
	const char *nearest = nearest_name(name, names, n);
	if (nearest) complain("there is no policy \"%s\"; did you mean %s?", name, nearest);
	else complain("there is no policy \"%s\"", name);
	return COMMAND_USAGE;
}

static int split_policies(struct sim *s)
{
	for (const char *p = s->policies; *p;) {
		size_t n = strcspn(p, ",");
		if (s->n_policies == POLICIES_MOST || n >= WORKLOAD_NAME) return no_policy(p);
		snprintf(s->name[s->n_policies], WORKLOAD_NAME, "%.*s", (int)n, p);
		if (!policy_find(s->name[s->n_policies])) return no_policy(s->name[s->n_policies]);
		s->n_policies++;
		p += n + (p[n] == ',');
	}
	return s->n_policies ? 0 : no_policy("");
}

static int load(struct sim *s)
{
	char error[SIM_ERROR];
	struct workload_error wrong;
	if (!s->machine || !s->workload) {
		complain("which %s? nsched sim --machine M --workload W; --list has those that there are", s->machine ? "workload" : "machine");
		return COMMAND_USAGE;
	}
	if (sim_machine_load(&s->m, s->machine, error)) {
		complain("%s", error);
		return COMMAND_USAGE;
	}
	for (unsigned i = 0; i < s->n_set; i++)
		if (sim_machine_set(&s->m, s->set[i], error)) {
			complain("%s", error);
			return COMMAND_USAGE;
		}
	if (s->perturb > 0) sim_machine_perturb(&s->m, s->perturb, s->seed);
	bool any = false;
	for (unsigned c = 0; c < s->m.known.n_cpus; c++) any |= mask_has(&s->cpus, s->m.known.cpu[c].os);
	if (s->some_cpus && !any) {
		complain("--cpus: %s has none of these", s->m.name);
		return COMMAND_USAGE;
	}
	if (!workload_load(&s->w, s->workload, &wrong)) return 0;
	complain("%s: %s", s->workload, wrong.text);
	return COMMAND_USAGE;
}

/* ---- the runs ---------------------------------------------------------------------------------------------- */

static int check(const struct sim *s, const struct sim_summary *summary)
{
	if (summary->average.error) {
		complain("the simulation failed: %s", strerror(-summary->average.error));
		return COMMAND_BROKEN;
	}
	if (!summary->average.stuck_line) return 0;
	complain("%s, line %u: a thread waits there for ever", s->workload, summary->average.stuck_line);
	return 1;
}

static struct sim_run *make_runs(const struct sim *s)
{
	struct sim_run *runs = calloc(s->n_policies * s->seeds, sizeof *runs);
	for (unsigned p = 0; runs && p < s->n_policies; p++)
		for (unsigned k = 0; k < s->seeds; k++) {
			struct sim_run *run = &runs[p * s->seeds + k];
			run->machine = &s->m;
			run->workload = &s->w;
			run->seed = s->seed + k;
			run->trace = s->trace;
			run->cpus = s->some_cpus ? &s->cpus : NULL;
			run->config = s->config;
			nsched_error_t error;
			if (nsched_config_set(&run->config, "policy", s->name[p], &error) < 0) run->result.error = -EINVAL;
		}
	return runs;
}

static int find_oracle(const struct sim *s, const struct sim_run *like, struct sim_report *r, char how[ORACLE_HOW])
{
	struct placed best;
	struct sim_run *runs = calloc(s->seeds, sizeof *runs);
	if (!runs || oracle_search(like, (unsigned)s->oracle, (unsigned)s->jobs, &best, how, sim_progress, NULL)) {
		free(runs);
		return COMMAND_BROKEN;
	}
	for (unsigned k = 0; k < s->seeds; k++) {
		runs[k] = *like;
		runs[k].seed = s->seed + k;
		runs[k].placed = &best;
		runs[k].trace = false;
		runs[k].config.sample_hz = 0;
		nsched_error_t error;
		if (nsched_config_set(&runs[k].config, "policy", "stay", &error) < 0) return COMMAND_BROKEN;
	}
	sim_run_all(runs, (unsigned)s->seeds, (unsigned)s->jobs, NULL, NULL);
	r->oracle_summary = sim_summarize(runs, (unsigned)s->seeds);
	r->oracle = how;
	free(best.node);
	free(runs);
	return 0;
}

static int report(const struct sim *s, const struct sim_run *runs)
{
	char how[ORACLE_HOW];
	struct sim_row row[POLICIES_MOST];
	const struct sim_row *stay = NULL;
	int result = 0;
	for (unsigned p = 0; !result && p < s->n_policies; p++) {
		row[p] = (struct sim_row){ .policy = s->name[p], .summary = sim_summarize(runs + p * s->seeds, (unsigned)s->seeds) };
		if (!strcmp(s->name[p], "stay")) stay = &row[p];
		result = check(s, &row[p].summary);
	}
	for (unsigned p = 0; stay && p < s->n_policies; p++)
		row[p].ratio = sim_ratio(s->w.metric, row[p].summary.mean, stay->summary.mean);
	struct sim_report r = { .machine = &s->m, .workload = &s->w, .seeds = (unsigned)s->seeds, .row = row, .n_rows = s->n_policies };
	if (!result && s->oracle) result = find_oracle(s, runs, &r, how);
	if (!result && s->json) result = sim_print_json(&r, stdout) ? COMMAND_BROKEN : 0;
	else if (!result) sim_print_text(&r, stdout);
	return result;
}

static int run_them(struct sim *s)
{
	struct sim_run *runs = make_runs(s);
	if (!runs) {
		complain("there is no memory for so many runs");
		return COMMAND_BROKEN;
	}
	sim_run_all(runs, (unsigned)(s->n_policies * s->seeds), s->trace ? 1 : (unsigned)s->jobs, s->trace ? NULL : sim_progress, NULL);
	int result = report(s, runs);
	free(runs);
	return result;
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

static int no_table(const char *name)
{
	const char *names[32], *nearest;
	size_t n = 0;
	for (; table_at((unsigned)n) && n < 32; n++) names[n] = table_at((unsigned)n)->name;
	nearest = nearest_name(name, names, n);
	if (nearest) complain("there is no table \"%s\"; did you mean %s?", name, nearest);
	else complain("there is no table \"%s\"; see nsched sim --list", name);
	return COMMAND_USAGE;
}

static int stand(const struct sim *s, const struct table_setup *setup)
{
	const char *name[POLICIES_MOST];
	unsigned n = 0;
	for (; n < s->n_policies; n++) name[n] = s->name[n];
	for (unsigned i = 0; !s->policies && policy_at(i) && n < POLICIES_MOST; i++) name[n++] = policy_at(i)->name;
	return sim_standing(s->table, setup, name, n, s->json);
}

/* All tables of the name: one that has two measures is two. */
static int run_tables(const struct sim *s)
{
	struct table_setup setup = { .config = &s->config, .set = s->set, .n_set = s->n_set, .perturb = s->perturb, .seeds = s->seeds, .seed = s->seed,
	                             .jobs = s->jobs, .oracle = (unsigned)s->oracle };
	static struct table_result result;
	char error[SIM_ERROR];
	if (s->table && !table_find(s->table)) return no_table(s->table);
	if (s->standing) return stand(s, &setup);
	for (unsigned i = 0; table_at(i); i++) {
		if (strcmp(table_at(i)->name, s->table)) continue;
		if (table_run(table_at(i), &setup, &result, error, sim_progress, NULL)) {
			complain("%s", error);
			return COMMAND_USAGE;
		}
		if (!s->json) sim_print_table(&result, stdout);
		else if (sim_print_table_json(&result, stdout)) return COMMAND_BROKEN;
	}
	return 0;
}

static int run_random(const struct sim *s)
{
	struct sim_random_setup setup = { .config = &s->config, .policy = s->policies ? s->name[0] : "joint", .n = (unsigned)s->worlds, .seed = s->seed,
	                                  .oracle = (unsigned)s->oracle, .jobs = s->jobs, .json = s->json };
	if (s->machine || s->workload || s->table || s->standing || s->n_policies > 1) {
		complain("--random makes machines and workloads of its own, for one policy");
		return COMMAND_USAGE;
	}
	return sim_random(&setup);
}

static int sim_main(int argc, char **argv)
{
	static struct sim s;
	int result = 0;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	s.seeds = 5;
	s.seed = 1;
	s.jobs = cpus > 0 && cpus < 64 ? (unsigned long)cpus : 1;
	config_defaults(&s.config);
	for (int i = 1; !result && i < argc; i++) result = take_flag(&s, argc, argv, &i);
	if (result) return result;
	if (s.help || s.list) {
		if (s.help) usage(stdout);
		else sim_print_list(stdout);
		return 0;
	}
	if (!s.policies && !s.standing && !s.worlds) s.policies = "stay,joint";
	if (s.policies) result = split_policies(&s);
	if (!result && s.worlds) return run_random(&s);
	if (!result && (s.table || s.standing)) return run_tables(&s);
	if (!result) result = load(&s);
	if (!result) result = run_them(&s);
	workload_free(&s.w);
	sim_machine_free(&s.m);
	return result;
}

const struct command command_sim = {
	.name = "sim",
	.summary = "compare the policies on a simulated machine",
	.run = sim_main,
};
