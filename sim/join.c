/* The session's life over the engine, and what it would find out in /proc: which threads there are, where they run and how
 * much. */
#include "join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_NS 500000000ull     /* as session_threads.c: the time over which a thread's load is taken */
#define SERVED_CPU_NS 500000000  /* a process with one thread is left alone until it has used so much */
#define CONVERGED 0.95           /* so many of the pages lie with their users, */
#define LOST 0.90                /* until it is less than this */

static _Thread_local struct join *starting;

struct join *join_starting(void)
{
	return starting;
}

/* ---- threads that come and go ---------------------------------------------------------------------------------------- */

static void born(void *arg, struct task *t)
{
	struct join *j = arg;
	if (j->n_watchers == j->room) {
		unsigned room = j->room ? j->room * 2 : 64;
		struct watcher **grown = realloc(j->watcher, room * sizeof(*grown));
		if (!grown) return;
		j->watcher = grown;
		j->room = room;
	}
	struct watcher *w = calloc(1, sizeof *w);
	if (w && !(w->ring = malloc(j->ring * sizeof *w->ring))) {
		free(w);
		w = NULL;
	}
	j->watcher[j->n_watchers++] = w;
	if (!w) return;
	w->task = t;
	t->watcher = w;
}

static void died(void *arg, struct task *t)
{
	struct watcher *w = t->watcher;
	(void)arg;
	if (!w) return;
	t->watcher = NULL;
	w->task = NULL;
	w->n = 0;
	if (w->thread) registry_leave(w->thread);
	w->thread = NULL;
}

/* As OMPT tells of implicit tasks: from the beginning to the barrier. The key is the line. */
static void visited(void *arg, struct task *t, const struct wl_op *region, uint64_t ns)
{
	struct watcher *w = t->watcher;
	(void)arg;
	if (w && w->thread) region_visit(&w->thread->regions, (const void *)(uintptr_t)(region->line * 4ul), ns);
}

/* Those at the beginning that have ended are not looked at any more. */
static void forget_ended(struct join *j)
{
	for (; j->first_watcher < j->n_watchers; j->first_watcher++) {
		struct watcher *w = j->watcher[j->first_watcher];
		if (w && w->task) return;
		if (w) free(w->ring);
		free(w);
		j->watcher[j->first_watcher] = NULL;
	}
}

static void look(struct join *j, struct watcher *w)
{
	const struct engine *e = j->engine;
	const struct task *t = w->task;
	struct nsched_thread *thread = w->thread;
	thread->node = t->cpu == NO_CPU ? REGISTRY_NO_NODE : e->cpu[t->cpu].node;
	uint64_t passed = e->now - w->looked_ns;
	if (passed < LOAD_NS) return;
	thread->load = (float)(t->cpu_ns - w->looked_cpu) / (float)passed;
	w->looked_ns = e->now;
	w->looked_cpu = t->cpu_ns;
}

/* A process that begins by exec is placed by its launcher. Then it is served from its second thread on, or once it has used some CPU. */
static bool is_served(const struct task *t)
{
	bool forked = t->process->section->forked, alone = forked || t->process->tasks < 2;
	return !alone || (t->section->starts_with_process && !forked) || t->cpu_ns >= SERVED_CPU_NS;
}

static void look_at_threads(struct join *j)
{
	forget_ended(j);
	for (unsigned i = j->first_watcher; i < j->n_watchers; i++) {
		struct watcher *w = j->watcher[i];
		if (!w || !w->task) continue;
		if (!w->thread && is_served(w->task)) {
			w->thread = registry_add(&j->registry, (pid_t)i + 1, true);
			if (w->thread) w->thread->process = (uint16_t)w->task->process->id;
			w->looked_ns = j->engine->now;
			w->looked_cpu = w->task->cpu_ns;
		}
		if (w->thread) look(j, w);
	}
}

double join_local_pages(const struct join *j)
{
	double local = 0, all = 0;
	for (unsigned i = j->first_watcher; i < j->n_watchers; i++) {
		const struct watcher *w = j->watcher[i];
		const struct task *t = w ? w->task : NULL;
		for (unsigned u = 0; t && t->resolved && t->cpu != NO_CPU && u < t->resolved->n_uses; u++) {
			all += t->use[u]->present;
			local += t->use[u]->on[j->engine->cpu[t->cpu].node];
		}
	}
	return all > 0 ? local / all : 0;
}

/* ---- life -------------------------------------------------------------------------------------------------------------- */

static int begin_session(struct join *j)
{
	static const struct source_ops *const sources[] = { &join_source, NULL };
	struct session_setup setup = { .config = &j->config, .clock = &join_clock, .clock_state = j, .hands = &join_hands, .hands_state = j,
	                               .sources = sources, .registry = &j->registry, .ranges = &j->ranges };
	if (sim_machine_known(j->engine->machine, &setup.machine)) return -ENOMEM;
	for (unsigned c = 0; c < setup.machine.n_cpus; c++) mask_add(&setup.allowed, setup.machine.cpu[c].os);
	if (j->engine->cpus) setup.allowed = *j->engine->cpus;
	starting = j;
	int ret = session_init(&j->session, &setup);
	starting = NULL;
	return ret;
}

int join_begin(struct join *j, struct engine *engine, const struct nsched_config *config, uint64_t seed)
{
	memset(j, 0, sizeof *j);
	j->engine = engine;
	j->config = *config;
	j->ring = (unsigned)engine->machine->params.ring;
	j->converged_s = -1;
	chance_seed(&j->chance, ~seed);
	registry_init(&j->registry);
	ranges_init(&j->ranges, (unsigned)config->max_ranges, (unsigned)config->max_hints);
	engine->watch_arg = j;
	engine->born = born;
	engine->died = died;
	engine->visited = visited;
	engine->sample = join_sample;
	int ret = begin_session(j);
	if (ret) {
		ranges_free(&j->ranges);
		return ret;
	}
	engine_begin(engine);
	return 0;
}

/* `called`: not in its turn, but since a process is about to begin. A launcher does that then and there; no step of the helper's
 * is charged for it. */
static void step(struct join *j, bool called)
{
	look_at_threads(j);
	j->step_due = !called;
	if (session_step(&j->session) < 0) j->failed = true;
	if (j->step_due) join_spend(j, 1000 * j->engine->machine->params.step_us);   /* nothing was looked at */
	double local = join_local_pages(j);
	if (j->converged_s < 0 && local >= CONVERGED) j->converged_s = (double)j->engine->now / 1e9;
	if (local < LOST) j->converged_s = -1;
}

/* One node: as if nsched were not there. */
void join_run(struct join *j, void (*progress)(void *arg, double ns), void *arg)
{
	struct engine *e = j->engine;
	bool worthwhile = machine_worthwhile(&e->machine->known);
	if (!worthwhile) e->sample_period = 0;
	uint64_t next = e->now + j->config.interval_ms * 1000000;
	while (!engine_done(e)) {
		engine_run(e, next);
		bool called = e->called;
		e->called = false;
		if (progress) progress(arg, (double)e->now);
		if (engine_done(e) || !worthwhile) {
			if (!called) next = e->now + j->config.interval_ms * 1000000;
			continue;
		}
		step(j, called);
		if (!called || next < e->now) next = e->now + session_wait_ms(&j->session) * 1000000;
	}
}

void join_end(struct join *j)
{
	j->engine->born = j->engine->died = NULL;
	j->engine->visited = NULL;
	session_stop(&j->session);
	session_free(&j->session);
	ranges_free(&j->ranges);
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) free(j->registry.block[b]);
	for (unsigned i = 0; i < j->n_watchers; i++) {
		if (j->watcher[i]) free(j->watcher[i]->ring);
		free(j->watcher[i]);
	}
	free(j->watcher);
}
