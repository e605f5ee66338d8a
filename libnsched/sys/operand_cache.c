#include "operand_cache.h"

#include <stdlib.h>
#include <string.h>

enum {
	BUCKETS = 1024,               /* a power of two; hot loops of a program hold a few hundred sampled instructions */
	RANGE_BYTES = CACHE_BYTES / 4, /* a range that grows beyond this starts its recipes anew */
};

struct cache {
	struct entry *bucket[BUCKETS];
	struct range *range[CACHE_RANGES];
	unsigned ranges;
	size_t bytes;
	uint32_t tick;
	uint32_t uses;
};

struct cache *cache_create(void)
{
	return calloc(1, sizeof(struct cache));
}

void cache_destroy(struct cache *cache)
{
	while (cache && cache->ranges)
		cache_drop(cache, cache->range[0]);
	free(cache);
}

static struct entry **bucket_of(struct cache *cache, uint64_t ip)
{
	return &cache->bucket[(ip * UINT64_C(0x9e3779b97f4a7c15)) >> 48 & (BUCKETS - 1)];
}

struct entry *cache_find(struct cache *cache, uint64_t ip)
{
	struct entry *entry = *bucket_of(cache, ip);

	while (entry && entry->ip != ip)
		entry = entry->next;
	if (entry)
		entry->range->cached.used = ++cache->uses;
	return entry;
}

struct range *cache_range(struct cache *cache, uint64_t ip, unsigned *place)
{
	for (unsigned i = 0; i < cache->ranges; i++) {
		int at = range_place(cache->range[i], ip);

		if (at < 0)
			continue;
		*place = (unsigned)at;
		cache->range[i]->cached.used = ++cache->uses;
		return cache->range[i];
	}
	return NULL;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static size_t entry_bytes(const struct recipe *recipe)
{
	return offsetof(struct entry, recipe) + recipe_bytes(recipe);
}

/* A range grows as it is asked: brings the cache's sum up to date. */
static void count_memory(struct cache *cache, struct range *range)
{
	cache->bytes += range->memory - range->cached.counted;
	range->cached.counted = range->memory;
}

static void remove_entry(struct cache *cache, struct entry *entry)
{
	struct entry **link = bucket_of(cache, entry->ip);

	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	free(entry);
}

static void drop_entries(struct cache *cache, struct range *range)
{
	while (range->cached.entries) {
		struct entry *entry = range->cached.entries;

		range->cached.entries = entry->sibling;
		range->memory -= entry_bytes(&entry->recipe);
		remove_entry(cache, entry);
	}
}

void cache_drop(struct cache *cache, struct range *range)
{
	unsigned i = 0;

	while (cache->range[i] != range)
		i++;
	cache->range[i] = cache->range[--cache->ranges];
	cache->bytes -= range->cached.counted;
	drop_entries(cache, range);
	range_destroy(range);
}

/* Makes the cache as small as it has to be, by what was not used for longest, but for `kept`. */
static void shrink(struct cache *cache, unsigned most_ranges, const struct range *kept)
{
	while (cache->ranges > most_ranges || cache->bytes > CACHE_BYTES) {
		struct range *oldest = NULL;

		for (unsigned i = 0; i < cache->ranges; i++)
			if (cache->range[i] != kept &&
			    (!oldest || cache->uses - cache->range[i]->cached.used > cache->uses - oldest->cached.used))
				oldest = cache->range[i];
		if (!oldest)
			return;
		cache_drop(cache, oldest);
	}
}

void cache_add_range(struct cache *cache, struct range *range)
{
	shrink(cache, CACHE_RANGES - 1, NULL);
	cache->range[cache->ranges++] = range;
	range->cached.used = ++cache->uses;
	cache_checked(cache, range);
	count_memory(cache, range);
	shrink(cache, CACHE_RANGES, range);
}

struct entry *cache_add(struct cache *cache, struct range *range, uint64_t ip, const struct recipe *recipe)
{
	size_t bytes = entry_bytes(recipe);
	struct entry *entry = malloc(bytes);
	struct entry **bucket = bucket_of(cache, ip);

	if (!entry)
		return NULL;
	if (range->memory + bytes > RANGE_BYTES)
		drop_entries(cache, range);
	*entry = (struct entry){ .ip = ip, .range = range, .next = *bucket, .sibling = range->cached.entries };
	memcpy(&entry->recipe, recipe, bytes - offsetof(struct entry, recipe));
	*bucket = entry;
	range->cached.entries = entry;
	range->memory += bytes;
	count_memory(cache, range);
	shrink(cache, CACHE_RANGES, range);
	return entry;
}

size_t cache_bytes(const struct cache *cache)
{
	return cache->bytes;
}

/* ---- time ---------------------------------------------------------------------------------------------- */

void cache_tick(struct cache *cache)
{
	cache->tick++;
}

bool cache_fresh(const struct cache *cache, const struct range *range)
{
	return cache->tick - range->cached.checked < FRESH_TICKS;
}

void cache_checked(const struct cache *cache, struct range *range)
{
	range->cached.checked = cache->tick;
}
