/* What holds for every policy in whole runs, on machines and workloads made at random: nobody is bound outside the mask that he was
 * given, and who has a mask of his own keeps it; a load that stays as it is is left alone in the end (where memory is shared,
 * but for a few moves), and no CPU has two threads while
 * another has none. HOLDS_SEEDS=N tries more of them than `make check` does. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join.h"
#include "made.h"
#include "pure/policy.h"
#include "sim_made.h"

enum {
	SEEDS = 12,
	TEXT = 1024,
	RUN_S = 40,
	REST_S = 30,        /* by then all that is to move has moved; where nothing changes, the session looks every few seconds only */
	LATE_MOST = 8,      /* moves after that where threads share memory: what is seen of it differs by chance, and who swings is held only after some moves */
	OWN_LIST = 32,
};

struct world {
	struct dice dice;
	struct sim_machine m;
	struct workload w;
	struct cpu_mask allowed;
	char machine[64], text[TEXT];
	bool clear;        /* most of what a thread uses is its own: not steered by chance among what all share */
};

static unsigned between(struct dice *d, unsigned least, unsigned most)
{
	return least + dice_below(d, most - least + 1);
}

/* Threads that compute on and on, each on memory of its own, on a part of what all share, or on both. */
static void make_workload(struct world *w, unsigned threads)
{
	unsigned processes = 1 + (threads > 3 ? dice_below(&w->dice, 3) : 0), each = threads / processes ? threads / processes : 1;
	bool together = dice_below(&w->dice, 2);
	static const char *const uses[] = { "own", "all slice", "all", "own weight 4 and all", "all slice weight 8 and all before" };
	unsigned use = dice_below(&w->dice, sizeof uses / sizeof *uses);
	w->clear = use < 2;
	snprintf(w->text, TEXT,
	         "workload 1\nabout made\nlimit %us\nprocess p count %u\nmemory all %uMiB\nthread main\n%sstart worker\nwait\n"
	         "thread worker count %u\nmemory own %uMiB each\nrepeat 1000000\nrun 20ms vary 0.05 stall 0.%u rate 0.%uGB/s on %s\n%send\n",
	         RUN_S, processes, between(&w->dice, 1, 16), dice_below(&w->dice, 2) ? "touch all\n" : "", each, between(&w->dice, 1, 4),
	         between(&w->dice, 1, 9), between(&w->dice, 1, 9), uses[use],
	         together ? "barrier spin\n" : "");
	sim_made_workload(&w->w, w->text);
}

/* The process may use all CPUs, or some: at least two. */
static void make_allowed(struct world *w)
{
	unsigned n = w->m.known.n_cpus, left = n, some = dice_below(&w->dice, 2);
	mask_clear(&w->allowed);
	for (unsigned c = 0; c < n; c++) {
		if (some && left > 2 && dice_below(&w->dice, 3) == 0) left--;
		else mask_add(&w->allowed, w->m.known.cpu[c].os);
	}
}

static unsigned count(const struct cpu_mask *mask)
{
	unsigned n = 0;
	for (unsigned c = 0; c < MACHINE_CPUS; c++) n += mask_has(mask, c);
	return n;
}

static void make_world(struct world *w, int seed)
{
	memset(w, 0, sizeof *w);
	w->dice.state = (uint64_t)seed;
	unsigned threads_of_core = 1 + (dice_below(&w->dice, 3) == 0);
	snprintf(w->machine, sizeof w->machine, "node:%u core:%u pu:%u", between(&w->dice, 2, 6), between(&w->dice, 1, 4), threads_of_core);
	sim_made_machine(&w->m, w->machine, "spill=0 lost=0.02");
	make_allowed(w);
	/* main waits, but begins as the others do */
	unsigned cpus = count(&w->allowed);
	make_workload(w, dice_below(&w->dice, 4) ? between(&w->dice, 1, cpus) : between(&w->dice, 1, 2 * cpus));
}

/* One run under a policy, looked at from step to step. */
struct look {
	const struct world *w;
	const struct policy_ops *policy;
	int seed;
	struct join j;
	struct engine *e;
	uint32_t own[OWN_LIST];     /* tasks with a mask of their own, */
	struct cpu_mask mask[OWN_LIST];
	unsigned n_own, seen;
	uint64_t moves_at_rest;
};

/* As one that is inherited from a thread that nsched bound: nobody could tell. */
static bool is_whole_node(const struct look *l, const struct cpu_mask *mask)
{
	for (unsigned n = 0; n < l->e->n_nodes; n++) {
		struct cpu_mask node;
		mask_clear(&node);
		for (unsigned c = 0; c < l->e->n_cpus; c++) {
			unsigned os = l->w->m.known.cpu[c].os;
			if (l->e->cpu[c].node == n && mask_has(&l->w->allowed, os)) mask_add(&node, os);
		}
		if (mask_equal(mask, &node)) return true;
	}
	return false;
}

/* Some threads bind themselves to a part of what they may use, just when they are first seen. */
static void bind_some(struct look *l)
{
	for (; l->seen < l->e->n_tasks; l->seen++) {
		struct task *t = l->e->task[l->seen];
		struct dice dice = { (uint64_t)l->seed * 1000 + l->seen };
		if (t->kind != TASK_PROGRAM || t->index == 0 || l->n_own == OWN_LIST || dice_below(&dice, 6)) continue;
		struct cpu_mask *mask = &l->mask[l->n_own];
		mask_clear(mask);
		for (unsigned c = 0; c < l->e->n_cpus; c++) {
			unsigned os = l->w->m.known.cpu[c].os;
			if (mask_has(&l->w->allowed, os) && (dice_below(&dice, 3) == 0 || !count(mask))) mask_add(mask, os);
		}
		if (mask_equal(mask, &l->w->allowed) || is_whole_node(l, mask)) continue;
		l->own[l->n_own++] = t->id;
		os_allow(l->e, t, mask);
	}
}

static void check_masks(const struct look *l)
{
	for (unsigned i = 0; i < l->e->n_tasks; i++) {
		const struct task *t = l->e->task[i];
		if (t->kind != TASK_PROGRAM || t->state == TASK_DONE || !t->mask) continue;
		ck_assert_msg(mask_within(t->mask, &l->w->allowed) && count(t->mask), "%s, seed %d: task %u is bound outside what it may use\n%s",
		              l->policy->name, l->seed, i, l->w->text);
	}
	for (unsigned i = 0; i < l->n_own; i++)
		ck_assert_msg(mask_equal(l->e->task[l->own[i]]->mask, &l->mask[i]), "%s, seed %d: task %u had a mask of its own\n%s", l->policy->name,
		              l->seed, l->own[i], l->w->text);
}

static void look(void *arg, double ns)
{
	struct look *l = arg;
	bind_some(l);
	check_masks(l);
	if (ns < REST_S * 1e9) l->moves_at_rest = l->j.session.totals.thread_moves;
}

/* By node: has one more threads than CPUs, some of them ours to bind, while another has a CPU for nobody? Threads that wait for others don't
 * count. */
static bool lacks(const struct look *l)
{
	const struct engine *e = l->e;
	int spare[MACHINE_NODES] = { 0 }, ours[MACHINE_NODES] = { 0 };
	bool crowded = false, is_free = false;
	for (unsigned c = 0; c < e->n_cpus; c++) spare[e->cpu[c].node] += mask_has(&l->w->allowed, e->machine->known.cpu[c].os);
	for (unsigned i = 0; i < e->n_tasks; i++) {
		const struct task *t = e->task[i];
		if (t->kind != TASK_PROGRAM || t->state > TASK_RUNNING) continue;
		bool own = false;
		for (unsigned k = 0; k < l->n_own; k++) own |= l->own[k] == i;
		spare[e->cpu[t->cpu].node]--;
		ours[e->cpu[t->cpu].node] += !own;
	}
	for (unsigned n = 0; n < e->n_nodes; n++) {
		crowded |= spare[n] < 0 && ours[n];
		is_free |= spare[n] > 0;
	}
	return crowded && is_free;
}

static void hold(const struct world *w, const struct policy_ops *policy, int seed)
{
	struct look *l = calloc(1, sizeof *l);
	struct nsched_config config;
	nsched_error_t error;
	config_defaults(&config);
	ck_assert_int_ge(nsched_config_set(&config, "policy", policy->name, &error), 0);
	*l = (struct look){ .w = w, .policy = policy, .seed = seed, .e = engine_new(&w->m, &w->w, (uint64_t)seed) };
	ck_assert_ptr_nonnull(l->e);
	l->e->cpus = &w->allowed;
	ck_assert_int_eq(join_begin(&l->j, l->e, &config, (uint64_t)seed), 0);
	join_run(&l->j, look, l);
	ck_assert(!l->j.failed && !l->e->stuck);
	bool waits = strcmp(policy->name, "stay") && lacks(l);
	unsigned long long late = l->j.session.totals.thread_moves - l->moves_at_rest;
	ck_assert_msg(late <= (w->clear ? 0 : LATE_MOST), "%s, seed %d, %s: %llu threads moved after %d s of a steady load\n%s", policy->name, seed, w->machine, late, REST_S, w->text);
	ck_assert_msg(!waits, "%s, seed %d, %s: two threads have one CPU while another is free\n%s", policy->name, seed, w->machine, w->text);
	join_end(&l->j);
	engine_free(l->e);
	free(l);
}

START_TEST(seed)
{
	struct world w;
	make_world(&w, _i);
	for (unsigned p = 0; policy_at(p); p++) hold(&w, policy_at(p), _i);
	workload_free(&w.w);
	sim_machine_free(&w.m);
}
END_TEST

static void add(TCase *tcase)
{
	const char *more = getenv("HOLDS_SEEDS");
	tcase_add_loop_test(tcase, seed, 0, more ? atoi(more) : SEEDS);
}

int main(void)
{
	return made_main("holds", add);
}
