#include <errno.h>
#include <math.h>

#include "session.h"

/* A chunk counts from this many ticks of weight on: a sample at 250 Hz and a bit, so that one stray
 * sample moves nothing. */
enum { TICKS_LEAST = 20, NO_INDEX = 0xffff };

enum { LONGEST_REST = 6 };   /* times that a rest is doubled: a minute, at the default */

/* A thread that runs less than this is asleep: it takes no CPU from the others and is left alone. Where there are many more threads
 * than CPUs, one that never sleeps gets less than that: less than a third of its part of a CPU counts there. */
#define LOAD_LEAST 0.15f
#define PART_LEAST (1 / 3.0f)

static uint32_t ms_since(uint64_t then_ms, uint64_t now_ms)
{
	uint64_t ms = now_ms - then_ms;
	return then_ms == 0 ? UINT32_MAX : ms > UINT32_MAX - 1 ? UINT32_MAX - 1 : (uint32_t)ms;
}

/* Where moves did not help, by the counters, a thread's rest is twice as long each time. */
static uint32_t rested_ms(const struct nsched_thread *t, uint64_t now_ms)
{
	uint32_t ms = ms_since(t->moved_ms, now_ms);
	return t->moved_ms == 0 ? ms : ms >> (t->no_help < LONGEST_REST ? t->no_help : LONGEST_REST);
}

static float least_load(const struct session *s)
{
	unsigned live = 0;
	for (uint32_t i = 0; i < s->registry->seen_n; i++) live += registry_at(s->registry, i)->seen.state == THREAD_LIVE;
	float part = live ? PART_LEAST * (float)s->own.n_cpus / (float)live : 1;
	return part < LOAD_LEAST ? part : LOAD_LEAST;
}

static int view_threads(struct session *s, uint16_t *index)
{
	uint64_t now = session_now_ms(s);
	float least = least_load(s);
	for (uint32_t i = 0; i < s->registry->seen_n; i++) {
		struct nsched_thread *t = registry_at(s->registry, i);
		index[i] = NO_INDEX;
		if (t->seen.state != THREAD_LIVE || t->node < 0 || t->load < least) continue;
		struct situation_thread *v = situation_add_thread(&s->situation);
		if (!v) return -ENOMEM;
		index[i] = (uint16_t)(s->situation.n_threads - 1);
		*v = (struct situation_thread){ .number = t->number, .node = (int16_t)t->node, .bound = t->seen.bound >= 0,
		                                .fixed = t->seen.fixed, .load = t->load, .home = -1, .process = t->process,
		                                .moved_ms_ago = rested_ms(t, now) };
	}
	return 0;
}

/* Latency of a thread to the chunk as it lies now; what is not known counts as local. */
static float latency_now(const struct session *s, int node, const struct situation_chunk *c)
{
	float sum = 0, shares = 0;
	for (unsigned k = 0; k < SITUATION_WHERE && c->where[k].node >= 0; k++) {
		sum += c->where[k].share * s->machine.latency_ns[node][c->where[k].node];
		shares += c->where[k].share;
	}
	return shares > 0 ? sum / shares : (float)MACHINE_LOCAL_NS;
}

/* Each user has its part, by weight, of the time that went to the chunk. */
static int view_chunk(struct session *s, const struct session_leaf *leaf, const uint16_t *index, float tick_share)
{
	const struct evidence_chunk *chunk = evidence_chunk(s->evidence, leaf->index);
	const struct placement_entry *where = placement_entry(&s->placement, leaf->index, chunk);
	unsigned weight = evidence_weight(chunk);
	if (!where || !(where->flags & PLACEMENT_KNOWN) || where->flags & PLACEMENT_ABSENT) return 0;
	if (weight < TICKS_LEAST || !chunk->recent || !evidence_is_clear(chunk)) return 0;
	float share_of_weight = (float)chunk->recent * tick_share / (float)weight;
	struct situation_chunk *c = situation_add_chunk(&s->situation);
	if (!c) return -ENOMEM;
	c->page = leaf->page;
	c->pages = leaf->pages;
	c->fixed = where->flags & PLACEMENT_FIXED;
	c->moved_ms_ago = where->flags & PLACEMENT_MOVED ? placement_age_ms(where->moved, session_now_ms(s)) : UINT32_MAX;
	for (unsigned k = 0; k < PLACEMENT_NODES && where->where[k].share; k++) {
		c->where[k].node = where->where[k].node;
		c->where[k].share = (float)where->where[k].share / PLACEMENT_WHOLE;
	}
	for (unsigned u = 0; u < chunk->n_users; u++) {
		uint16_t t = index[chunk->user[u].thread];
		if (t == NO_INDEX) continue;
		struct situation_use *use = situation_add_use(&s->situation);
		if (!use) return -ENOMEM;
		use->thread = t;
		use->rate = (float)chunk->user[u].weight * share_of_weight / latency_now(s, s->situation.thread[t].node, c);
	}
	if (!c->n_uses) s->situation.n_chunks--;
	return 0;
}

/* Samples are time, and time at a node that is asked for more than it serves is longer by its stretch:
 * what was just counted as accesses is too much by that. The demand that explains both is the one whose
 * stretch is the root of the one counted, since demand x stretch = what was counted. */
static void take_out_stretch(struct session *s)
{
	struct situation *v = &s->situation;
	float counted[MACHINE_NODES] = { 0 };
	for (unsigned c = 0; c < v->n_chunks; c++)
		for (unsigned k = 0; k < SITUATION_WHERE && v->chunk[c].where[k].node >= 0; k++)
			counted[v->chunk[c].where[k].node] += v->chunk[c].where[k].share * situation_traffic(v, &v->chunk[c]);
	for (unsigned c = 0; c < v->n_chunks; c++) {
		int n = v->chunk[c].where[0].node;
		float stretch = n < 0 ? 1 : sqrtf(counted[n] / s->machine.node[n].lines_per_ns);
		for (unsigned u = 0; stretch > 1 && u < v->chunk[c].n_uses; u++) v->use[v->chunk[c].first_use + u].rate /= stretch;
	}
}

int session_view(struct session *s)
{
	uint16_t index[REGISTRY_THREADS];
	situation_clear(&s->situation);
	int ret = view_threads(s, index);
	double window = evidence_window_ns(s->evidence);
	float tick_share = window > 0 ? (float)(EVIDENCE_TICK_NS / window) : 0;
	for (unsigned i = 0; !ret && i < s->n_leaves; i++) ret = view_chunk(s, &s->leaf[i], index, tick_share);
	if (!ret) ret = session_view_kernel(s);
	if (!ret) session_scale_view(s);
	if (!ret) take_out_stretch(s);
	return ret;
}
