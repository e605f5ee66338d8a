/* What a decoder remembers: ranges of code and, for each sampled instruction in them, a recipe. Its memory
 * is bounded; what was not used for longest goes first. A range goes with all its recipes, so that both
 * hold for the same bytes of code. */
#ifndef NSCHED_OPERAND_CACHE_H
#define NSCHED_OPERAND_CACHE_H

#include "operand_range.h"
#include "operand_recipe.h"

enum {
	CACHE_BYTES = 384 * 1024, /* in all; a function of a hundred instructions, ten of them sampled, takes 10 KiB */
	CACHE_RANGES = 128,
	FRESH_TICKS = 16,         /* polls for which code holds unchecked: a second or two */
};

struct cache;

/* The recipe for a sample at ip. */
struct entry {
	uint64_t ip;
	struct range *range;
	struct entry *next;    /* in the same bucket */
	struct entry *sibling; /* of the same range */
	struct recipe recipe;  /* with as many forms as it needs */
};

struct cache *cache_create(void);
void cache_destroy(struct cache *cache);

/* The entry for ip, or NULL. Like every entry and range, it holds until something is added or dropped. */
struct entry *cache_find(struct cache *cache, uint64_t ip);

/* A range in which ip has a place, and the place; or NULL. */
struct range *cache_range(struct cache *cache, uint64_t ip, unsigned *place);

/* Takes a range over. Forgets others if need be. */
void cache_add_range(struct cache *cache, struct range *range);

/* Adds a recipe for ip, made from a range of the cache. Forgets other ranges if need be.
 * NULL: no memory. */
struct entry *cache_add(struct cache *cache, struct range *range, uint64_t ip, const struct recipe *recipe);

/* Forgets a range and its recipes. */
void cache_drop(struct cache *cache, struct range *range);

/* Time goes on: by a tick. */
void cache_tick(struct cache *cache);

/* True if the range's code was checked FRESH_TICKS ago or less; from now on, it was. */
bool cache_fresh(const struct cache *cache, const struct range *range);
void cache_checked(const struct cache *cache, struct range *range);

/* Memory in use, in bytes. */
size_t cache_bytes(const struct cache *cache);

#endif
