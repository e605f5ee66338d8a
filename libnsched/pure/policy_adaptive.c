/* adaptive: Peter Zijlstra's and Ingo Molnar's SCHED_NUMA for Linux 3.7, and their unified NUMA balancing tree, version 3
 * (linux-kernel, November and December 2012).
 *
 * What decides: whether what a thread touches is its own or shared. Threads that share memory are drawn together, on the node that
 * has most of it, if they fit there; a group that fits nowhere fills as few nodes as it can. Threads with memory of
 * their own spread over the nodes, under partial load too. Pages follow who touches them twice in a row: private ones their
 * thread, shared ones their group: where that is on several nodes, its shared memory is parted among them as its threads are.
 *
 * Not to be had in user space: faults that tell private from shared by the last CPU. Done instead: threads are of one group if a
 * good part of what either uses is shared between them (pure/groups.h). The kernel's tasks find each other by and
 * by, each looking for a CPU beside its partners; here a group is placed as one, by bindings. Nor do the original's tasks rest while faults show
 * another node to be better by anything; here one that was moved several times stays where it is for a while. */
#include <errno.h>
#include <stdlib.h>

#include "pure/balance.h"
#include "pure/groups.h"
#include "pure/touch.h"
#include "pure/pure.h"

/* One that was moved so often stays, unless it has no CPU, until one of these times is forgotten: where memory is shared a little, groups come and go
 * with what is seen. */
enum { SETTLED_TIMES = 4 };

struct packer {
	struct draft d;
	struct groups groups;
	bool *spread;                   /* chunks of groups that are on several nodes: they are parted among these */
	unsigned room[MACHINE_NODES];   /* threads that each node still takes */
};

/* Members of group `g` that may be moved, and where: how much of its memory and how many of its threads each node has. */
static unsigned look_at_group(const struct packer *p, int g, float *score)
{
	unsigned nodes = p->d.s->machine->n_nodes, members = 0;
	float all = 0, memory[MACHINE_NODES] = { 0 }, on[MACHINE_NODES] = { 0 };
	for (unsigned t = 0; t < p->d.s->n_threads; t++) {
		if (p->groups.of[t] != g) continue;
		for (unsigned n = 0; n < nodes; n++) memory[n] += p->d.before.reach[t * nodes + n];
		if (!draft_may_thread(&p->d, t)) continue;
		on[p->d.before.thread_node[t]]++;
		members++;
	}
	for (unsigned n = 0; n < nodes; n++) all += memory[n];
	for (unsigned n = 0; n < nodes; n++) score[n] = (all > 0 ? memory[n] / all : 0) + on[n] / (float)(members ? members : 1);
	return members;
}

/* The best node for `members` threads among those not `used`: one that has room for all, else the one with the most room. */
static int best_node(const struct packer *p, unsigned members, const float *score, const bool *used)
{
	int best = -1;
	for (unsigned n = 0; n < p->d.s->machine->n_nodes; n++) {
		if (used[n] || !p->room[n]) continue;
		bool fits = p->room[n] >= members, best_fits = best >= 0 && p->room[best] >= members;
		if (best < 0 || fits > best_fits) best = (int)n;
		else if (fits == best_fits && !fits && p->room[n] != p->room[best]) best = p->room[n] > p->room[best] ? (int)n : best;
		else if (fits == best_fits && score[n] > score[best]) best = (int)n;
	}
	return best;
}

/* Where there are more threads than CPUs, those that are there already may find no other place. */
static bool is_full(const struct packer *p, unsigned node)
{
	const struct load *l = &p->d.load;
	return l->threads > l->machine->n_cpus && l->running[node] >= load_part(l, node);
}

/* Fills the node with members that have no place yet; those first that run there. */
static unsigned fill_node(struct packer *p, int g, unsigned node, bool *placed)
{
	unsigned filled = 0;
	for (int pass = 0; pass < 2; pass++)
		for (unsigned t = 0; t < p->d.s->n_threads && p->room[node]; t++) {
			if (p->groups.of[t] != g || placed[t] || !draft_may_thread(&p->d, t)) continue;
			bool here = p->d.before.thread_node[t] == (int)node;
			if (!here && (pass == 0 || is_full(p, node) || p->d.s->thread[t].times >= SETTLED_TIMES)) continue;
			draft_thread(&p->d, t, node, here ? "hold with its group" : "to its group");
			placed[t] = true;
			p->room[node]--;
			filled++;
		}
	return filled;
}

static void place_group(struct packer *p, int g, bool *placed)
{
	float score[MACHINE_NODES];
	bool used[MACHINE_NODES] = { false };
	unsigned left = look_at_group(p, g, score);
	while (left) {
		int node = best_node(p, left, score, used);
		if (node < 0) return;
		used[node] = true;
		left -= fill_node(p, g, (unsigned)node, placed);
	}
}

/* Room is a node's CPUs, less those of threads that nobody may move: where there are more threads than CPUs, those that find
 * none stay where they are, unless a CPU is free elsewhere in the end. */
static void measure_room(struct packer *p)
{
	for (unsigned n = 0; n < p->d.s->machine->n_nodes; n++) p->room[n] = p->d.s->machine->node[n].n_cpus;
	for (unsigned t = 0; t < p->d.s->n_threads; t++) {
		int node = p->d.s->thread[t].node;
		if (node >= 0 && !draft_may_thread(&p->d, t) && p->room[node]) p->room[node]--;
	}
}

/* The largest group first: it is the hardest to place. */
static int next_group(const struct groups *g, const bool *done)
{
	int next = -1;
	for (unsigned i = 0; i < g->n; i++)
		if (!done[i] && (next < 0 || g->size[i] > g->size[next])) next = (int)i;
	return next;
}

/* Threads of their own: by how much less of their memory is where they are than where they would go. Members of groups are not
 * torn away. */
static float worth_spreading(const void *arg, const struct draft *d, unsigned t, unsigned to)
{
	const struct groups *g = arg;
	float gain = touch_share(&d->before, t, to) - touch_share(&d->before, t, (unsigned)d->after.thread_node[t]);
	return g->of[t] == GROUPS_NONE ? gain : gain - 4;
}

static void place_groups(struct packer *p, bool *placed, bool *done)
{
	measure_room(p);
	for (int g; (g = next_group(&p->groups, done)) >= 0; done[g] = true) place_group(p, g, placed);
}

/* Between two nodes a lone thread goes while that evens the load out. */
static void spread_lone(struct packer *p)
{
	struct balance_taste taste = { worth_spreading, &p->groups };
	const struct machine *m = p->d.s->machine;
	for (unsigned moves = 0; moves < p->d.s->n_threads; moves++) {
		float most = 0;
		int who = -1, where = -1;
		for (unsigned from = 0; from < m->n_nodes; from++)
			for (unsigned to = 0; to < m->n_nodes; to++) {
				float gain = load_gain(&p->d.load, from, to);
				int t = gain > most ? balance_choose(&p->d, from, to, &taste) : -1;
				if (t < 0 || p->groups.of[t] != GROUPS_NONE || p->d.s->thread[t].times >= SETTLED_TIMES) continue;
				most = gain;
				who = t;
				where = (int)to;
			}
		if (who < 0) return;
		draft_thread(&p->d, (unsigned)who, (unsigned)where, "apart: its memory is its own");
	}
}

/* ---- shared memory of a group on several nodes ---------------------------------------------------------------- */

/* The group of most of what a chunk is used for; GROUPS_NONE: one thread uses it, or no group. */
static int group_of_chunk(const struct packer *p, const struct situation_chunk *c)
{
	const struct situation_use *use = situation_uses(p->d.s, c);
	unsigned main = 0;
	for (unsigned u = 0; u < c->n_uses; u++)
		if (use[u].rate > use[main].rate) main = u;
	return c->n_uses > 1 ? p->groups.of[use[main].thread] : GROUPS_NONE;
}

/* Pages of the group's shared memory that each node is to have: as its threads are. False: they are all on one. */
static bool find_parts(const struct packer *p, int g, double *part)
{
	double pages = 0, threads = 0;
	unsigned nodes = p->d.s->machine->n_nodes, on = 0;
	for (unsigned n = 0; n < nodes; n++) part[n] = 0;
	for (unsigned t = 0; t < p->d.s->n_threads; t++) {
		int node = p->groups.of[t] == g ? p->d.after.thread_node[t] : -1;
		int memory = node < 0 ? -1 : machine_nearest_memory(p->d.s->machine, (unsigned)node);
		if (memory < 0) continue;
		part[memory]++;
		threads++;
	}
	for (unsigned n = 0; n < nodes; n++) on += part[n] > 0;
	if (on < 2) return false;
	for (unsigned c = 0; c < p->d.s->n_chunks; c++)
		if (group_of_chunk(p, &p->d.s->chunk[c]) == g) pages += p->d.s->chunk[c].pages;
	for (unsigned n = 0; n < nodes; n++) part[n] *= pages / threads;
	return true;
}

/* What lies where there is room for it stays; the rest goes where the most is left. */
static void spread_group(struct packer *p, int g)
{
	double part[MACHINE_NODES];
	unsigned nodes = p->d.s->machine->n_nodes;
	if (!find_parts(p, g, part)) return;
	for (int pass = 0; pass < 2; pass++)
		for (unsigned c = 0; c < p->d.s->n_chunks; c++) {
			const struct situation_chunk *chunk = &p->d.s->chunk[c];
			if (p->spread[c] || group_of_chunk(p, chunk) != g) continue;
			unsigned to = 0;
			for (unsigned n = 1; n < nodes; n++)
				if (part[n] > part[to]) to = n;
			int here = chunk->where[0].node;
			bool stays = here >= 0 && (part[here] >= chunk->pages / 2.0 || !draft_may_chunk(&p->d, c));
			if (pass == 0 && !stays) continue;
			p->spread[c] = true;
			if (stays) part[here] -= chunk->pages;
			if (stays || here < 0 || !draft_may_chunk(&p->d, c) || part[to] < chunk->pages / 2.0) continue;
			part[to] -= chunk->pages;
			draft_chunk(&p->d, c, to, "its group is on several nodes");
		}
}

static int spread_shared(struct packer *p)
{
	p->spread = calloc(p->d.s->n_chunks + 1, sizeof *p->spread);
	for (unsigned g = 0; p->spread && g < p->groups.n; g++) spread_group(p, (int)g);
	return p->spread ? 0 : -ENOMEM;
}

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	struct packer p;
	bool *placed = calloc(s->n_threads + 1, sizeof *placed), *done = calloc(s->n_threads + 1, sizeof *done);
	int ret = placed && done ? groups_find(&p.groups, s) : -ENOMEM;
	if (!ret) {
		ret = draft_begin(&p.d, s, rules);
		if (!ret) {
			struct balance_taste taste = { worth_spreading, &p.groups };
			place_groups(&p, placed, done);
			balance_relieve(&p.d, false, &taste, "to a free CPU");
			spread_lone(&p);
			ret = spread_shared(&p);
			touch_follow(&p.d, 0, p.spread, "touched twice by that node");
			draft_hold(&p.d, "hold where its memory is its own");
			free(p.spread);
			if (ret) draft_drop(&p.d);
			else ret = draft_end(&p.d, &policy_adaptive, plan);
		}
		groups_free(&p.groups);
	}
	free(placed);
	free(done);
	return ret;
}

/* How many threads are not with the most of their group. */
static int count_apart(const struct estimate *e, const struct groups *g, unsigned *apart)
{
	unsigned nodes = e->situation->machine->n_nodes, *on = calloc((size_t)(g->n + 1) * nodes, sizeof *on);
	if (!on) return -ENOMEM;
	*apart = 0;
	for (unsigned t = 0; t < e->situation->n_threads; t++)
		if (g->of[t] >= 0 && e->thread_node[t] >= 0) on[(unsigned)g->of[t] * nodes + (unsigned)e->thread_node[t]]++;
	for (unsigned i = 0; i < g->n; i++) {
		unsigned all = 0, most = 0;
		for (unsigned n = 0; n < nodes; n++) {
			all += on[i * nodes + n];
			if (on[i * nodes + n] > most) most = on[i * nodes + n];
		}
		*apart += all - most;
	}
	free(on);
	return 0;
}

/* Threads that wait for a CPU; then threads that are apart from the most of their group. */
static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	struct load load;
	struct groups groups;
	unsigned apart = 0;
	int ret = groups_find(&groups, placement->situation);
	if (ret) return ret;
	ret = count_apart(placement, &groups, &apart);
	load_of(&load, placement->situation, placement->thread_node);
	*cost = (struct policy_cost){ load_queued(&load), apart };
	groups_free(&groups);
	return ret;
}

const struct policy_ops policy_adaptive = { .name = "adaptive", .decide = decide, .cost = cost, .touches = true };
