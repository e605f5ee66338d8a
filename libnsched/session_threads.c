#include <errno.h>

#include "session.h"

enum {
	STRANGERS_MS = 1000,    /* how often unregistered threads are looked at that may have inherited a mask of ours */
	LOAD_NS = 500000000,    /* time over which a thread's load is taken; longer while nothing changes */
	TIMES_MOST = 64,        /* threads asked for their CPU in one step, at 10 us each in /proc, at the most... */
	TIMES_USUAL = 16,       /* ...and so many usually, or a sixteenth of all; those of which nothing is known yet come on top */
};

/* A thread that runs less than this is not asked each time where it is. (Its load is 1 until it is known.) */
#define ASLEEP 0.02f

unsigned session_live(const struct session *s)
{
	unsigned live = 0;
	for (uint32_t i = 0; i < s->registry->seen_n; i++) live += registry_at(s->registry, i)->seen.state == THREAD_LIVE;
	return live;
}

static void found(void *arg, pid_t tid)
{
	struct session *s = arg;
	if (tid == s->self_tid || registry_find(s->registry, tid)) return;
	if (s->config.threads == THREADS_ALL) registry_add(s->registry, tid, false);
	else binding_release_stranger(&s->binding, tid);
}

void session_look_for_threads(struct session *s, uint64_t passed_ns)
{
	s->strangers_ms += (unsigned)(passed_ns / 1000000);
	if (!s->eyes) return;
	if (s->config.threads != THREADS_ALL && s->strangers_ms < STRANGERS_MS) return;
	s->strangers_ms = 0;
	s->eyes->scan(s->eyes_state, found, s);
}

int session_bound(struct session *s, struct nsched_thread *t, int ret)
{
	registry_see(t);
	if (s->witness) s->witness->bound(s->witness_state, t, &ret);
	return ret;
}

static void look(struct session *s, struct nsched_thread *t)
{
	binding_look(&s->binding, t);
	session_bound(s, t, 0);
}

static void verify(struct session *s, struct nsched_thread *t)
{
	if (t->seen.bound < 0) return;
	binding_verify(&s->binding, t);
	session_bound(s, t, 0);
}

static void announce(struct session *s, struct nsched_thread *t)
{
	session_watch(s, t);
	if (s->counters.on) s->counters.ops->thread_add(s->counters.state, t->number, t->tid);
	t->watched = true;
	look(s, t);
}

static void forget(struct session *s, struct nsched_thread *t)
{
	for (unsigned i = 0; t->watched && i < s->n_sources; i++)
		if (s->source[i].on && s->source[i].ops->thread_remove) s->source[i].ops->thread_remove(s->source[i].state, t->number);
	if (t->watched && s->counters.on) s->counters.ops->thread_remove(s->counters.state, t->number);
	session_rate_end(s, t->number);
	evidence_forget_thread(s->evidence, t->number);
	ranges_forget_thread(s->ranges, t->number);
	past_forget_thread(&s->past, t->number);
	trial_forget_thread(&s->trial, t->number);
	registry_free_slot(s->registry, t);
	t->seen.state = THREAD_FREE;
	t->seen.bound = REGISTRY_NO_NODE;
	t->seen.fixed = false;
}

static uint64_t load_ns(const struct session *s)
{
	return (uint64_t)LOAD_NS << session_calm(s);
}

/* The kernel counts in ticks of 10 ms: over half a second that is good to 2 %. */
static void look_load(const struct session *s, struct nsched_thread *t, uint64_t ticks)
{
	uint64_t passed = s->last_ns - t->ticks_ns;
	if (t->ticks_ns && passed < load_ns(s)) return;
	if (t->ticks_ns) t->load = (float)(ticks - t->ticks) * (1e9f / (float)s->eyes->ticks_per_s(s->eyes_state)) / (float)passed;
	t->ticks = ticks;
	t->ticks_ns = s->last_ns;
}

static void look_where(struct session *s, struct nsched_thread *t)
{
	struct thread_times times;
	int ret = s->eyes->times(s->eyes_state, t->tid, &times);
	if (ret == -ENOENT || ret == -ESRCH) {
		registry_leave(t);
		t->seen.state = THREAD_GONE;
		return;
	}
	unsigned node = ret || times.cpu_os >= MACHINE_CPUS ? REGISTRY_UNKNOWN_CPU : s->registry->node_of_cpu[times.cpu_os];
	if (!ret) look_load(s, t, times.ticks);
	if (t->seen.fixed) look(s, t);
	verify(s, t);
	if (t->seen.bound >= 0) t->node = t->seen.bound;
	else t->node = node == REGISTRY_UNKNOWN_CPU ? REGISTRY_NO_NODE : (int)node;
}

/* One that is bound is where it is, and where one is that sleeps, as MPI's and other libraries' helpers do, does not matter: only their
 * load may change. */
static bool wants_look(const struct session *s, const struct nsched_thread *t)
{
	return (t->seen.bound < 0 && t->load > ASLEEP) || s->last_ns - t->ticks_ns >= load_ns(s);
}

/* Somebody may have bound it, just now. */
static void look_again(struct session *s, struct nsched_thread *t)
{
	look(s, t);
	verify(s, t);
}

static void count_bound(struct session *s)
{
	s->totals.bound = s->totals.fixed = 0;
	s->totals.bindings = 0;
	for (uint32_t i = 0; i < s->registry->seen_n; i++) {
		const struct nsched_thread *t = registry_at(s->registry, i);
		s->totals.bindings += atomic_load(&t->bindings);
		if (t->seen.state != THREAD_LIVE) continue;
		s->totals.bound += t->seen.bound >= 0;
		s->totals.fixed += t->seen.fixed;
	}
}

/* A step that comes seldom asks more of them. */
static uint32_t times_each_step(const struct session *s)
{
	uint32_t usual = s->registry->seen_n / TIMES_USUAL;
	if (usual < TIMES_USUAL) usual = TIMES_USUAL;
	usual <<= session_calm(s);
	return usual < TIMES_MOST ? usual : TIMES_MOST;
}

void session_update_threads(struct session *s)
{
	bool look_at_all = atomic_exchange(&s->registry->masks_changed, false);
	registry_see_all(s->registry);
	if (s->witness) s->witness->threads(s->witness_state, s->registry, &look_at_all);
	uint32_t n = s->registry->seen_n, asked = 0, times = times_each_step(s);
	for (uint32_t k = 0; k < n; k++) {
		/* begin somewhere else each time, so that all get their turn where not all can be asked */
		struct nsched_thread *t = registry_at(s->registry, (k + (uint32_t)s->totals.steps * times) % n);
		bool live = t->seen.state == THREAD_LIVE;
		if (live && !t->watched) announce(s, t);
		else if (live && look_at_all) look_again(s, t);
		if (live && s->eyes && wants_look(s, t) && asked++ < (t->ticks_ns ? times : TIMES_MOST)) look_where(s, t);
		else if (t->seen.bound >= 0) t->node = t->seen.bound;
		if (t->seen.state == THREAD_GONE) forget(s, t);
	}
	count_bound(s);
}

void session_release_threads(struct session *s)
{
	for (uint32_t i = 0; i < atomic_load(&s->registry->n); i++) {
		struct nsched_thread *t = registry_at(s->registry, i);
		if (atomic_load(&t->state) == THREAD_LIVE) binding_release(&s->binding, t);
	}
}
