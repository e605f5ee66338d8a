#include <errno.h>
#include <math.h>

#include "pure/pool.h"
#include "session.h"

/* Users that are not kept count from this part of a chunk's weight on: a few strays take no part in it. */
#define OTHERS_LEAST 0.1f
/* Where so many users are, and so much of what is known of them are single samples, as much is to be expected of users that none was seen of yet
 * (after Good and Turing). */
enum { SEVERAL = 5, SINGLE_TICKS = 16 };
#define SINGLE_LEAST 0.25f

/* A chunk counts from this many ticks of weight on: a sample at 250 Hz and a bit, so that one stray
 * sample moves nothing. */
enum { TICKS_LEAST = 20, NO_INDEX = 0xffff };

enum { LONGEST_REST = 6 };   /* times that a rest is doubled: a minute, at the default */

/* A thread that runs less than this is asleep: it takes no CPU from the others and is left alone. Where there are many more threads
 * than CPUs, one that never sleeps gets less than that: less than a third of its part of a CPU counts there. */
#define LOAD_LEAST 0.15f
#define PART_LEAST (1 / 3.0f)
/* One that is bound keeps its place until it runs less than this: where there is room for a moment, others would be spread into it. */
#define LOAD_KEPT 0.05f

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
	unsigned live = session_live(s);
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
		if (t->seen.state != THREAD_LIVE || t->node < 0 || t->load < (t->seen.bound >= 0 && LOAD_KEPT < least ? LOAD_KEPT : least)) continue;
		struct situation_thread *v = situation_add_thread(&s->situation);
		if (!v) return -ENOMEM;
		index[i] = (uint16_t)(s->situation.n_threads - 1);
		*v = (struct situation_thread){ .number = t->number, .node = (int16_t)t->node, .bound = t->seen.bound >= 0,
		                                .fixed = t->seen.fixed, .load = t->load, .home = -1, .process = t->process,
		                                .moved_ms_ago = rested_ms(t, now) };
	}
	return 0;
}

/* What a thread uses is not all known well enough to be counted; what is stands for the rest. No chunk for more than this many
 * of its like: a few samples say little of where all the others lie. */
#define STANDS_MOST 16.0f

/* Ticks of each thread's time that went to memory lately: all that were seen, and those to chunks that count. As many as
 * there are threads are filled: the rest is not touched in any step. */
struct known {
	float all[REGISTRY_THREADS], counted[REGISTRY_THREADS];
};

/* Does enough of the chunk's use, and its place, stand firm? */
static bool counts(const struct evidence_chunk *chunk, const struct placement_entry *where)
{
	if (!where || !(where->flags & PLACEMENT_KNOWN) || where->flags & PLACEMENT_ABSENT) return false;
	return evidence_weight(chunk) >= TICKS_LEAST && chunk->recent && evidence_is_clear(chunk);
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

/* Do more threads use it than are kept, or were seen yet? */
static void find_crowd(const struct evidence_chunk *chunk, unsigned weight, struct situation_chunk *c)
{
	unsigned single = 0;
	for (unsigned u = 0; u < chunk->n_users; u++) single += chunk->user[u].weight <= SINGLE_TICKS ? chunk->user[u].weight : 0;
	bool others = chunk->n_users == EVIDENCE_USERS && chunk->others > OTHERS_LEAST * (float)weight;
	c->crowded = others || (chunk->n_users >= SEVERAL && single > SINGLE_LEAST * (float)weight);
	c->unknown = others ? (float)chunk->others / (float)(weight - chunk->others) : 0;
}

/* Each user has its part, by weight, of the time that went to the chunk. */
static int view_chunk(struct session *s, const struct session_leaf *leaf, const uint16_t *index, float tick_share, struct known *known)
{
	const struct evidence_chunk *chunk = evidence_chunk(s->evidence, leaf->index);
	const struct placement_entry *where = placement_entry(&s->placement, leaf->index, chunk);
	unsigned weight = evidence_weight(chunk);
	bool counted = counts(chunk, where);
	for (unsigned u = 0; weight && u < chunk->n_users; u++) {
		float ticks = (float)chunk->recent * (float)chunk->user[u].weight / (float)weight;
		known->all[chunk->user[u].thread] += ticks;
		if (counted) known->counted[chunk->user[u].thread] += ticks;
	}
	if (!counted) return 0;
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
	else find_crowd(chunk, weight, c);
	return 0;
}

/* How much more a thread would ask for if all its memory were near: of a second it waits `all`, and would wait `near`; where it
 * has a CPU for a part of the time only, it has that part for both. What threads
 * need must not depend on where they are, or one that is far from its memory would seem to need little of it. */
static float pace(const struct session *s, const struct situation_thread *thread, float all, float near)
{
	int memory = machine_nearest_memory(&s->machine, (unsigned)thread->node);
	near *= memory < 0 ? 1 : s->machine.latency_ns[thread->node][memory];
	if (all > thread->load) {
		near *= thread->load / all;
		all = thread->load;
	}
	float left = thread->load - all + near;
	return near < all && left > 0 ? thread->load / left : 1;
}

/* Each thread's chunks stand for all that it uses: or, as long as little is known, threads would seem to need little memory. */
static void let_stand(struct session *s, const struct known *known, float tick_share)
{
	struct situation *v = &s->situation;
	float near[REGISTRY_THREADS];   /* of which no more than there are threads is touched */
	situation_rates(v, near);
	for (unsigned c = 0; c < v->n_chunks; c++) {
		struct situation_chunk *chunk = &v->chunk[c];
		float before = situation_traffic(v, chunk), faster[EVIDENCE_USERS];
		for (unsigned u = 0; u < chunk->n_uses; u++) {
			struct situation_use *use = &v->use[chunk->first_use + u];
			uint32_t t = v->thread[use->thread].number;
			float stands = known->counted[t] > 0 ? known->all[t] / known->counted[t] : 1;
			if (stands > STANDS_MOST) stands = STANDS_MOST;
			use->rate *= stands;
			faster[u] = pace(s, &v->thread[use->thread], stands * known->counted[t] * tick_share, stands * near[use->thread]);
		}
		float stands = before > 0 ? situation_traffic(v, chunk) / before : 1;
		chunk->stands = stands > 1 ? stands : 1;
		for (unsigned u = 0; u < chunk->n_uses; u++) v->use[chunk->first_use + u].rate *= faster[u];
	}
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
	struct known known;
	for (uint32_t i = 0; i < s->registry->seen_n; i++) known.all[i] = known.counted[i] = 0;
	situation_clear(&s->situation);
	int ret = view_threads(s, index);
	double window = evidence_window_ns(s->evidence);
	float tick_share = window > 0 ? (float)(EVIDENCE_TICK_NS / window) : 0;
	for (unsigned i = 0; !ret && i < s->n_leaves; i++) ret = view_chunk(s, &s->leaf[i], index, tick_share, &known);
	if (!ret) let_stand(s, &known, tick_share);
	if (!ret) ret = pool_users(&s->situation);
	if (!ret) ret = session_view_kernel(s);
	if (!ret) session_scale_view(s);
	if (!ret) take_out_stretch(s);
	return ret;
}
