/* The real session over the engine: its clock, its hands and its source of samples are the engine's. What it takes is
 * taken from the simulated machine's CPUs, while the program goes on.
 *
 *   join.c     the session's life, and what it would see in /proc
 *   hands.c    clock and hands
 *   sources.c  samples, with their noise and their losses */
#ifndef NSCHED_SIM_JOIN_H
#define NSCHED_SIM_JOIN_H

#include "engine.h"
#include "session.h"

struct watcher {
	struct task *task;             /* NULL: it has ended */
	struct nsched_thread *thread;  /* NULL: not known to nsched yet */
	uint64_t looked_ns, looked_cpu;
	uint64_t *ring;                /* addresses of samples */
	unsigned n;
	bool watched;
};

struct join {
	struct engine *engine;
	struct nsched_config config;
	struct session session;
	struct registry registry;
	struct ranges ranges;
	struct chance chance;          /* of samples: another seed than the engine's */
	double own_ns;                 /* CPU time that nsched took */
	bool step_due;                 /* the step's fixed price has not been paid yet */
	struct watcher **watcher;      /* by tid - 1 */
	unsigned n_watchers, room, first_watcher;   /* those before the first have ended */
	unsigned ring, poll_first;
	struct source_counts counts;
	double converged_s;            /* since when 95 % of the pages lie with their users; below 0: they do not */
	bool failed;
};

/* `config` names the policy and the options. 0, -ENOMEM, -EINVAL. The engine has not begun; what it lets the program use
 * is set. */
int join_begin(struct join *join, struct engine *engine, const struct nsched_config *config, uint64_t seed);

/* Runs the workload to its end. `progress` (NULL: none) is told the simulated time now and then. */
void join_run(struct join *join, void (*progress)(void *arg, double ns), void *arg);
void join_end(struct join *join);

/* The share of their pages that lies with those that use them, 0 to 1. */
double join_local_pages(const struct join *join);

/* ---- between its files ---------------------------------------------------------------------------------------------- */

extern const struct clock_ops join_clock;
extern const struct actuator_ops join_hands;
extern const struct source_ops join_source;

/* nsched takes so much CPU time. */
void join_spend(struct join *join, double ns);

struct watcher *join_watcher(const struct join *join, pid_t tid);

/* The engine's hook. */
void join_sample(void *join, struct task *task, double period);

/* The join that a source's start is for: sources have no argument of their own. */
struct join *join_starting(void);

#endif
