/* homenode: Erich Focht's node affine scheduler (patches 01, 02 and 03, linux-kernel, September and October 2002).
 *
 * What decides: as in pool, and each task has a home node, the one that it was placed on at first, where the kernel allocates
 * its memory. A node that steals prefers tasks whose home it is, then tasks that are guests where they run; a task
 * that is away is drawn back as soon as that does not make the load more uneven.
 *
 * Not to be had in user space: allocating a thread's memory on its home wherever it runs (set_mempolicy is a thread's own,
 * and the program's). Done instead: memory that it alone uses, and that was never moved, is moved home. */
#include <stdlib.h>

#include "pure/homes.h"
#include "pure/pure.h"

/* One that nobody has placed yet has none; it will have it where it is placed now. */
static int16_t *find_homes(const struct situation *s)
{
	int16_t *home = malloc((s->n_threads + 1) * sizeof *home);
	for (unsigned t = 0; home && t < s->n_threads; t++) home[t] = s->thread[t].home;
	return home;
}

static void memory_home(struct draft *d, const int16_t *home)
{
	for (unsigned c = 0; c < d->s->n_chunks; c++) {
		const struct situation_chunk *chunk = &d->s->chunk[c];
		if (!draft_may_chunk(d, c) || chunk->n_uses != 1 || chunk->moved_ms_ago != UINT32_MAX) continue;
		int owner = home[d->s->use[chunk->first_use].thread];
		int to = owner < 0 ? -1 : machine_nearest_memory(d->s->machine, (unsigned)owner);
		if (to >= 0 && estimate_share(&d->before, c, (unsigned)to) < 1) draft_chunk(d, c, (unsigned)to, "home with its only user");
	}
}

static const struct homes_rule rule = { find_homes, memory_home };

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	return homes_decide(&rule, &policy_homenode, s, rules, plan);
}

static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	return homes_cost(&rule, placement, cost);
}

const struct policy_ops policy_homenode = { .name = "homenode", .decide = decide, .cost = cost };
