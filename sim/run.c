#include "run.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join.h"

static double metric_of(const struct engine *e, double time_s)
{
	switch (e->workload->metric) {
	case METRIC_TIME: return time_s;
	case METRIC_RATE: return (double)e->counts.marks / time_s;
	case METRIC_BANDWIDTH: break;
	}
	return e->counts.bytes / time_s / 1e9;
}

static void collect(struct sim_result *r, const struct join *j)
{
	const struct engine *e = j->engine;
	r->time_s = (double)(e->ended ? e->ended : e->now) / 1e9;
	r->metric = metric_of(e, r->time_s);
	r->local = e->counts.bytes > 0 ? e->counts.local_bytes / e->counts.bytes : 1;
	r->user_s = e->counts.tasks ? (double)e->counts.task_ns / 1e9 / (double)e->counts.tasks : 0;
	r->own_permille = e->cpu_ns ? 1000 * j->own_ns / ((double)e->cpu_ns + j->own_ns) : 0;
	r->converged_s = j->converged_s;
	r->thread_moves = (double)j->session.totals.thread_moves;
	r->moved_bytes = (double)j->session.totals.moved_pages * MEMORY_PAGE;
	r->reverts = (double)j->session.totals.reverts;
	r->migrations = (double)e->counts.migrations;
	r->node_migrations = (double)e->counts.node_migrations;
	r->switches = (double)e->counts.switches;
	r->events = (double)e->counts.events;
	r->stuck_line = e->stuck ? engine_stuck_line(e) : 0;
	if (e->stuck && !r->stuck_line) r->error = -ENOMEM;
}

struct trace {
	const struct join *join;
	double next_ns;
};

static void print_trace(void *arg, double ns)
{
	struct trace *t = arg;
	const struct join *j = t->join;
	if (ns < t->next_ns) return;
	t->next_ns += 1e9;
	printf("%8.1f s  pages with their users %5.1f %%  threads moved %llu  pages moved %llu  own CPU %.3f s  chunks %u  samples %llu, lost %llu\n",
	       ns / 1e9, 100 * join_local_pages(j), (unsigned long long)j->session.totals.thread_moves,
	       (unsigned long long)j->session.totals.moved_pages, j->own_ns / 1e9, j->session.situation.n_chunks,
	       (unsigned long long)j->counts.samples, (unsigned long long)j->counts.lost);
}

void sim_run(struct sim_run *run)
{
	struct join *j = malloc(sizeof *j);
	struct engine *e = engine_new(run->machine, run->workload, run->seed);
	struct trace trace = { .join = j };
	run->result = (struct sim_result){ .error = -ENOMEM };
	if (e) e->placed = run->placed;
	if (e) e->cpus = run->cpus;
	if (j && e) run->result.error = join_begin(j, e, &run->config, run->seed);
	if (j && e && !run->result.error) {
		join_run(j, run->trace ? print_trace : NULL, &trace);
		collect(&run->result, j);
		if (j->failed) run->result.error = -ENOMEM;
		join_end(j);
	}
	if (e) engine_free(e);
	free(j);
}

/* ---- many ---------------------------------------------------------------------------------------------------------------- */

struct pool {
	pthread_mutex_t lock;   /* protects next and ended, and the calls of `done` */
	struct sim_run *const *runs;
	unsigned n, next, ended;
	void (*done)(void *arg, double share);
	void *arg;
};

static void *work(void *arg)
{
	struct pool *p = arg;
	pthread_mutex_lock(&p->lock);
	while (p->next < p->n) {
		struct sim_run *run = p->runs[p->next++];
		pthread_mutex_unlock(&p->lock);
		sim_run(run);
		pthread_mutex_lock(&p->lock);
		p->ended++;
		if (p->done) p->done(p->arg, (double)p->ended / p->n);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

enum { JOBS_MOST = 64 };

void sim_run_each(struct sim_run *const *runs, unsigned n, unsigned jobs, void (*done)(void *arg, double share), void *arg)
{
	struct pool pool = { .runs = runs, .n = n, .done = done, .arg = arg };
	pthread_t thread[JOBS_MOST];
	unsigned started = 0;
	pthread_mutex_init(&pool.lock, NULL);
	for (; started + 1 < jobs && started + 1 < n && started < JOBS_MOST; started++)
		if (pthread_create(&thread[started], NULL, work, &pool)) break;
	work(&pool);
	while (started) pthread_join(thread[--started], NULL);
	pthread_mutex_destroy(&pool.lock);
}

void sim_run_all(struct sim_run *runs, unsigned n, unsigned jobs, void (*done)(void *arg, double share), void *arg)
{
	struct sim_run **each = malloc(n * sizeof(*each));
	for (unsigned i = 0; i < n; i++) {
		if (each) each[i] = &runs[i];
		else runs[i].result.error = -ENOMEM;
	}
	if (each) sim_run_each(each, n, jobs, done, arg);
	free(each);
}

static void add(struct sim_result *sum, const struct sim_result *r, double part)
{
	sum->time_s += part * r->time_s;
	sum->metric += part * r->metric;
	sum->local += part * r->local;
	sum->user_s += part * r->user_s;
	sum->own_permille += part * r->own_permille;
	sum->thread_moves += part * r->thread_moves;
	sum->moved_bytes += part * r->moved_bytes;
	sum->reverts += part * r->reverts;
	sum->migrations += part * r->migrations;
	sum->node_migrations += part * r->node_migrations;
	sum->switches += part * r->switches;
	sum->events += part * r->events;
	if (!sum->error) sum->error = r->error;
	if (!sum->stuck_line) sum->stuck_line = r->stuck_line;
}

struct sim_summary sim_summarize(const struct sim_run *runs, unsigned n)
{
	struct sim_summary s = { .least = INFINITY };
	double squares = 0, converged_s = 0;
	for (unsigned i = 0; i < n; i++) {
		const struct sim_result *r = &runs[i].result;
		add(&s.average, r, 1.0 / n);
		if (r->metric < s.least) s.least = r->metric;
		if (r->metric > s.most) s.most = r->metric;
		if (r->converged_s >= 0) {
			s.converged++;
			converged_s += r->converged_s;
		}
	}
	s.mean = s.average.metric;
	for (unsigned i = 0; i < n; i++) squares += (runs[i].result.metric - s.mean) * (runs[i].result.metric - s.mean);
	s.deviation = n > 1 ? sqrt(squares / (n - 1)) : 0;
	s.average.converged_s = s.converged > 0 ? converged_s / s.converged : -1;
	s.converged /= n;
	return s;
}

double sim_ratio(enum wl_metric metric, double a, double b)
{
	return metric == METRIC_TIME ? a / b : b / a;
}
