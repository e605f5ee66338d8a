/* Clock and hands of the session: the engine's time, its tasks' CPUs and its pages. */
#include <errno.h>

#include "join.h"

#define START_NS 1000000000ull   /* a clock that begins at 0 would make "never" of times */

void join_spend(struct join *j, double ns)
{
	j->own_ns += ns;
	engine_help(j->engine, ns);
}

static uint64_t now_ns(void *state)
{
	const struct join *j = state;
	return START_NS + j->engine->now;
}

static uint64_t own_cpu_ns(void *state)
{
	const struct join *j = state;
	return (uint64_t)j->own_ns;
}

static uint64_t process_cpu_ns(void *state)
{
	const struct join *j = state;
	return j->engine->cpu_ns + (uint64_t)j->own_ns;
}

const struct clock_ops join_clock = { now_ns, own_cpu_ns, process_cpu_ns };

struct watcher *join_watcher(const struct join *j, pid_t tid)
{
	unsigned i = (unsigned)tid - 1;
	return i < j->n_watchers && j->watcher[i] && j->watcher[i]->task ? j->watcher[i] : NULL;
}

static void all_cpus(const struct join *j, struct cpu_mask *mask)
{
	mask_clear(mask);
	for (unsigned c = 0; c < j->engine->n_cpus; c++) mask_add(mask, j->engine->machine->known.cpu[c].os);
}

static void node_cpus(const struct join *j, uint64_t nodes, struct cpu_mask *mask)
{
	const struct engine *e = j->engine;
	mask_clear(mask);
	for (unsigned c = 0; c < e->n_cpus; c++)
		if (nodes >> e->cpu[c].node & 1) mask_add(mask, e->machine->known.cpu[c].os);
}

static int get_mask(void *state, pid_t tid, struct cpu_mask *mask)
{
	struct join *j = state;
	const struct watcher *w = join_watcher(j, tid);
	if (!w) return -ESRCH;
	if (w->task->pinned) node_cpus(j, w->task->nodes, mask);
	else if (w->task->mask) *mask = *w->task->mask;
	else all_cpus(j, mask);
	return 0;
}

static int set_mask(void *state, pid_t tid, const struct cpu_mask *mask)
{
	struct join *j = state;
	if (!join_watcher(j, tid)) return -ESRCH;
	join_spend(j, 1000 * j->engine->machine->params.bind_us);
	const struct watcher *w = join_watcher(j, tid);   /* it may have ended meanwhile */
	if (!w) return -ESRCH;
	os_allow(j->engine, w->task, mask);
	return 0;
}

/* The step's fixed price is charged with its first look at pages. */
static int locate(void *state, const uint64_t *addr, unsigned n, int *node_os)
{
	struct join *j = state;
	const struct sim_params *p = &j->engine->machine->params;
	join_spend(j, n * p->locate_ns + (j->step_due ? 1000 * p->step_us : 0));
	j->step_due = false;
	for (unsigned i = 0; i < n; i++) {
		int node = memory_node(&j->engine->memory, addr[i] >> MEMORY_PAGE_SHIFT);
		node_os[i] = node >= 0 ? (int)j->engine->machine->known.node[node].os : node == -1 ? -ENOENT : -EFAULT;
	}
	return 0;
}

static int move(void *state, const uint64_t *addr, unsigned n, const int *to_os, int *status)
{
	struct join *j = state;
	struct engine *e = j->engine;
	join_spend(j, n * e->machine->params.page_move_ns);
	for (unsigned i = 0; i < n; i++) {
		uint64_t page = addr[i] >> MEMORY_PAGE_SHIFT;
		int from = memory_node(&e->memory, page), to = machine_node_of_os(&e->machine->known, (unsigned)to_os[i]);
		if (to < 0) return -ENODEV;
		memory_move(&e->memory, page, 1, (unsigned)to, &status[i]);
		if (status[i] == to && from >= 0) e->traffic[to][from] += MEMORY_PAGE;
		if (status[i] >= 0) status[i] = to_os[i];
	}
	return 0;
}

static int has_policy(void *state, uint64_t addr)
{
	(void)state, (void)addr;
	return 0;
}

const struct actuator_ops join_hands = { "simulated", get_mask, set_mask, locate, move, has_policy, NULL };
