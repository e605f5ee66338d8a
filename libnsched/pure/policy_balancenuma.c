/* balancenuma: Mel Gorman's automatic NUMA balancing, version 10 (linux-kernel, December 2012; merged as the base of all that
 * came after in Linux 3.8).
 *
 * What decides: who touches a page. One that was touched from the same node twice in a row, and lies elsewhere, is moved to
 * that node. Threads are placed by CPU load alone, as if memory did not matter: a thread that the balancer puts on another
 * node pulls its memory after it.
 *
 * Not to be had in user space: single touches (pure/touch.h says what stands for them). Threads are left to the system's own
 * balancer, unbound; only where a node has threads that wait for a CPU while another node has one free does
 * one of them move, as that balancer would do it.
 *
 * Two things of the kernel's that keep it from moving: a process is not watched before its threads ran on a second node
 * (task_numa_work's first_nid), and where touches come from everywhere, two in a row from one node are rare, and each that is not
 * followed by a move makes the kernel look less often. So memory moves only to a node that more than half of its touches come from. */
#include <errno.h>
#include <stdlib.h>

#include "pure/balance.h"
#include "pure/touch.h"
#include "pure/pure.h"

#define SURE 0.5f   /* of the touches: then two in a row come from that node more often than not */

/* Do two threads of its process run on different nodes? */
static bool is_watched(const struct situation *s, unsigned t)
{
	for (unsigned u = 0; u < s->n_threads; u++)
		if (s->thread[u].process == s->thread[t].process && s->thread[u].node >= 0 && s->thread[u].node != s->thread[t].node) return true;
	return false;
}

/* Chunks of processes that are not watched. */
static bool *find_left(const struct situation *s)
{
	bool *watched = calloc(s->n_threads + 1, sizeof *watched), *left = calloc(s->n_chunks + 1, sizeof *left);
	for (unsigned t = 0; watched && t < s->n_threads; t++) watched[t] = is_watched(s, t);
	for (unsigned c = 0; watched && left && c < s->n_chunks; c++) {
		left[c] = true;
		for (unsigned u = s->chunk[c].first_use; u < s->chunk[c].first_use + s->chunk[c].n_uses; u++) left[c] &= !watched[s->use[u].thread];
	}
	if (!watched) {
		free(left);
		left = NULL;
	}
	free(watched);
	return left;
}

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	bool *left = find_left(s);
	int ret = left ? draft_begin(&d, s, rules) : -ENOMEM;
	if (ret) {
		free(left);
		return ret;
	}
	balance_relieve(&d, false, NULL, "to a free CPU");
	touch_follow(&d, SURE, left, "touched twice by that node");
	free(left);
	return draft_end(&d, &policy_balancenuma, plan);
}

/* Threads that wait for a CPU; then remote accesses. */
static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	struct load load;
	load_of(&load, placement->situation, placement->thread_node);
	*cost = (struct policy_cost){ load_queued(&load), touch_remote(placement) };
	return 0;
}

const struct policy_ops policy_balancenuma = { .name = "balancenuma", .decide = decide, .cost = cost, .touches = true };
