#include "ompt_region.h"

#include <stdatomic.h>
#include <stddef.h>

#define KEY_MASK ((UINT64_C(1) << REGION_LEVEL_SHIFT) - 1)
#define IN_LEAGUE (UINT64_C(1) << REGION_LEAGUE_SHIFT)

static region_t make(enum region_kind kind, bool in_league, unsigned level, const void *code)
{
	return (region_t)kind << REGION_KIND_SHIFT | (in_league ? IN_LEAGUE : 0) |
	       (region_t)level << REGION_LEVEL_SHIFT | ((uintptr_t)code & KEY_MASK);
}

/* A helper region is told by three things together, the only ones that hold in LLVM 14 to 19: it is
 * outermost, in no league, and its code address is the runtime's. Not by the thread: helpers are
 * announced as ordinary workers, may have been workers before, and their root is announced in 19 only.
 * Not by the address alone: `teams` gives such addresses too (llvm#92423), inside a league. */
region_t region_enter(region_t outer, bool league, bool in_runtime, const void *code)
{
	enum region_kind kind = region_kind(outer);
	bool in_league = (outer & IN_LEAGUE) != 0;
	unsigned level = region_level(outer), inner = level < REGION_LEVEL_MOST ? level + 1 : level;

	if (kind == REGION_HELPER || (kind == REGION_NONE && in_runtime && !league))
		return make(REGION_HELPER, false, inner, NULL);
	if (league)
		return make(REGION_LEAGUE, true, level, code);
	if (kind == REGION_LEAGUE && (in_runtime || code == NULL))
		return make(REGION_WRAPPER, true, level, NULL);
	return make(REGION_PARALLEL, in_league, inner, code);
}

region_t region_outer(region_t region)
{
	enum region_kind kind = region_kind(region);
	bool in_league = (region & IN_LEAGUE) != 0;
	unsigned level = region_level(region);

	if (kind == REGION_WRAPPER)
		return make(REGION_LEAGUE, true, level, NULL);
	if (kind != REGION_PARALLEL && kind != REGION_HELPER)
		return 0;
	if (level > 1)
		return make(kind, in_league, level - 1, NULL);
	/* Level 1 in a league: in its wrapper, or, where the runtime made none, in the league. What
	 * begins next is the same from either, if its code address is known. */
	return in_league ? make(REGION_WRAPPER, true, 0, NULL) : 0;
}

/* ---- the store ---------------------------------------------------------------------------------- */

/* One region is stored per team that works at this moment: nested teams of a large machine fit. */
enum { SLOTS = 1024 };
/* How far an address may lie from where its hash says; each slot stands for itself, so there is
 * nothing to move when one is emptied. */
enum { WINDOW = 16 };

static struct slot {
	_Atomic(const void *) address; /* NULL: free */
	_Atomic region_t region;
} slots[SLOTS];

static struct slot *window_slot(const void *address, size_t i)
{
	uint64_t hash = (uintptr_t)address * UINT64_C(0x9e3779b97f4a7c15); /* golden ratio: spreads aligned addresses */

	return &slots[((hash >> 32) + i) % SLOTS];
}

static struct slot *find(const void *address)
{
	for (size_t i = 0; i < WINDOW; i++) {
		struct slot *slot = window_slot(address, i);

		if (atomic_load_explicit(&slot->address, memory_order_acquire) == address)
			return slot;
	}
	return NULL;
}

/* One thread at a time begins a region from one address, so that find and claim need not be one step. */
void region_store_put(const void *address, region_t region)
{
	struct slot *slot = address == NULL ? NULL : find(address);

	for (size_t i = 0; address != NULL && slot == NULL && i < WINDOW; i++) {
		const void *none = NULL;
		struct slot *candidate = window_slot(address, i);

		if (atomic_compare_exchange_strong(&candidate->address, &none, address))
			slot = candidate;
	}
	if (slot != NULL)
		atomic_store_explicit(&slot->region, region, memory_order_release);
}

region_t region_store_get(const void *address)
{
	struct slot *slot = address == NULL ? NULL : find(address);

	return slot == NULL ? 0 : atomic_load_explicit(&slot->region, memory_order_acquire);
}

region_t region_store_take(const void *address)
{
	struct slot *slot = address == NULL ? NULL : find(address);

	if (slot == NULL)
		return 0;

	region_t region = atomic_exchange(&slot->region, 0);

	atomic_store_explicit(&slot->address, NULL, memory_order_release);
	return region;
}

void region_store_clear(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		atomic_store(&slots[i].address, NULL);
		atomic_store(&slots[i].region, 0);
	}
}
