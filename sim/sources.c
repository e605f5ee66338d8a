/* Samples: each stands for a period of a task's CPU time, and shows an address that the task was waiting for then. Some are
 * lost, some give no address, some a wrong one; a ring that is full takes no more. */
#include <errno.h>
#include <stdio.h>

#include "join.h"

enum { LINE = 64, TRIES = 16 };

/* ---- where a task is just now ------------------------------------------------------------------------------------------ */

static uint64_t address_in(struct join *j, const struct task *t, const struct wl_use *use, const struct window *w)
{
	double place = chance_unit(&j->chance);
	if (use->pass_ns > 0) {
		place = t->progress / use->pass_ns;
		place -= (double)(uint64_t)place;
	}
	uint64_t bytes = (uint64_t)w->count * MEMORY_PAGE, offset = (uint64_t)(place * (double)bytes) / LINE * LINE;
	return ((w->region->page + w->first) << MEMORY_PAGE_SHIFT) + (offset < bytes ? offset : 0);
}

/* Time goes to pages by how long an access to them takes: of those that the task might be at, one is taken by weight
 * and accepted by its cost. */
static uint64_t draw(struct join *j, const struct task *t)
{
	const struct engine *e = j->engine;
	const float *cost = e->cost[e->cpu[t->cpu].node];
	double most = 1, stall = (double)t->op->stall;
	uint64_t addr = 0;
	for (unsigned n = 0; n < e->n_nodes; n++)
		if ((double)cost[n] > most) most = (double)cost[n];
	for (unsigned k = 0; k < TRIES; k++) {
		double pick = chance_unit(&j->chance);
		unsigned u = 0;
		while (u + 1 < t->op->n_uses && pick >= (double)t->op->use[u].weight) pick -= (double)t->op->use[u++].weight;
		addr = address_in(j, t, &t->op->use[u], t->use[u]);
		int node = memory_node(&e->memory, addr >> MEMORY_PAGE_SHIFT);
		double here = node < 0 ? 1 : (double)cost[node];
		if (chance_unit(&j->chance) * (1 - stall + stall * most) <= 1 - stall + stall * here) break;
	}
	return addr;
}

static uint64_t wrong(struct join *j)
{
	const struct memory *m = &j->engine->memory;
	const struct piece *r = m->n ? m->region[chance_below(&j->chance, m->n)] : NULL;
	return r && r->pages ? (r->page + chance_below(&j->chance, r->pages)) << MEMORY_PAGE_SHIFT : 0;
}

void join_sample(void *arg, struct task *t, double period)
{
	struct join *j = arg;
	struct watcher *w = t->watcher;
	const struct sim_params *p = &j->engine->machine->params;
	(void)period;
	if (!w->watched) return;
	if (w->n >= j->ring || chance_unit(&j->chance) < p->lost) {
		j->counts.lost++;
		return;
	}
	uint64_t addr = 0;
	if (t->op && t->op->n_uses && chance_unit(&j->chance) >= p->unresolved)
		addr = chance_unit(&j->chance) < p->wrong ? wrong(j) : draw(j, t);
	w->ring[w->n++] = addr;   /* 0: it gave none */
}

/* ---- the source ------------------------------------------------------------------------------------------------------------ */

static int start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct join *j = join_starting();
	if (!setup->period_ns) {
		snprintf(why, SOURCE_WHY, "sampling is switched off");
		return -ENODATA;
	}
	j->engine->sample_period = (double)setup->period_ns;
	*state = j;
	return 0;
}

static int thread_add(void *state, unsigned thread, pid_t tid)
{
	struct watcher *w = join_watcher(state, tid);
	(void)thread;
	if (!w) return -ESRCH;
	w->watched = true;
	w->task->sample_period = ((struct join *)state)->engine->sample_period;
	return 0;
}

static void tell(const struct watcher *w, const struct sink *sink, unsigned samples, unsigned accesses)
{
	struct source_taken taken = { .thread = w->thread->number, .samples = samples, .accesses = accesses };
	if (w->task) taken.time_ns = (uint64_t)(w->task->sample_period * samples);
	if (sink->taken) sink->taken(sink->arg, &taken);
}

static unsigned hand_over(struct join *j, struct watcher *w, const struct sink *sink, unsigned most)
{
	unsigned taken = 0, i = 0;
	float period = w->task ? (float)w->task->sample_period : (float)j->engine->sample_period;
	for (; i < w->n && taken < most; i++) {
		j->counts.samples++;
		if (!w->ring[i]) {
			j->counts.unresolved++;
			continue;
		}
		struct access a = { .addr = w->ring[i], .thread = w->thread->number, .weight_ns = period, .kind = ACCESS_SAMPLE };
		j->counts.resolved++;
		sink->put(sink->arg, &a);
		taken++;
	}
	tell(w, sink, i, taken);
	for (unsigned k = i; k < w->n; k++) w->ring[k - i] = w->ring[k];
	w->n -= i;
	return taken;
}

/* Begins with another thread each time, so that all are heard where not all can be. */
static int poll(void *state, const struct sink *sink, unsigned most)
{
	struct join *j = state;
	unsigned taken = 0, n = j->n_watchers - j->first_watcher;
	for (unsigned k = 0; k < n && taken < most; k++) {
		struct watcher *w = j->watcher[j->first_watcher + (j->poll_first + k) % n];
		if (w && w->thread && w->n) taken += hand_over(j, w, sink, most - taken);
		if (taken >= most) j->poll_first = (j->poll_first + k) % n;
	}
	join_spend(j, taken * j->engine->machine->params.sample_ns);
	return (int)taken;
}

static void set_period(void *state, unsigned thread, uint64_t period_ns)
{
	const struct join *j = state;
	const struct watcher *w = join_watcher(j, registry_at(&j->registry, thread)->tid);
	if (w && w->task) w->task->sample_period = (double)period_ns;
}

static void counts(const void *state, struct source_counts *c)
{
	const struct join *j = state;
	*c = j->counts;
}

static void stop(void *state)
{
	struct join *j = state;
	j->engine->sample_period = 0;
}

const struct source_ops join_source = { .name = "simulated", .start = start, .thread_add = thread_add, .poll = poll,
	                                .set_period = set_period, .counts = counts, .stop = stop };
