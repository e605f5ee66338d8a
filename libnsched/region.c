#include "region.h"

#include <stddef.h>

#include "sys/clock.h"

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void put(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

static void point(struct region *_Atomic *word, struct region *to)
{
	atomic_store_explicit(word, to, memory_order_relaxed);
}

/* No other thread counts, so that a load and a store will do. */
static void add(_Atomic uint64_t *word, uint64_t more)
{
	atomic_store_explicit(word, get(word) + more, memory_order_relaxed);
}

void region_table_clear(struct region_table *table)
{
	for (unsigned i = 0; i < REGION_KEYS; i++) {
		struct region *r = &table->region[i];
		atomic_store_explicit(&r->key, 0, memory_order_relaxed);
		put(&r->count, 0);
		put(&r->timed, 0);
		put(&r->timed_ticks, 0);
		put(&r->loops, 0);
		put(&r->returned, 0);
		put(&r->last_ticks, 0);
		put(&r->chunk_visit, 0);
		put(&r->chunk, 0);
	}
	atomic_store_explicit(&table->used, 0, memory_order_relaxed);
	point(&table->current, NULL);
	point(&table->inside, NULL);
	put(&table->begin, 0);
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

static void timed(struct region *r, uint64_t ticks)
{
	put(&r->last_ticks, ticks);
	add(&r->timed_ticks, ticks);
	add(&r->timed, 1);
}

void region_begin(struct region_table *table, const void *key)
{
	struct region *r = find(table, (uintptr_t)key | 1);
	uint64_t n = get(&r->count);
	add(&r->count, 1);
	point(&table->current, r);
	point(&table->inside, NULL);
	if (n >= REGION_TIMED_EVERY && n % REGION_TIMED_EVERY && get(&r->last_ticks) < REGION_LONG_TICKS) return;
	point(&table->inside, r);
	put(&table->begin, clock_ticks());
}

void region_end(struct region_table *table)
{
	struct region *r = atomic_load_explicit(&table->inside, memory_order_relaxed);
	if (!r) return;
	point(&table->inside, NULL);
	uint64_t ticks = clock_ticks() - get(&table->begin);
	/* the counters of two CPUs may differ, and the thread may have changed */
	if ((int64_t)ticks < 0) ticks = 0;
	timed(r, ticks);
}

void region_visit(struct region_table *table, const void *key, uint64_t ticks)
{
	struct region *r = find(table, (uintptr_t)key | 1);
	add(&r->count, 1);
	timed(r, ticks);
}

/* Loops of a visit after its first one would tell more; but which of them a chunk is of is not known. */
void region_chunk(struct region_table *table, uint64_t start)
{
	struct region *r = atomic_load_explicit(&table->current, memory_order_relaxed);
	uint64_t visit = r ? get(&r->count) : 0;
	if (!r || get(&r->chunk_visit) == visit) return;
	if (get(&r->chunk_visit)) {
		add(&r->loops, 1);
		if (get(&r->chunk) == start) add(&r->returned, 1);
	}
	put(&r->chunk_visit, visit);
	put(&r->chunk, start);
}
