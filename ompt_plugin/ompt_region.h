/* What the plugin knows of a parallel region: one word, made where the region begins and carried to the
 * threads that work in it. Pure numbers but for the store below.
 *
 * Kinds of region, and why they differ:
 *  - PARALLEL: the program's. Level 1 is timed; inner ones are not (their time is part of level 1's).
 *  - LEAGUE: `teams`. Its members work, but the league lasts as long as all that is in it, so it is
 *    no region to time, and no level.
 *  - WRAPPER: the region that the runtime puts around each member of a league. Not a level either, or
 *    the program's own regions inside would never be level 1.
 *  - HELPER: the runtime's hidden helper threads (`target nowait`, detached tasks). They wait for work
 *    that is not the program's computation, and must not be placed as if they were workers. */
#ifndef NSCHED_OMPT_REGION_H
#define NSCHED_OMPT_REGION_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t region_t; /* 0: outside every region, or one whose begin was not seen */

enum region_kind { REGION_NONE, REGION_PARALLEL, REGION_LEAGUE, REGION_WRAPPER, REGION_HELPER };

enum { REGION_LEVEL_MOST = 7 }; /* deeper levels count as this one: only level 1 matters */

/* The word: kind in bits 60-63, "inside a league" in bit 59, level in bits 56-58, code address below.
 * 56 bits hold every user address of x86-64 (47, or 56 with five-level page tables) and AArch64 (52).
 * Reading it is inline: every event of every region does. */
enum { REGION_KIND_SHIFT = 60, REGION_LEAGUE_SHIFT = 59, REGION_LEVEL_SHIFT = 56 };

static inline enum region_kind region_kind(region_t region)
{
	return (enum region_kind)(region >> REGION_KIND_SHIFT);
}

/* Of PARALLEL and HELPER: 1 is the outermost. */
static inline unsigned region_level(region_t region)
{
	return (unsigned)(region >> REGION_LEVEL_SHIFT) & REGION_LEVEL_MOST;
}

/* The code address it began at, NULL: unknown. */
static inline const void *region_key(region_t region)
{
	return (const void *)(uintptr_t)(region & ((UINT64_C(1) << REGION_LEVEL_SHIFT) - 1));
}

/* Threads in it are the scheduler's, and are placed. */
static inline bool region_is_served(region_t region)
{
	enum region_kind kind = region_kind(region);

	return kind != REGION_NONE && kind != REGION_HELPER;
}

static inline bool region_is_timed(region_t region)
{
	return region_kind(region) == REGION_PARALLEL && region_level(region) == 1;
}

/* The region that begins at `code` inside `outer`; `league`: it is a teams construct's; `in_runtime`:
 * `code` lies in the OpenMP runtime itself. */
region_t region_enter(region_t outer, bool league, bool in_runtime, const void *code);

/* What is left when `region` ends. Its key is not known any more. */
region_t region_outer(region_t region);

/* ---- the store ------------------------------------------------------------------------------------
 * Carries the words of regions from where they begin to other threads, by an address that both know.
 * Used only while a chained tool owns the runtime's own data words. Thread-safe, no system call; full:
 * the region is not found, and its workers go unserved. */
void region_store_put(const void *address, region_t region);
region_t region_store_get(const void *address);
region_t region_store_take(const void *address); /* gets and removes */
void region_store_clear(void);

#endif
