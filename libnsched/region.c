#include "region.h"

#include <stddef.h>

#include "sys/clock.h"

/* No other thread writes, so that a load and a store will do. */
static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void add(_Atomic uint64_t *word, uint64_t more)
{
	atomic_store_explicit(word, get(word) + more, memory_order_relaxed);
}

void region_table_clear(struct region_table *table)
{
	for (unsigned i = 0; i < REGION_KEYS; i++) {
		struct region *r = &table->region[i];
		atomic_store_explicit(&r->key, 0, memory_order_relaxed);
		atomic_store_explicit(&r->count, 0, memory_order_relaxed);
		atomic_store_explicit(&r->timed, 0, memory_order_relaxed);
		atomic_store_explicit(&r->timed_ticks, 0, memory_order_relaxed);
		atomic_store_explicit(&r->loops, 0, memory_order_relaxed);
		atomic_store_explicit(&r->returned, 0, memory_order_relaxed);
		r->last_ticks = r->chunk_visit = r->chunk = 0;
	}
	atomic_store_explicit(&table->used, 0, memory_order_relaxed);
	table->current = table->inside = NULL;
	table->begin = 0;
}

static struct region *find(struct region_table *table, uintptr_t key)
{
	unsigned first = (unsigned)(key >> 2) % REGION_KEYS;
	for (unsigned i = 0; i < REGION_KEYS; i++) {
		struct region *r = &table->region[(first + i) % REGION_KEYS];
		uintptr_t has = atomic_load_explicit(&r->key, memory_order_relaxed);
		if (has == key) return r;
		if (!has) {
			unsigned at = (first + i) % REGION_KEYS;
			atomic_store_explicit(&r->key, key, memory_order_relaxed);
			atomic_store_explicit(&table->used, atomic_load_explicit(&table->used, memory_order_relaxed) | 1u << at, memory_order_release);
			return r;
		}
	}
	return &table->region[REGION_KEYS - 1];
}

void region_begin(struct region_table *table, const void *key)
{
	struct region *r = find(table, (uintptr_t)key | 1);
	uint64_t n = get(&r->count);
	add(&r->count, 1);
	table->current = r;
	table->inside = NULL;
	if (n >= REGION_TIMED_EVERY && n % REGION_TIMED_EVERY && r->last_ticks < REGION_LONG_TICKS) return;
	table->inside = r;
	table->begin = clock_ticks();
}

void region_end(struct region_table *table)
{
	struct region *r = table->inside;
	if (!r) return;
	table->inside = NULL;
	uint64_t ticks = clock_ticks() - table->begin;
	/* the counters of two CPUs may differ, and the thread may have changed */
	if ((int64_t)ticks < 0) ticks = 0;
	r->last_ticks = ticks;
	add(&r->timed_ticks, ticks);
	add(&r->timed, 1);
}

/* Loops of a visit after its first one would tell more; but which of them a chunk is of is not known. */
void region_chunk(struct region_table *table, uint64_t start)
{
	struct region *r = table->current;
	uint64_t visit = r ? get(&r->count) : 0;
	if (!r || r->chunk_visit == visit) return;
	if (r->chunk_visit) {
		add(&r->loops, 1);
		if (r->chunk == start) add(&r->returned, 1);
	}
	r->chunk_visit = visit;
	r->chunk = start;
}
