/* Where the kernel balances too: its statistics are used for threads of which nothing better is known, and
 * what it moves is left to rest like what we move, so that the two do not pull at the same memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"
#include "session.h"

enum {
	READ_EACH_STEP = 16,       /* threads in one step: 30 us each in /proc, so half a percent of a step */
	READ_AGAIN_MS = 1000,      /* the kernel scans a process's memory once a second at the most */
	FAULTS_LEAST = 64,         /* sampled pages that say where a thread belongs: shares are then good to 1/8 */
};

/* The kernel brings pages to where a thread runs, so what it counts follows the thread about. Only a thread with
 * this part of its faults on one node is told by them where to go; others are left to the kernel. */
#define CLEAR_SHARE 0.66f

/* Time that a thread is taken to spend on memory where only its faults are known: they say where, not how
 * much. Half of what a thread has that does nothing else. */
#define MEMORY_SHARE 0.5f

/* A thread of which samples see at least this part of its time on memory needs no statistics. */
#define SEEN_ENOUGH 0.05f

/* Pages of these numbers are no memory: what the statistics say lies on a node is put there, a page a node. */
#define NOWHERE (1ull << 51)

/* Of a chunk's pages, those that have to change their node, without our doing, for it to count as moved. */
#define MOVED_SHARE 0.5f

static int probe(struct session *s)
{
	struct session_kernel *k = &s->kernel;
	struct kernel_faults faults;
	int ret = s->eyes->faults(s->eyes_state, 0, &faults, NULL, NULL);
	if (ret) snprintf(k->why, sizeof k->why, "this kernel tells no numa_faults in /proc/PID/sched");
	return ret;
}

void session_start_kernel(struct session *s)
{
	struct session_kernel *k = &s->kernel;
	k->balances = s->eyes ? s->eyes->balancing(s->eyes_state) : 0;
	if (!k->balances) snprintf(k->why, sizeof k->why, "the kernel does not balance; root may let it: sysctl kernel.numa_balancing=1");
	else if (!s->config.kernel_faults) snprintf(k->why, sizeof k->why, "kernel_faults=0");
	else if (!(k->balances & KERNEL_BALANCES)) snprintf(k->why, sizeof k->why, "kernel.numa_balancing=2 is tiering: its statistics are of slow memory only");
	else if (probe(s)) { }
	else if (!(k->share = calloc((size_t)REGISTRY_THREADS * s->machine.n_nodes, sizeof *k->share))) snprintf(k->why, sizeof k->why, "no memory");
	else k->on = true;
	if (k->balances && s->config.verbose)
		log_line("the kernel balances too (kernel.numa_balancing=%d): what it moves is left to rest", k->balances);
}

void session_free_kernel(struct session *s)
{
	free(s->kernel.share);
	s->kernel.share = NULL;
	s->kernel.on = false;
}

/* ---- reading --------------------------------------------------------------------------------------------- */

struct reading {
	struct session *s;
	float *share;
};

static void put_node(void *arg, unsigned node_os, uint64_t faults)
{
	struct reading *r = arg;
	int node = machine_node_of_os(&r->s->machine, node_os);
	if (node >= 0) r->share[node] = (float)faults;
}

void session_kernel_saw(struct session *s, struct nsched_thread *t, const char *text)
{
	struct reading r = { .s = s, .share = &s->kernel.share[(size_t)t->number * s->machine.n_nodes] };
	struct kernel_faults faults;
	for (unsigned n = 0; n < s->machine.n_nodes; n++) r.share[n] = 0;
	int ret = text ? kernel_faults_parse(text, &faults, put_node, &r) : s->eyes->faults(s->eyes_state, t->tid, &faults, put_node, &r);
	t->kernel_ms = session_now_ms(s);
	s->kernel.reads++;
	float most = 0;
	for (unsigned n = 0; n < s->machine.n_nodes; n++) most = r.share[n] > most ? r.share[n] : most;
	bool useful = !ret && faults.sum >= FAULTS_LEAST && most >= CLEAR_SHARE * (float)faults.sum;
	for (unsigned n = 0; n < s->machine.n_nodes; n++) r.share[n] = useful ? r.share[n] / (float)faults.sum : 0;
	t->kernel_knows = useful;
}

void session_read_kernel(struct session *s)
{
	struct session_kernel *k = &s->kernel;
	uint32_t n = s->registry->seen_n, read = 0;
	if (!k->on || !s->eyes) return;
	for (uint32_t i = 0; i < n && read < READ_EACH_STEP; i++) {
		struct nsched_thread *t = registry_at(s->registry, k->next++ % n);
		if (t->seen.state != THREAD_LIVE || session_now_ms(s) - t->kernel_ms < READ_AGAIN_MS) continue;
		session_kernel_saw(s, t, NULL);
		read++;
	}
}

/* ---- what it is good for ----------------------------------------------------------------------------------- */

static int add_node(struct session *s, unsigned node, const float *missing)
{
	struct situation *v = &s->situation;
	struct situation_chunk *c = situation_add_chunk(v);
	if (!c) return -ENOMEM;
	*c = (struct situation_chunk){ .page = NOWHERE + node, .pages = 1, .first_use = c->first_use, .stands = 1, .fixed = true, .moved_ms_ago = UINT32_MAX };
	for (unsigned i = 0; i < SITUATION_WHERE; i++) c->where[i].node = -1;
	c->where[0].node = (int16_t)node;
	c->where[0].share = 1;
	for (unsigned t = 0; t < v->n_threads; t++) {
		float share = missing[t] > 0 ? s->kernel.share[(size_t)v->thread[t].number * s->machine.n_nodes + node] : 0;
		if (!(share > 0)) continue;
		struct situation_use *use = situation_add_use(v);
		if (!use) return -ENOMEM;
		use->thread = t;
		use->rate = missing[t] * share;
	}
	if (!v->chunk[v->n_chunks - 1].n_uses) v->n_chunks--;
	return 0;
}

/* For threads of which no other source tells enough: their share on each node becomes memory there that can't
 * be moved, so that the thread goes to it. */
int session_view_kernel(struct session *s)
{
	struct situation *v = &s->situation;
	float missing[REGISTRY_THREADS];
	bool any = false;
	if (!s->kernel.on) return 0;
	situation_rates(v, missing);
	for (unsigned t = 0; t < v->n_threads; t++) {
		bool knows = registry_at(s->registry, v->thread[t].number)->kernel_knows;
		bool enough = missing[t] * MACHINE_LOCAL_NS >= SEEN_ENOUGH * v->thread[t].load;
		missing[t] = knows && !enough ? MEMORY_SHARE * v->thread[t].load / MACHINE_LOCAL_NS : 0;
		any |= missing[t] > 0;
	}
	int ret = 0;
	for (unsigned n = 0; any && !ret && n < s->machine.n_nodes; n++) ret = add_node(s, n, missing);
	return ret;
}

/* The chunk was looked at again: `before` is what was known. Moved by the kernel (or the program), it has its
 * rest, and going back on that takes a clear case, as if we had moved it. */
void session_kernel_moved(struct session *s, const struct placement_entry *before, struct placement_entry *entry)
{
	if (!s->kernel.balances || !(before->flags & PLACEMENT_KNOWN) || before->flags & PLACEMENT_ABSENT) return;
	unsigned was = before->where[0].node;
	if (placement_share(before, was) - placement_share(entry, was) < MOVED_SHARE) return;
	entry->flags |= PLACEMENT_MOVED;
	entry->moved = placement_time(session_now_ms(s));
	s->kernel.moves++;
}
