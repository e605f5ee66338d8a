/* `nsched sim --random N`: joint against nsched doing nothing, on machines and workloads made by chance (sim/worlds.h). Where it came out behind, both run
 * again with other seeds, since what the system does by chance is often more than what joint does; and the worst are told, with the number that makes
 * that world again. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "oracle.h"
#include "sim_output.h"
#include "worlds.h"

/* Behind by more is worth another look. */
#define BEHIND 0.01

enum {
	AGAIN = 8,         /* runs with other seeds, then */
	AT_A_TIME = 32,    /* worlds side by side: what is kept of each is little, but its machine is not */
	WORST = 10,        /* of which so many are told */
};

struct outcome {
	uint64_t number;
	double base, joint;     /* mean times */
	double ratio;           /* joint's to the base's */
	double deviation;       /* of the base's runs, as a share of their mean; 0: there was one */
	double oracle;          /* joint's to the oracle's; 0: it was not looked for */
	bool again;             /* it has run with other seeds */
};

struct random {
	const struct sim_random_setup *setup;
	struct world *world;
	struct sim_run *run;
	struct outcome *outcome;
	unsigned ended;
};

static int prepare(const struct random *r, const struct world *w, struct sim_run *run, unsigned runs)
{
	nsched_error_t wrong;
	for (unsigned k = 0; k < 2 * runs; k++) {
		run[k] = (struct sim_run){ .machine = &w->m, .workload = &w->w, .config = *r->setup->config, .seed = w->number + k / 2 };
		if (nsched_config_set(&run[k].config, "policy", k % 2 ? r->setup->policy : "stay", &wrong) < 0) return -EINVAL;
		if (!(k % 2)) run[k].config.sample_hz = 0;   /* as if nsched were not there */
	}
	return 0;
}

/* Every second run is joint's. Their times, or -EIO where one went wrong. */
static int take(struct outcome *o, const struct sim_run *run, unsigned runs)
{
	double squares = 0;
	o->base = o->joint = 0;
	for (unsigned k = 0; k < 2 * runs; k++) {
		if (run[k].result.error || run[k].result.stuck_line) return -EIO;
		if (k % 2) o->joint += run[k].result.time_s / runs;
		else o->base += run[k].result.time_s / runs;
	}
	for (unsigned k = 0; k < 2 * runs; k += 2) squares += (run[k].result.time_s - o->base) * (run[k].result.time_s - o->base);
	o->deviation = runs > 1 ? sqrt(squares / (runs - 1)) / o->base : 0;
	o->ratio = o->joint / o->base;
	o->again = runs > 1;
	return 0;
}

static int against_oracle(const struct random *r, const struct world *w, struct outcome *o)
{
	struct placed best;
	struct sim_run run = { .machine = &w->m, .workload = &w->w, .config = *r->setup->config, .seed = w->number };
	nsched_error_t wrong;
	char how[ORACLE_HOW];
	int ret = oracle_search(&run, r->setup->oracle, (unsigned)r->setup->jobs, &best, how, NULL, NULL);
	if (ret) return ret;
	run.placed = &best;
	run.config.sample_hz = 0;
	if (nsched_config_set(&run.config, "policy", "stay", &wrong) < 0) ret = -EINVAL;
	else sim_run(&run);
	free(best.node);
	if (!ret && (run.result.error || run.result.stuck_line)) ret = -EIO;
	if (!ret) o->oracle = o->joint / run.result.time_s;
	return ret;
}

/* Worlds begin, begin + 1, .. up to AT_A_TIME of them. */
static int do_some(struct random *r, unsigned begin, unsigned n, char error[SIM_ERROR])
{
	int ret = 0;
	unsigned made = 0;
	for (; made < n && !ret; made++) {
		ret = world_make(&r->world[made], r->setup->seed + begin + made, error);
		if (ret) break;
		r->outcome[begin + made].number = r->world[made].number;
		ret = prepare(r, &r->world[made], &r->run[2 * made], 1);
	}
	if (!ret) sim_run_all(r->run, 2 * n, (unsigned)r->setup->jobs, NULL, NULL);
	for (unsigned i = 0; i < n && !ret; i++) {
		struct outcome *o = &r->outcome[begin + i];
		ret = take(o, &r->run[2 * i], 1);
		if (!ret && r->setup->oracle) ret = against_oracle(r, &r->world[i], o);
		if (ret) snprintf(error, SIM_ERROR, "world %llu: a run went wrong", (unsigned long long)o->number);
	}
	for (unsigned i = 0; i < n && !ret; i++) {
		struct outcome *o = &r->outcome[begin + i];
		struct sim_run again[2 * AGAIN];
		if (o->ratio <= 1 + BEHIND) continue;
		ret = prepare(r, &r->world[i], again, AGAIN);
		if (!ret) sim_run_all(again, 2 * AGAIN, (unsigned)r->setup->jobs, NULL, NULL);
		if (!ret) ret = take(o, again, AGAIN);
	}
	for (unsigned i = 0; i < made; i++) world_free(&r->world[i]);
	return ret;
}

/* ---- what came of it ------------------------------------------------------------------------------------------ */

static int worst_first(const void *a, const void *b)
{
	const struct outcome *x = a, *y = b;
	if (x->ratio > y->ratio || x->ratio < y->ratio) return x->ratio > y->ratio ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void print_text(const struct outcome *o, unsigned n, const char *policy)
{
	unsigned behind = 0, ahead = 0;
	double sum = 0, gap = 0;
	for (unsigned i = 0; i < n; i++) {
		behind += o[i].ratio > 1 + BEHIND;
		ahead += o[i].ratio < 1 - BEHIND;
		sum += log(o[i].ratio);
		gap = fmax(gap, o[i].oracle - 1);
	}
	printf("%u worlds made by chance, %s against nothing (ratios of times, below 1 is better)\n\n", n, policy);
	printf("mean %.3f  median %.3f  worst %.3f  of a hundred the worst %.3f, of a thousand %.3f\n", exp(sum / n), o[n / 2].ratio, o[0].ratio, o[n / 100].ratio, o[n / 1000].ratio);
	printf("more than %.0f %% ahead in %u, more than %.0f %% behind in %u (of %u runs each, where the first was behind)\n", 100 * BEHIND, ahead, 100 * BEHIND, behind, AGAIN);
	if (o[0].oracle > 0) printf("at most %.1f %% behind the best placement from the start\n", 100 * gap);
	printf("\n%12s %9s %9s %7s %10s%s\n", "world", "nothing", policy, "ratio", "deviation", o[0].oracle > 0 ? "  to oracle" : "");
	for (unsigned i = 0; i < n && i < WORST; i++) {
		printf("%12llu %9.2f %9.2f %7.3f", (unsigned long long)o[i].number, o[i].base, o[i].joint, o[i].ratio);
		if (o[i].again) printf(" %8.1f %%", 100 * o[i].deviation);
		else printf(" %10s", "one run");
		if (o[i].oracle > 0) printf("  %+7.1f %%", 100 * (o[i].oracle - 1));
		printf("\n");
	}
	printf("\nnsched sim --random 1 --seed WORLD makes one of them again, and shows it\n");
}

static void print_json(const struct outcome *o, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		printf("%s\n  { \"world\": %llu, \"nothing_s\": %.6g, \"policy_s\": %.6g, \"ratio\": %.4f, \"runs\": %d", i ? "," : "[", (unsigned long long)o[i].number, o[i].base,
		       o[i].joint, o[i].ratio, o[i].again ? AGAIN : 1);
		if (o[i].oracle > 0) printf(", \"to_oracle\": %.4f", o[i].oracle);
		printf(" }");
	}
	printf("\n]\n");
}

static void show(const struct sim_random_setup *setup)
{
	struct world *w = malloc(sizeof *w);
	char error[SIM_ERROR];
	if (w && !world_make(w, setup->seed, error)) {
		printf("machine %s\nset %s\n\n%s\n", w->machine, w->sets, w->text);
		world_free(w);
	}
	free(w);
}

int sim_random(const struct sim_random_setup *setup)
{
	struct random r = { .setup = setup };
	char error[SIM_ERROR] = "no memory";
	int ret = 0;
	r.world = calloc(AT_A_TIME, sizeof *r.world);
	r.run = calloc((size_t)2 * AT_A_TIME, sizeof *r.run);
	r.outcome = calloc(setup->n, sizeof *r.outcome);
	if (!r.world || !r.run || !r.outcome) ret = -ENOMEM;
	if (!ret && setup->n == 1 && !setup->json) show(setup);
	for (unsigned i = 0; i < setup->n && !ret; i += AT_A_TIME) {
		unsigned n = setup->n - i < AT_A_TIME ? setup->n - i : AT_A_TIME;
		ret = do_some(&r, i, n, error);
		sim_progress(NULL, (double)(i + n) / setup->n);
	}
	if (!ret) qsort(r.outcome, setup->n, sizeof *r.outcome, worst_first);
	if (ret) complain("%s", error);
	else if (setup->json) print_json(r.outcome, setup->n);
	else print_text(r.outcome, setup->n, setup->policy);
	free(r.world);
	free(r.run);
	free(r.outcome);
	return ret ? COMMAND_BROKEN : 0;
}
