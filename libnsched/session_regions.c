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
