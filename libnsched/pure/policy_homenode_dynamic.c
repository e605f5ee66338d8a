/* homenode-dynamic: Erich Focht's node affine scheduler with a dynamic home node (patches 01, 02, 03 and 05, linux-kernel,
 * October 2002).
 *
 * What decides: as in homenode, but the home is the node that holds most of the task's memory, and follows it: a task that
 * allocated elsewhere, or was stolen and stayed, is at home where its memory is by now.
 *
 * Not to be had in user space: the kernel's count of each task's pages on each node. Done instead: of the memory that the thread
 * was seen to use lately, where that lies; what several threads use is parted by how much each does. A thread of which
 * no memory is known has its first node as its home. Memory is not moved, since the home is where it is. */
#include <stdlib.h>

#include "pure/homes.h"
#include "pure/pure.h"

/* So much more than on the home that it had must be on another node: a home that swings with a few pages is none. */
#define CLEARLY_MORE 1.25f

/* One that was moved asks for more each time: where it holds as much on two nodes, what samples show would have it go to and fro. Focht's count of pages
 * did not differ by chance. */
#define MORE_AGAIN (CLEARLY_MORE - 1)
#define MORE_MOST 3.0f

enum { SETTLED_TIMES = 4 };   /* moved so often, its home is where it is, until one of these times is forgotten */

static int16_t home_of(const struct situation *s, unsigned t, const double *bytes)
{
	const struct situation_thread *th = &s->thread[t];
	if (th->times >= SETTLED_TIMES && th->node >= 0) return th->node;
	double clearly = 1 + (double)situation_again(th, MORE_AGAIN, MORE_MOST);
	int16_t first = th->home;
	double most = first >= 0 ? clearly * bytes[first] : 0;
	int16_t home = first;
	for (unsigned n = 0; n < s->machine->n_nodes; n++) {
		if (!s->machine->node[n].n_cpus || (int)n == first || !(bytes[n] > most)) continue;
		home = (int16_t)n;
		most = bytes[n];
	}
	/* where it was put, unless that has clearly less: what samples show of memory on two nodes alike swings */
	bool stays = th->bound && th->node >= 0 && home >= 0 && bytes[th->node] > 0 && clearly * bytes[th->node] >= bytes[home];
	return stays ? th->node : home;
}

static int16_t *find_homes(const struct situation *s)
{
	int16_t *home = malloc((s->n_threads + 1) * sizeof *home);
	double *bytes = homes_resident(s);
	for (unsigned t = 0; home && bytes && t < s->n_threads; t++) home[t] = home_of(s, t, &bytes[t * s->machine->n_nodes]);
	if (!bytes) {
		free(home);
		home = NULL;
	}
	free(bytes);
	return home;
}

static const struct homes_rule rule = { find_homes, NULL };

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	return homes_decide(&rule, &policy_homenode_dynamic, s, rules, plan);
}

static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	return homes_cost(&rule, placement, cost);
}

const struct policy_ops policy_homenode_dynamic = { .name = "homenode-dynamic", .decide = decide, .cost = cost };
