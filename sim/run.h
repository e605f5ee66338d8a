/* Runs: one workload on one machine under one policy with one seed; and many of them, on several CPUs. */
#ifndef NSCHED_SIM_RUN_H
#define NSCHED_SIM_RUN_H

#include "libnsched/config.h"
#include "machine.h"
#include "placed.h"
#include "sys/cpumask.h"
#include "workload.h"

struct sim_result {
	int error;                /* 0, or -errno: then nothing else counts */
	unsigned stuck_line;      /* the workload can't go on: where somebody waits for ever; else 0 */
	double time_s;            /* until all have ended, or the workload's limit */
	double metric;            /* by the workload's metric: s, marks a second, or GB/s */
	double local;             /* share of the traffic that was to the own node; of nothing: 1 */
	double user_s;            /* CPU time of a task that ended, on average */
	double own_permille;      /* CPU time of nsched, of all */
	double converged_s;       /* when 95 % of the pages lay with their users; below 0: never */
	double thread_moves, moved_bytes;
	double reverts;           /* moves that were taken back, since regions got slower */
	double migrations, node_migrations;  /* of threads from CPU to CPU, from node to node, whoever did it */
	double switches, events;
};

struct sim_run {
	const struct sim_machine *machine;
	const struct workload *workload;
	struct nsched_config config;
	const struct cpu_mask *cpus; /* what the program may use; NULL: all */
	const struct placed *placed; /* NULL: as the system and nsched will have it; else put there and left there */
	uint64_t seed;
	bool trace;               /* a line for each second on standard output */
	struct sim_result result;
};

/* One run, into its result. */
void sim_run(struct sim_run *run);

/* All of them, `jobs` at a time; `done` (NULL: none) is told how many have ended, one call at a time. */
void sim_run_all(struct sim_run *runs, unsigned n, unsigned jobs, void (*done)(void *arg, double share), void *arg);

/* The same of runs that do not lie side by side. */
void sim_run_each(struct sim_run *const *runs, unsigned n, unsigned jobs, void (*done)(void *arg, double share), void *arg);

struct sim_summary {
	double mean, deviation, least, most;   /* of the metric */
	struct sim_result average;             /* each field over all runs; error and stuck_line of the first that has one */
	double converged;                      /* share of the runs that converged */
};

struct sim_summary sim_summarize(const struct sim_run *runs, unsigned n);

/* How much better a is than b, as a ratio of times: below 1 is better, whatever the metric. */
double sim_ratio(enum wl_metric metric, double a, double b);

#endif
