#include "sim_made.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sim_made_machine(struct sim_machine *m, const char *spec, const char *sets)
{
	char error[SIM_ERROR], pair[64];
	int n;
	ck_assert_msg(!sim_machine_load(m, spec, error), "%s", error);
	ck_assert_int_eq(sim_machine_set(m, "noise_hz=0", error), 0);
	for (; sscanf(sets, " %63s%n", pair, &n) == 1; sets += n) ck_assert_msg(!sim_machine_set(m, pair, error), "%s", error);
}

void sim_made_workload(struct workload *w, const char *text)
{
	struct workload_error error;
	ck_assert_msg(!workload_parse(w, text, strlen(text), NULL, &error), "%s", error.text);
}

void sim_made_shipped(struct workload *w, const char *spec)
{
	struct workload_error error;
	char path[4096];
	const char *srcdir = getenv("srcdir");
	snprintf(path, sizeof path, "%s/sim/workloads/%.*s.sim%s", srcdir ? srcdir : ".", (int)strcspn(spec, ":"), spec, spec + strcspn(spec, ":"));
	ck_assert_msg(!workload_load(w, path, &error), "%s: %s", path, error.text);
}

struct sim_result sim_made_run(const struct sim_machine *m, const struct workload *w, const char *policy, uint64_t seed)
{
	struct sim_run run = { .machine = m, .workload = w, .seed = seed };
	nsched_error_t error;
	config_defaults(&run.config);
	ck_assert_int_ge(nsched_config_set(&run.config, "policy", policy, &error), 0);
	sim_run(&run);
	ck_assert_int_eq(run.result.error, 0);
	return run.result;
}

struct sim_result sim_made_result(const char *machine, const char *sets, const char *text, const char *policy)
{
	struct sim_machine m;
	struct workload w;
	sim_made_machine(&m, machine, sets);
	sim_made_workload(&w, text);
	struct sim_result r = sim_made_run(&m, &w, policy, 1);
	workload_free(&w);
	sim_machine_free(&m);
	return r;
}
