#include "region.h"

#include <string.h>

#include "sys/clock.h"

void region_table_clear(struct region_table *table)
{
	memset(table, 0, sizeof *table);
}

static struct region *find(struct region_table *table, uintptr_t key)
{
	unsigned first = (unsigned)(key >> 2) % REGION_KEYS;
	for (unsigned i = 0; i < REGION_KEYS; i++) {
		struct region *r = &table->region[(first + i) % REGION_KEYS];
		if (r->key == key) return r;
		if (!r->key) {
			r->key = key;
			return r;
		}
	}
	return &table->region[REGION_KEYS - 1];
}

void region_begin(struct region_table *table, const void *key)
{
	struct region *r = find(table, (uintptr_t)key | 1);
	uint64_t n = r->count++;
	table->inside = NULL;
	if (n >= REGION_TIMED_EVERY && n % REGION_TIMED_EVERY) return;
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
	if ((int64_t)ticks > 0) r->timed_ticks += ticks;
	r->timed++;
}
