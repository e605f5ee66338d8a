#include "whatif.h"

#include <errno.h>
#include <stdlib.h>

#include "pure/estimate.h"

/* ---- what it is given -------------------------------------------------------------------------------------------- */

static uint64_t now_ns(void *state)
{
	const struct whatif *w = state;
	return w->player->session.last_ns;
}

static uint64_t own_cpu_ns(void *state)
{
	const struct whatif *w = state;
	return w->own_ns;
}

static uint64_t process_cpu_ns(void *state)
{
	const struct whatif *w = state;
	return w->player->last_process;
}

static const struct clock_ops clock_ops = { now_ns, own_cpu_ns, process_cpu_ns };

static const struct nsched_thread *find(const struct whatif *w, pid_t tid)
{
	for (uint32_t i = 0; i < w->registry.seen_n; i++) {
		const struct nsched_thread *t = registry_at(&w->registry, i);
		if (t->tid == tid && atomic_load(&t->state) == THREAD_LIVE) return t;
	}
	return NULL;
}

/* One that somebody else bound then, is bound by somebody else here: to one CPU, for all that is known. */
static int get_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	const struct whatif *w = state;
	const struct nsched_thread *t = find(w, tid);
	if (!t) return -ESRCH;
	*mask = w->player->allowed;
	if (w->node[t->number] >= 0) *mask = w->mask[w->node[t->number]];
	if (!registry_at(&w->player->registry, t->number)->seen.fixed) return 0;
	mask_clear(mask);
	mask_add(mask, w->player->session.machine.cpu[0].os);
	return 0;
}

static int set_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	struct whatif *w = state;
	const struct nsched_thread *t = find(w, tid);
	if (!t) return -ESRCH;
	w->node[t->number] = -1;
	for (unsigned n = 0; n < w->player->session.machine.n_nodes; n++)
		if (mask_equal(mask, &w->mask[n])) w->node[t->number] = (int)n;
	return 0;
}

static int os_of(const struct whatif *w, int node)
{
	return node < 0 ? node : (int)w->player->session.machine.node[node].os;
}

static int locate(void *state, const uint64_t *addr, unsigned n, int *node_os)
{
	const struct whatif *w = state;
	for (unsigned i = 0; i < n; i++) node_os[i] = os_of(w, pages_where(&w->pages, addr[i] >> EVIDENCE_PAGE_SHIFT));
	return 0;
}

static int move(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status)
{
	struct whatif *w = state;
	for (unsigned i = 0; i < n; i++) {
		int to = machine_node_of_os(&w->player->session.machine, (unsigned)to_os[i]);
		if (to < 0) return -ENODEV;
		status[i] = os_of(w, pages_move(&w->pages, addr[i] >> EVIDENCE_PAGE_SHIFT, to));
	}
	w->own_ns += (uint64_t)(w->player->session.page_move_ns * (float)n);   /* the price that was measured then */
	return 0;
}

static int has_policy(void *state, uint64_t addr)
{
	(void)state, (void)addr;
	return 0;
}

static const struct actuator_ops hands = { "imagined", get_mask, set_mask, locate, move, has_policy, NULL };

static _Thread_local struct whatif *starting;

static int start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	(void)setup, (void)why;
	*state = starting;
	return 0;
}

static int poll(void *state, const struct sink *sink, unsigned most)
{
	struct whatif *w = state;
	(void)most;
	for (unsigned i = 0; i < w->n_access; i++) sink->put(sink->arg, &w->access[i]);
	return (int)w->n_access;
}

/* As many lost as then, so that what was seen stands for as much time. */
static void counts(const void *state, struct source_counts *c)
{
	const struct whatif *w = state;
	memset(c, 0, sizeof *c);
	for (unsigned i = 0; i < w->player->session.n_sources; i++) {
		c->samples += w->player->session.source[i].counts.samples;
		c->lost += w->player->session.source[i].counts.lost;
	}
}

static const struct source_ops source = { .name = "recorded", .start = start, .poll = poll, .counts = counts };
static const struct source_ops *const sources[] = { &source, NULL };

/* Counters are read by the recorded session, and taken over from there. */
static int no_start(const struct counter_setup *setup, void **state, struct counter_about *about, char why[COUNTER_WHY])
{
	(void)setup, (void)about, (void)why;
	*state = starting;
	return 0;
}

static int no_add(void *state, unsigned thread, pid_t tid)
{
	(void)state, (void)thread, (void)tid;
	return 0;
}

static void no_thread(void *state, unsigned thread)
{
	(void)state, (void)thread;
}

static int no_read(void *state, unsigned thread, uint64_t *at_ns, uint64_t value[COUNTERS])
{
	(void)state, (void)thread, (void)at_ns, (void)value;
	return -EAGAIN;
}

static void no_more(void *state)
{
	(void)state;
}

static const struct counter_ops counters = { "recorded", no_start, no_add, no_thread, no_read, no_thread, no_thread, no_more, no_more };

/* ---- what the player tells --------------------------------------------------------------------------------------------- */

void whatif_access(struct whatif *w, const struct access *a)
{
	if (w->n_access == w->room_access) {
		unsigned room = w->room_access ? 2 * w->room_access : 1024;
		struct access *grown = realloc(w->access, room * sizeof *grown);
		if (!grown) {
			w->failed = true;
			return;
		}
		w->access = grown;
		w->room_access = room;
	}
	w->access[w->n_access++] = *a;
}

static int node_of(const struct whatif *w, int node_os)
{
	return node_os < 0 ? node_os : machine_node_of_os(&w->player->session.machine, (unsigned)node_os);
}

void whatif_located(struct whatif *w, const uint64_t *addr, unsigned n, const int *node_os)
{
	for (unsigned i = 0; i < n && !w->failed; i++) w->failed = pages_found(&w->pages, addr[i] >> EVIDENCE_PAGE_SHIFT, node_of(w, node_os[i])) != 0;
}

void whatif_moved(struct whatif *w, const uint64_t *addr, unsigned n, const int *status)
{
	for (unsigned i = 0; i < n; i++) pages_moved_there(&w->pages, addr[i] >> EVIDENCE_PAGE_SHIFT, node_of(w, status[i]));
}

void whatif_touch(struct whatif *w, uint32_t thread, uint64_t addr)
{
	if (thread < atomic_load(&w->registry.n)) registry_touch(registry_at(&w->registry, thread), addr);
}

/* ---- steps --------------------------------------------------------------------------------------------------------------- */

/* Where it runs if it is bound to nothing here: where it ran then, unless that was our doing; else where it was. */
static void take_over(struct whatif *w, uint32_t i)
{
	const struct nsched_thread *then = registry_at(&w->player->registry, i);
	const struct player_seen *seen = &w->player->seen[i];
	struct nsched_thread *t = registry_at(&w->registry, i);
	int state = atomic_load(&t->state);
	if (state == THREAD_FREE && seen->state == THREAD_LIVE) {
		t->tid = seen->tid;
		t->process = seen->process;
		w->node[i] = -1;
		atomic_store(&t->state, THREAD_LIVE);
	}
	if (state == THREAD_LIVE && (seen->state != THREAD_LIVE || seen->tid != t->tid)) registry_leave(t);
	if (w->node[i] < 0 && (then->seen.bound < 0 || t->node < 0)) t->node = then->node;
	t->load = then->load;
	t->counted = then->counted;
	t->kernel_knows = then->kernel_knows;
}

static void take_over_kernel(struct whatif *w)
{
	const struct session_kernel *then = &w->player->session.kernel;
	struct session_kernel *k = &w->session.kernel;
	size_t n = (size_t)REGISTRY_THREADS * w->session.machine.n_nodes;
	k->balances = then->balances;
	if (then->on && !k->share) k->share = calloc(n, sizeof *k->share);
	k->on = then->on && k->share;
	if (k->on) memcpy(k->share, then->share, n * sizeof *k->share);
}

/* A sample is time, and the same access takes another time where thread and page are elsewhere. */
static void scale(const struct whatif *w, struct access *a)
{
	const struct machine *m = &w->player->session.machine;
	uint64_t page = a->addr >> EVIDENCE_PAGE_SHIFT;
	int then = registry_at(&w->player->registry, a->thread)->node, now = registry_at(&w->registry, a->thread)->node;
	int page_then = pages_then(&w->pages, page), page_now = pages_where(&w->pages, page);
	if (then < 0 || now < 0 || page_then < 0 || page_now < 0) return;
	a->weight_ns *= m->latency_ns[now][page_now] / m->latency_ns[then][page_then];
}

int whatif_step(struct whatif *w)
{
	uint32_t n = w->player->registry.seen_n;
	if (w->failed || registry_make(&w->registry, n)) return -ENOMEM;
	w->registry.seen_n = n;
	for (uint32_t i = 0; i < n; i++) take_over(w, i);
	w->session.counters.on = w->player->session.counters.on;
	w->session.counters.about = w->player->session.counters.about;
	take_over_kernel(w);
	for (unsigned i = 0; i < w->n_access; i++) scale(w, &w->access[i]);
	int ret = session_step(&w->session);
	w->plans += ret > 0;
	w->n_access = 0;
	return ret < 0 ? ret : 0;
}

/* ---- life -------------------------------------------------------------------------------------------------------------------- */

static void fill_masks(struct whatif *w)
{
	const struct machine *m = &w->player->session.own;
	for (unsigned c = 0; c < m->n_cpus; c++) mask_add(&w->mask[m->cpu[c].node], m->cpu[c].os);
}

static int copy_machine(struct machine *copy, const struct machine *machine)
{
	int ret = machine_init(copy, machine->n_cpus);
	if (ret) return ret;
	struct machine_cpu *cpu = copy->cpu;
	memcpy(cpu, machine->cpu, machine->n_cpus * sizeof *cpu);
	*copy = *machine;
	copy->cpu = cpu;
	return 0;
}

int whatif_open(struct whatif *w, struct player *player, const char *policy)
{
	nsched_error_t error;
	struct session_setup setup = { .config = &w->config, .clock = &clock_ops, .clock_state = w, .hands = &hands, .hands_state = w, .sources = sources,
	                               .counters = &counters, .registry = &w->registry, .ranges = &player->ranges, .allowed = player->allowed };
	memset(w, 0, sizeof *w);
	w->player = player;
	w->policy = policy;
	for (unsigned i = 0; i < REGISTRY_THREADS; i++) w->node[i] = -1;
	registry_init(&w->registry);
	config_copy(&w->config, &player->config);
	if (nsched_config_set(&w->config, "policy", policy, &error) < 0) return -EINVAL;
	int ret = copy_machine(&setup.machine, &player->session.machine);
	if (ret) return ret;
	fill_masks(w);
	starting = w;
	ret = session_init(&w->session, &setup);
	starting = NULL;
	w->begun = ret == 0;
	w->session.counters.on = false;
	return ret;
}

void whatif_close(struct whatif *w)
{
	if (w->begun) {
		w->session.counters.on = false;
		session_stop(&w->session);
		session_free(&w->session);
	}
	w->begun = false;
	pages_free(&w->pages);
	free(w->access);
	w->access = NULL;
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) {
		free(w->registry.block[b]);
		w->registry.block[b] = NULL;
	}
}

double whatif_cost(const struct situation *s)
{
	struct estimate e;
	if (estimate_init(&e, s)) return -1;
	double cost = estimate_cost(&e);
	estimate_free(&e);
	return cost;
}
