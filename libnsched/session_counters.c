#include <errno.h>
#include <stdio.h>

#include "session.h"

enum { READ_EACH_STEP = 64 };   /* threads read from outside in one step: 2 us each, so below 0.2 % of a step */

/* Hardware counters that count nothing at all for so long, and so much work, are not really there, whatever was
 * said at the start (virtual machines). All threads have had their turn by then. */
#define DEAD_NS 15000000000ull
#define DEAD_CPU_NS 5000000000ull

void session_start_counters(struct session *s, const struct counter_ops *ops)
{
	struct session_counters *c = &s->counters;
	struct counter_setup setup = { .events = s->config.events, .insist = s->config.counters == COUNTERS_ON, .root = "", .max_threads = REGISTRY_THREADS };
	c->ops = ops;
	c->remote_permille_first = c->remote_permille_now = 1001;
	if (!ops || s->config.counters == COUNTERS_OFF) {
		snprintf(c->why, sizeof c->why, ops ? "counters=off" : "this build has no PAPI");
		return;
	}
	int ret = ops->start(&setup, &c->state, &c->about, c->why);
	c->on = ret == 0;
	if (!c->on && !c->why[0]) snprintf(c->why, sizeof c->why, "error %d", -ret);
	if (!c->on) return;
	c->why[0] = 0;
	c->begin_ns = s->last_ns;
	c->begin_cpu_ns = session_program_cpu_ns(s);
	if (!c->about.by_itself) return;
	atomic_store(&s->registry->look_arg, c->state);
	atomic_store(&s->registry->unlook, ops->leave);
	atomic_store(&s->registry->look, ops->look);
}

static void stop(struct session *s, const char *why)
{
	struct session_counters *c = &s->counters;
	if (!c->on) return;
	c->on = false;
	snprintf(c->why, sizeof c->why, "%s", why);
	atomic_store(&s->registry->look, NULL);
	atomic_store(&s->registry->unlook, NULL);
	c->ops->stop(c->state);
}

void session_stop_counters(struct session *s)
{
	stop(s, "stopped at the end");
}

static void judge(struct session *s, struct nsched_thread *t)
{
	enum counted_verdict verdict = counted_judge(&t->counted, s->last_ns);
	if (verdict == COUNTED_OPEN) return;
	if (verdict == COUNTED_HELPED) s->counters.helped++;
	else s->counters.no_help++;
	t->no_help = verdict == COUNTED_HELPED ? 0 : t->no_help + 1;
}

static void read_thread(struct session *s, struct nsched_thread *t)
{
	uint64_t at_ns, value[COUNTERS];
	if (s->counters.ops->read(s->counters.state, t->number, &at_ns, value)) return;
	if (at_ns == t->counted.at_ns) return;   /* it has not read since */
	counted_add(&t->counted, at_ns, value, s->config.half_life_ms * 1000000);
	s->counters.counted |= value[COUNTER_LOCAL] || value[COUNTER_REMOTE];
	judge(s, t);
}

/* The remote share of all threads together. */
static void sum_up(struct session *s, uint32_t n)
{
	float local = 0, remote = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct nsched_thread *t = registry_at(s->registry, i);
		if (t->seen.state != THREAD_LIVE || !counted_known(&t->counted)) continue;
		local += t->counted.rate[COUNTED_LOCAL];
		remote += t->counted.rate[COUNTED_REMOTE];
	}
	if (!(local + remote > 0)) return;
	s->counters.remote_permille_now = (unsigned)(1000 * remote / (local + remote) + 0.5f);
	if (s->counters.remote_permille_first > 1000) s->counters.remote_permille_first = s->counters.remote_permille_now;
}

void session_read_counters(struct session *s)
{
	struct session_counters *c = &s->counters;
	uint32_t n = s->registry->seen_n, most = c->about.by_itself || n < READ_EACH_STEP ? n : READ_EACH_STEP;
	if (!c->on) return;
	for (uint32_t k = 0; k < most; k++) {
		struct nsched_thread *t = registry_at(s->registry, (c->next + k) % n);
		if (t->seen.state == THREAD_LIVE && t->watched) read_thread(s, t);
	}
	c->next = n ? (c->next + most) % n : 0;
	sum_up(s, n);
	if (!c->counted && !c->about.named && s->last_ns - c->begin_ns > DEAD_NS && session_program_cpu_ns(s) - c->begin_cpu_ns > DEAD_CPU_NS)
		stop(s, "the counters stay at zero: this machine (a virtual one?) has them by name only");
}

/* ---- what they are good for ------------------------------------------------------------------------------- */

/* Whose accesses a move changes: the thread's, or those of all who use the pages. */
void session_count_move(struct session *s, const struct move *move)
{
	const struct situation *v = &s->situation;
	uint64_t end = move->page + (move->range ? move->range : move->pages);
	if (!s->counters.on) return;
	if (move->kind == MOVE_THREAD) counted_moved(&registry_at(s->registry, move->thread)->counted, s->last_ns);
	for (unsigned c = 0; move->kind == MOVE_PAGES && c < v->n_chunks && v->chunk[c].page < end; c++) {
		const struct situation_chunk *chunk = &v->chunk[c];
		if (chunk->page + chunk->pages <= move->page) continue;
		for (unsigned u = chunk->first_use; u < chunk->first_use + chunk->n_uses; u++)
			counted_moved(&registry_at(s->registry, v->thread[v->use[u].thread].number)->counted, s->last_ns);
	}
}

/* Samples say which memory a thread uses, the counters how much of that reaches memory at all: a thread that
 * computes in its caches has samples, but no traffic, and is left where it is. */
void session_scale_view(struct session *s)
{
	struct situation *v = &s->situation;
	enum counted_cover cover = s->counters.about.demand ? COUNTED_DEMAND : COUNTED_ALL;
	float part[REGISTRY_THREADS];
	if (!s->counters.on) return;
	situation_rates(v, part);
	for (unsigned t = 0; t < v->n_threads; t++)
		part[t] = counted_part(&registry_at(s->registry, v->thread[t].number)->counted, part[t], cover);
	for (unsigned u = 0; u < v->n_uses; u++) v->use[u].rate *= part[v->use[u].thread];
}
