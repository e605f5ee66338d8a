/* The simulated system's scheduler: run queues, where new and waking tasks go, turns, load balancing, and the noise of
 * everything else on the machine. It knows nothing of who uses which memory; nsched's masks are obeyed. */
#include <stdlib.h>

#include "engine.h"
#include "os_queue.h"

enum {
	WOKEN_IN_A_ROW = 8,      /* turns of those that woke before one that did not gets its own */
	FOOTPRINT_LEAST = 16384, /* bytes of a task's own that a cache holds, if it uses no memory to speak of */
};
#define OTHER_CORE 0.3           /* of what caches hold is lost on another core that shares the last level */
#define HOG_NS 1000000           /* who has run so long is interrupted by one that wakes */

/* ---- turns --------------------------------------------------------------------------------------------------------- */

static double slice_ns(const struct engine *e, const struct cpu *c)
{
	double ms = e->machine->params.slice_ms / (c->waiting + 1);
	return 1e6 * (ms < e->machine->params.slice_least_ms ? e->machine->params.slice_least_ms : ms);
}

/* The share of its data that the caches of the CPU have lost. */
static double coldness(const struct engine *e, const struct task *t, unsigned cpu)
{
	if (t->last_cpu == NO_CPU) return 0;
	if (t->last_cpu == cpu) {
		double others = (double)(e->cpu[cpu].busy_ns - t->busy_mark) / (1e6 * e->machine->params.evict_ms);
		return others < 1 ? others : 1;
	}
	return e->cpu[t->last_cpu].l3 == e->cpu[cpu].l3 ? OTHER_CORE : 1;
}

static double refill_ns(const struct engine *e, struct task *t, unsigned cpu)
{
	double bytes = FOOTPRINT_LEAST, most = 1024 * e->machine->params.cache_kib, slow = 1;
	double cold = coldness(e, t, cpu);
	if (!(cold > 0)) return 0;
	if (t->op && t->op->n_uses) {
		engine_share(e, t);
		slow = 0;
		for (unsigned u = 0; u < t->op->n_uses; u++) bytes += (double)t->use[u]->present * MEMORY_PAGE;
		for (unsigned n = 0; n < e->n_nodes; n++) slow += (double)(t->share[n] * e->cost[e->cpu[cpu].node][n]);
	}
	return cold * slow * (bytes < most ? bytes : most) / e->machine->params.refill_gbs;
}

static void pace_siblings(struct engine *e, unsigned cpu)
{
	for (unsigned s = e->machine->sibling[cpu]; s != cpu; s = e->machine->sibling[s])
		if (e->cpu[s].current) {
			engine_settle(e, s);
			engine_pace(e, s);
		}
}

static void dispatch(struct engine *e, unsigned cpu, struct task *t)
{
	struct cpu *c = &e->cpu[cpu];
	c->current = t;
	os_set_state(e, t, TASK_RUNNING);
	t->cpu = (uint16_t)cpu;
	t->since = e->now;
	t->cold_ns += e->machine->params.switch_ns + refill_ns(e, t, cpu);
	if (t->last_cpu != NO_CPU && t->last_cpu != cpu && t->kind == TASK_PROGRAM) {
		e->counts.migrations++;
		e->counts.node_migrations += e->cpu[t->last_cpu].node != c->node;
	}
	t->last_cpu = (uint16_t)cpu;
	c->dispatched = e->now;
	c->slice_end = e->now + (uint64_t)slice_ns(e, c);
	e->counts.switches++;
	e->node_running[c->node]++;
	engine_pace(e, cpu);
	if (e->machine->sibling[cpu] != cpu) pace_siblings(e, cpu);
}

static void undispatch(struct engine *e, unsigned cpu)
{
	struct cpu *c = &e->cpu[cpu];
	engine_settle(e, cpu);
	c->current->busy_mark = c->busy_ns;
	c->current = NULL;
	e->node_running[c->node]--;
}

static struct task *first_of(struct cpu *c)
{
	bool normal = !c->woken.head || (c->normal.head && c->picks >= WOKEN_IN_A_ROW);
	c->picks = normal ? 0 : c->picks + 1;
	return normal ? c->normal.head : c->woken.head;
}

static struct task *steal(struct engine *e, unsigned cpu);

/* The CPU has nobody: its next one, or one of another CPU's, or none. */
static void next_turn(struct engine *e, unsigned cpu)
{
	struct cpu *c = &e->cpu[cpu];
	struct task *t = c->waiting ? first_of(c) : NULL;
	if (t) os_dequeue(e, t);
	else t = steal(e, cpu);
	if (t) {
		dispatch(e, cpu, t);
		return;
	}
	engine_pace(e, cpu);
	if (e->machine->sibling[cpu] != cpu) pace_siblings(e, cpu);
}

void os_leave(struct engine *e, unsigned cpu)
{
	struct task *t = e->cpu[cpu].current;
	enum task_state state = (enum task_state)t->state;
	t->state = TASK_RUNNING;
	undispatch(e, cpu);
	os_set_state(e, t, state);
	next_turn(e, cpu);
}

void os_turn(struct engine *e, unsigned cpu)
{
	struct task *t = e->cpu[cpu].current;
	undispatch(e, cpu);
	os_enqueue(e, t, cpu, false, false);
	next_turn(e, cpu);
}

/* ---- where tasks go ---------------------------------------------------------------------------------------------- */

bool os_may(const struct engine *e, const struct task *t, unsigned cpu)
{
	return t->nodes >> e->cpu[cpu].node & 1 && (!t->mask || t->pinned || mask_has(t->mask, e->machine->known.cpu[cpu].os));
}

static bool core_idle(const struct engine *e, unsigned cpu)
{
	if (os_load(e, cpu)) return false;
	for (unsigned s = e->machine->sibling[cpu]; s != cpu; s = e->machine->sibling[s])
		if (os_load(e, s)) return false;
	return true;
}

/* Smaller is better: queue, then busy core, then how full its node is. */
static double crowd(const struct engine *e, unsigned cpu)
{
	const struct machine_node *node = &e->machine->known.node[e->cpu[cpu].node];
	unsigned on_node = e->node_waiting[e->cpu[cpu].node] + e->node_running[e->cpu[cpu].node];
	double sum = 4.0 * os_load(e, cpu);
	if (e->machine->params.smt_first > 0 && !core_idle(e, cpu)) sum += 2;
	if (e->machine->params.node_first > 0) sum += (double)on_node / (double)node->n_cpus;
	return sum;
}

/* The idlest CPU that the task may use, begun somewhere by chance; NO_CPU: it may use none. */
static unsigned idlest(struct engine *e, const struct task *t)
{
	unsigned best = NO_CPU, first = (unsigned)chance_below(&e->chance, e->n_cpus);
	double least = 0;
	for (unsigned i = 0; i < e->n_cpus; i++) {
		unsigned c = (first + i) % e->n_cpus;
		if (!os_may(e, t, c)) continue;
		double sum = crowd(e, c);
		if (best != NO_CPU && !(sum < least)) continue;
		best = c;
		least = sum;
	}
	return best;
}

static unsigned random_cpu(struct engine *e, const struct task *t)
{
	unsigned first = (unsigned)chance_below(&e->chance, e->n_cpus);
	for (unsigned i = 0; i < e->n_cpus; i++)
		if (os_may(e, t, (first + i) % e->n_cpus)) return (first + i) % e->n_cpus;
	return first;
}

/* An idle CPU of the same node, for one that wakes where somebody runs. */
static unsigned idle_beside(const struct engine *e, const struct task *t, unsigned cpu)
{
	const struct machine_node *node = &e->machine->known.node[e->cpu[cpu].node];
	if (e->node_running[e->cpu[cpu].node] >= node->n_cpus) return cpu;
	for (unsigned c = node->first_cpu; c < (unsigned)node->first_cpu + node->n_cpus; c++)
		if (!os_load(e, c) && os_may(e, t, c)) return c;
	return cpu;
}

static void add_to(struct engine *e, struct task *t, unsigned cpu, bool woken)
{
	struct cpu *c = &e->cpu[cpu];
	if (!c->current) {
		dispatch(e, cpu, t);
		return;
	}
	bool interrupts = t->kind != TASK_PROGRAM || (woken && e->now - c->dispatched >= HOG_NS);
	os_enqueue(e, t, cpu, woken, false);
	if (interrupts && c->current != e->acting) {
		struct task *hog = c->current;
		undispatch(e, cpu);
		os_enqueue(e, hog, cpu, false, true);
		os_dequeue(e, t);
		dispatch(e, cpu, t);
		return;
	}
	uint64_t end = c->dispatched + (uint64_t)slice_ns(e, c);
	c->slice_end = end > e->now ? end : e->now;
	engine_settle(e, cpu);
	engine_pace(e, cpu);
}

void os_start(struct engine *e, struct task *t, int parent_cpu)
{
	unsigned cpu = e->machine->params.fork_spread > 0 || parent_cpu < 0 ? idlest(e, t) : (unsigned)parent_cpu;
	if (cpu == NO_CPU || !os_may(e, t, cpu)) cpu = random_cpu(e, t);
	add_to(e, t, cpu, false);
}

void os_wake(struct engine *e, struct task *t)
{
	unsigned cpu = t->last_cpu;
	if (cpu == NO_CPU || t->kind == TASK_HELPER) cpu = idlest(e, t);
	else if (!os_may(e, t, cpu)) cpu = random_cpu(e, t);
	else if (os_load(e, cpu) && e->machine->params.wake_idle > 0) cpu = idle_beside(e, t, cpu);
	if (cpu == NO_CPU) cpu = random_cpu(e, t);
	add_to(e, t, cpu, true);
}

void os_allow(struct engine *e, struct task *t, const struct cpu_mask *mask)
{
	uint64_t *nodes = t->pinned ? &t->nodes_before : &t->nodes;
	*nodes = 0;
	bool whole = true;
	for (unsigned c = 0; c < e->n_cpus; c++) {
		if (mask_has(mask, e->machine->known.cpu[c].os)) *nodes |= 1ull << e->cpu[c].node;
		else whole = false;
	}
	if (!t->mask && !whole) t->mask = malloc(sizeof *t->mask);
	if (t->mask) *t->mask = *mask;
	if (t->cpu == NO_CPU || os_may(e, t, t->cpu)) return;
	if (t->state == TASK_READY) {
		os_dequeue(e, t);
		os_wake(e, t);
	} else if (t->state == TASK_RUNNING) {
		unsigned cpu = t->cpu;
		undispatch(e, cpu);
		os_set_state(e, t, TASK_BLOCKED);
		os_start(e, t, -1);
		next_turn(e, cpu);
	}
}

/* ---- balancing ---------------------------------------------------------------------------------------------------- */

static struct task *candidate(const struct engine *e, const struct task_queue *q, unsigned to)
{
	double hot_ns = 1e6 * e->machine->params.hot_ms;
	for (struct task *t = q->head; t; t = t->next)
		if (t->kind == TASK_PROGRAM && os_may(e, t, to) && (double)(e->now - t->since) >= hot_ns) return t;
	return NULL;
}

static struct task *candidate_of(const struct engine *e, unsigned from, unsigned to)
{
	struct task *t = candidate(e, &e->cpu[from].normal, to);
	return t ? t : candidate(e, &e->cpu[from].woken, to);
}

/* The longest queue among the CPUs of a range, with a task for `to`. */
static struct task *longest(const struct engine *e, unsigned first, unsigned n, unsigned to, unsigned least)
{
	struct task *best = NULL;
	for (unsigned c = first; c < first + n; c++) {
		if (c == to || e->cpu[c].waiting == 0 || os_load(e, c) < least) continue;
		struct task *t = candidate_of(e, c, to);
		if (!t) continue;
		best = t;
		least = os_load(e, c) + 1;
	}
	return best;
}

static struct task *find_elsewhere(const struct engine *e, unsigned cpu, unsigned least, unsigned least_far)
{
	const struct machine *k = &e->machine->known;
	unsigned here = e->cpu[cpu].node;
	struct task *t = NULL;
	if (!(e->machine->params.node_first > 0)) return longest(e, 0, e->n_cpus, cpu, least);
	if (e->node_waiting[here]) t = longest(e, k->node[here].first_cpu, k->node[here].n_cpus, cpu, least);
	for (unsigned i = 1; !t && i < e->n_nodes; i++) {
		unsigned n = (here + i) % e->n_nodes;
		if (e->node_waiting[n]) t = longest(e, k->node[n].first_cpu, k->node[n].n_cpus, cpu, least_far);
	}
	return t;
}

static struct task *steal(struct engine *e, unsigned cpu)
{
	if (!e->waiting) return NULL;
	struct task *t = find_elsewhere(e, cpu, 2, 2);
	if (t) os_dequeue(e, t);
	return t;
}

/* On a core of which two threads are busy while this whole core is idle: one of them comes here. */
static void spread_cores(struct engine *e, unsigned cpu)
{
	if (!(e->machine->params.smt_first > 0) || e->machine->sibling[cpu] == cpu || !core_idle(e, cpu)) return;
	unsigned first = (unsigned)chance_below(&e->chance, e->n_cpus);
	for (unsigned i = 0; i < e->n_cpus; i++) {
		unsigned c = (first + i) % e->n_cpus, s = e->machine->sibling[c];
		struct task *t = e->cpu[c].current;
		if (!t || s == c || !e->cpu[s].current || t->kind != TASK_PROGRAM || !os_may(e, t, cpu)) continue;
		undispatch(e, c);
		next_turn(e, c);
		dispatch(e, cpu, t);
		return;
	}
}

static void balance_cpu(struct engine *e, unsigned cpu)
{
	const struct sim_params *p = &e->machine->params;
	unsigned own = os_load(e, cpu);
	unsigned near = (unsigned)(own * p->imbalance) + 1, far = (unsigned)(own * p->node_imbalance) + 1;
	if (near < own + 2) near = own + 2;
	if (far < own + 2) far = own + 2;
	struct task *t = e->waiting ? find_elsewhere(e, cpu, near, far) : NULL;
	if (t) {
		unsigned excess = (os_load(e, t->cpu) - own) / 2, from = t->cpu;
		for (; t && excess; excess--) {
			os_dequeue(e, t);
			add_to(e, t, cpu, false);
			t = candidate_of(e, from, cpu);
		}
		return;
	}
	if (!own) spread_cores(e, cpu);
}

/* One that has nothing to do looks at every tick; those that are busy once in balance_ms, in turn. */
static void idle_balance(struct engine *e)
{
	unsigned first = e->balance_next;
	for (unsigned i = 0; e->waiting && i < e->n_cpus; i++) {
		unsigned cpu = (first + i) % e->n_cpus;
		struct task *t = e->cpu[cpu].current ? NULL : steal(e, cpu);
		if (t) add_to(e, t, cpu, false);
	}
}

void os_balance(struct engine *e)
{
	idle_balance(e);
	e->balance_due += e->n_cpus * (TICK_NS / 1e6) / e->machine->params.balance_ms;
	for (; e->balance_due >= 1; e->balance_due--) {
		balance_cpu(e, e->balance_next);
		e->balance_next = (e->balance_next + 1) % e->n_cpus;
	}
}

/* ---- noise ------------------------------------------------------------------------------------------------------------ */

double os_noise_wait(struct engine *e)
{
	return chance_wait(&e->chance, 1e9 / (e->machine->params.noise_hz * e->n_cpus));
}

/* Who ran there waits, and may be taken elsewhere by then. */
void os_noise(struct engine *e)
{
	unsigned cpu = (unsigned)chance_below(&e->chance, e->n_cpus);
	struct cpu *c = &e->cpu[cpu];
	struct task *t = e->noise_pool, *was = c->current;
	if (t) e->noise_pool = t->next;
	else if (!(t = engine_add_task(e, TASK_NOISE))) return;
	t->next = NULL;
	t->last_cpu = NO_CPU;
	t->left = 1e6 * chance_wait(&e->chance, e->machine->params.noise_ms);
	if (was && was->kind == TASK_PROGRAM && chance_unit(&e->chance) < e->machine->params.spill) {
		undispatch(e, cpu);
		dispatch(e, cpu, t);
		add_to(e, was, random_cpu(e, was), false);
		return;
	}
	add_to(e, t, cpu, true);
}
