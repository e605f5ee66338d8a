#include <stdlib.h>

#include "session.h"
#include "sys/clock.h"

/* What a use stands for that a thread told of: a task works on its block for longer than on one sample, but how long is
 * not known. A quarter of a sample at 250 Hz. */
#define TOUCH_NS 1000000.0f

static void take(struct session *s, struct nsched_thread *t)
{
	uint64_t addr[REGISTRY_TOUCHES];
	uint32_t n = atomic_load_explicit(&t->touches, memory_order_acquire), from = t->touches_taken, k = 0;
	if (n - from > REGISTRY_TOUCHES) from = n - REGISTRY_TOUCHES;
	for (; from != n; from++) addr[k++] = atomic_load_explicit(&t->touch[from % REGISTRY_TOUCHES], memory_order_relaxed);
	t->touches_taken = n;
	if (s->witness) s->witness->touches(s->witness_state, t, addr, &k);
	for (uint32_t i = 0; i < k; i++) evidence_add(s->evidence, t->number, addr[i], TOUCH_NS);
	s->totals.touches += k;
}

void session_take_touches(struct session *s)
{
	for (uint32_t i = 0; i < s->registry->seen_n; i++) {
		struct nsched_thread *t = registry_at(s->registry, i);
		if (t->seen.state == THREAD_LIVE) take(s, t);
	}
}

/* ---- what moves are judged by --------------------------------------------------------------------------------- */

static struct trial_seen *seen_of(struct trial_seen *seen, unsigned *n, uint64_t key)
{
	for (unsigned i = 0; i < *n; i++)
		if (seen[i].key == key) return &seen[i];
	if (*n == TRIAL_REGIONS) return NULL;
	seen[*n] = (struct trial_seen){ .key = key };
	return &seen[(*n)++];
}

/* Its time is the slowest thread's; a table that was cleared begins anew. */
static void see(struct nsched_thread *t, unsigned k, struct trial_seen *seen, unsigned *n)
{
	const struct region *r = &t->regions.region[k];
	uint64_t count = atomic_load_explicit(&r->count, memory_order_relaxed), timed = atomic_load_explicit(&r->timed, memory_order_relaxed),
	         ticks = atomic_load_explicit(&r->timed_ticks, memory_order_relaxed);
	uint64_t visits = count - t->region_seen[k].count, of = timed - t->region_seen[k].timed, passed = ticks - t->region_seen[k].ticks;
	bool goes_on = count >= t->region_seen[k].count && timed > t->region_seen[k].timed && ticks > t->region_seen[k].ticks;
	t->region_seen[k].count = count;
	t->region_seen[k].timed = timed;
	t->region_seen[k].ticks = ticks;
	if (!goes_on) return;
	struct trial_seen *each = seen_of(seen, n, atomic_load_explicit(&r->key, memory_order_relaxed));
	if (!each) return;
	if (passed / of > each->took) each->took = passed / of;
	if (visits > each->visits) each->visits = visits > UINT32_MAX ? UINT32_MAX : (uint32_t)visits;
}

void session_see_regions(struct session *s)
{
	struct trial_seen seen[TRIAL_REGIONS];
	unsigned n = 0;
	for (uint32_t i = 0; i < s->registry->seen_n; i++) {
		struct nsched_thread *t = registry_at(s->registry, i);
		uint32_t used = t->seen.state == THREAD_LIVE ? atomic_load_explicit(&t->regions.used, memory_order_acquire) : 0;
		for (unsigned k = 0; used; k++, used >>= 1)
			if (used & 1) see(t, k, seen, &n);
	}
	if (s->witness) s->witness->regions(s->witness_state, seen, &n);
	for (unsigned i = 0; i < n; i++) trial_see(&s->trial, &seen[i]);
}

/* ---- regions --------------------------------------------------------------------------------------------- */

struct sum {
	struct session_region region;
	uint64_t loops, returned;
};

static struct sum *find(struct sum *sum, unsigned *n, uintptr_t key)
{
	for (unsigned i = 0; i < *n; i++)
		if (sum[i].region.key == key) return &sum[i];
	if (*n == SESSION_REGIONS) return NULL;
	sum[*n] = (struct sum){ .region.key = key };
	return &sum[(*n)++];
}

static void add(struct sum *sum, unsigned *n, const struct region *r)
{
	uint64_t timed = atomic_load_explicit(&r->timed, memory_order_relaxed), visits = atomic_load_explicit(&r->count, memory_order_relaxed);
	uintptr_t key = atomic_load_explicit(&r->key, memory_order_relaxed);
	struct sum *s = key && timed ? find(sum, n, key) : NULL;
	if (!s) return;
	float ns = (float)atomic_load_explicit(&r->timed_ticks, memory_order_relaxed) / (float)timed;
	s->region.threads++;
	s->region.work_ns += ns;
	if (ns > s->region.slowest_ns) s->region.slowest_ns = ns;
	if (visits > s->region.visits) s->region.visits = visits;
	s->loops += atomic_load_explicit(&r->loops, memory_order_relaxed);
	s->returned += atomic_load_explicit(&r->returned, memory_order_relaxed);
}

static int longer(const void *a, const void *b)
{
	const struct session_region *x = a, *y = b;
	float dx = x->slowest_ns * (float)x->visits, dy = y->slowest_ns * (float)y->visits;
	return dx < dy ? 1 : dx > dy ? -1 : 0;
}

unsigned session_regions(const struct session *s, struct session_region region[SESSION_REGIONS])
{
	struct sum sum[SESSION_REGIONS];
	unsigned n = 0;
	for (uint32_t i = 0; i < atomic_load(&s->registry->n); i++) {
		const struct nsched_thread *t = registry_at(s->registry, i);
		for (unsigned k = 0; k < REGION_KEYS; k++) add(sum, &n, &t->regions.region[k]);
	}
	for (unsigned i = 0; i < n; i++) {
		struct session_region *r = &region[i];
		*r = sum[i].region;
		r->work_ns /= (float)r->threads;
		r->waits_permille = r->slowest_ns > 0 ? (unsigned)(1000 * (1 - r->work_ns / r->slowest_ns) + 0.5f) : 0;
		r->returned_permille = sum[i].loops ? (unsigned)(1000 * sum[i].returned / sum[i].loops) : 1001;
	}
	qsort(region, n, sizeof *region, longer);
	for (unsigned i = 0; i < n; i++) {   /* ticks until here */
		region[i].work_ns = (float)clock_ticks_to_ns((uint64_t)region[i].work_ns);
		region[i].slowest_ns = (float)clock_ticks_to_ns((uint64_t)region[i].slowest_ns);
	}
	return n;
}
