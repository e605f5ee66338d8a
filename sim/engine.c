/* Time and events, the pace of what runs, and the load of memories and links. */
#include "engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENT_TICK, EVENT_NOISE, EVENT_CPU };  /* then one for each CPU, and behind them one for each task */

#define DONE_NS 0.5          /* work below this is done: times are whole ns */
#define STRETCH_MOST 1000.0
#define KNEE_POWER 2         /* queueing below what is served: at half of it an access takes a quarter of `knee` longer */
#define ENDLESS 1e18

static uint32_t task_event(const struct engine *e, const struct task *t)
{
	return EVENT_CPU + e->n_cpus + t->id;
}

/* ---- life -------------------------------------------------------------------------------------------------- */

static void update_cost(struct engine *e)
{
	for (unsigned i = 0; i < e->n_nodes; i++)
		for (unsigned j = 0; j < e->n_nodes; j++) {
			double stretch = e->node_stretch[j];
			if (i != j && e->link_stretch[i][j] > stretch) stretch = e->link_stretch[i][j];
			e->cost[i][j] = (float)((double)e->machine->latency[i][j] / e->machine->params.local_ns * stretch);
		}
}

static void init_cpus(struct engine *e)
{
	for (unsigned c = 0; c < e->n_cpus; c++) {
		e->cpu[c].node = e->machine->known.cpu[c].node;
		e->cpu[c].l3 = e->machine->known.cpu[c].l3;
	}
	for (unsigned i = 0; i < e->n_nodes; i++) {
		e->node_stretch[i] = 1;
		for (unsigned j = 0; j < e->n_nodes; j++) e->link_stretch[i][j] = 1;
	}
	update_cost(e);
}

struct engine *engine_new(const struct sim_machine *machine, const struct workload *workload, uint64_t seed)
{
	struct engine *e = calloc(1, sizeof *e);
	if (!e) return NULL;
	e->machine = machine;
	e->workload = workload;
	e->n_nodes = machine->known.n_nodes;
	e->n_cpus = machine->known.n_cpus;
	chance_seed(&e->chance, seed);
	memory_init(&e->memory, &machine->known);
	e->cpu = calloc(e->n_cpus, sizeof *e->cpu);
	e->region = calloc(workload->machine_memories + 1, sizeof(*e->region));
	e->everywhere = calloc(workload->n_threads + 1, sizeof *e->everywhere);
	e->first_process = calloc(workload->n_processes + 1, sizeof *e->first_process);
	if (!e->cpu || !e->first_process || !e->region || !e->everywhere || !heap_room(&e->heap, EVENT_CPU + e->n_cpus + 64)) {
		engine_free(e);
		return NULL;
	}
	init_cpus(e);
	return e;
}

static void free_task(struct task *t)
{
	free(t->own);
	free(t->mask);
	free(t);
}

void engine_free(struct engine *e)
{
	for (unsigned i = 0; i < e->n_tasks; i++) free_task(e->task[i]);
	for (unsigned i = 0; i < e->n_processes; i++) program_free_process(e, e->process[i]);
	free(e->process);
	free(e->task);
	free(e->cpu);
	free(e->region);
	free(e->everywhere);
	free(e->first_process);
	memory_free(&e->memory);
	heap_free(&e->heap);
	free(e);
}

struct task *engine_add_task(struct engine *e, enum task_kind kind)
{
	struct task *t = e->gone;
	if (t) {
		uint32_t id = t->id;
		e->gone = t->next;
		free(t->own);
		free(t->mask);
		memset(t, 0, sizeof *t + e->n_nodes * sizeof t->share[0]);
		t->id = id;
	} else {
		if (e->n_tasks == e->room_tasks) {
			unsigned room = e->room_tasks ? e->room_tasks * 2 : 64;
			struct task **grown = realloc(e->task, room * sizeof(*grown));
			if (!grown) return NULL;
			e->task = grown;
			e->room_tasks = room;
		}
		t = calloc(1, sizeof *t + e->n_nodes * sizeof t->share[0]);
		if (!t || !heap_room(&e->heap, EVENT_CPU + e->n_cpus + e->n_tasks + 1)) {
			free(t);
			return NULL;
		}
		t->id = e->n_tasks;
		e->task[e->n_tasks++] = t;
	}
	t->kind = (uint8_t)kind;
	t->state = TASK_BLOCKED;
	t->cpu = t->last_cpu = NO_CPU;
	t->nodes = UINT64_MAX;
	t->factor = 1;
	t->began = e->now;
	return t;
}

void engine_reap(struct engine *e, struct task *t)
{
	if (t->state != TASK_DONE || t->children) return;
	t->next = e->gone;
	e->gone = t;
}

void engine_begin(struct engine *e)
{
	heap_set(&e->heap, EVENT_TICK, TICK_NS);
	if (e->machine->params.noise_hz > 0) heap_set(&e->heap, EVENT_NOISE, (uint64_t)os_noise_wait(e));
	if (program_begin(e)) e->stuck = true;
}

/* ---- pace ---------------------------------------------------------------------------------------------------- */

static bool sibling_busy(const struct engine *e, unsigned cpu)
{
	for (unsigned c = e->machine->sibling[cpu]; c != cpu; c = e->machine->sibling[c])
		if (e->cpu[c].current) return true;
	return false;
}

void engine_share(const struct engine *e, struct task *t)
{
	uint64_t version = 0;
	for (unsigned u = 0; u < t->op->n_uses; u++) version += t->use[u]->version + 1;
	if (t->version == version) return;
	t->version = version;
	for (unsigned n = 0; n < e->n_nodes; n++) t->share[n] = 0;
	for (unsigned u = 0; u < t->op->n_uses; u++) {
		const struct window *w = t->use[u];
		if (!w->present) continue;
		float part = t->op->use[u].weight / (float)w->present;
		for (unsigned n = 0; n < e->n_nodes; n++) t->share[n] += part * (float)w->on[n];
	}
}

static double memory_factor(const struct engine *e, struct task *t, unsigned node)
{
	float sum = 0;
	for (unsigned n = 0; n < e->n_nodes; n++) sum += t->share[n] * e->cost[node][n];
	return (double)sum;
}

void engine_pace(struct engine *e, unsigned cpu)
{
	struct cpu *c = &e->cpu[cpu];
	struct task *t = c->current;
	if (!t) {
		heap_set(&e->heap, EVENT_CPU + cpu, HEAP_NEVER);
		return;
	}
	double computing = sibling_busy(e, cpu) ? e->machine->params.smt : 1, factor = computing;
	if (t->op && t->op->n_uses) {
		engine_share(e, t);
		double stall = (double)t->op->stall;
		factor = (1 - stall) * computing + stall * memory_factor(e, t, c->node);
	}
	t->factor = factor > 0 ? factor : 1;
	double ns = t->cold_ns + t->left * t->factor;
	uint64_t when = t->spinning || ns > ENDLESS ? HEAP_NEVER : e->now + (uint64_t)ceil(ns);
	if (c->waiting && c->slice_end < when) when = c->slice_end < e->now ? e->now : c->slice_end;
	heap_set(&e->heap, EVENT_CPU + cpu, when);
}

static void take_samples(struct engine *e, struct task *t, double ns)
{
	if (!(e->sample_period > 0) || !(t->sample_period > 0) || !t->watcher) return;
	for (t->sample_credit += ns; t->sample_credit >= t->sample_period; t->sample_credit -= t->sample_period)
		e->sample(e->watch_arg, t, t->sample_period);
}

static void count_traffic(struct engine *e, const struct task *t, unsigned node, double work)
{
	double bytes = work * (double)t->op->bytes_per_ns;
	for (unsigned n = 0; n < e->n_nodes; n++) e->traffic[node][n] += bytes * (double)t->share[n];
	e->counts.bytes += bytes;
	e->counts.local_bytes += bytes * (double)t->share[node];
}

void engine_settle(struct engine *e, unsigned cpu)
{
	struct cpu *c = &e->cpu[cpu];
	struct task *t = c->current;
	if (!t || t->since == e->now) return;
	double ns = (double)(e->now - t->since);
	t->since = e->now;
	t->cpu_ns += (uint64_t)ns;
	c->busy_ns += (uint64_t)ns;
	if (t->kind == TASK_PROGRAM) {
		e->cpu_ns += (uint64_t)ns;
		t->process->cpu_ns += (uint64_t)ns;
	}
	double cold = ns < t->cold_ns ? ns : t->cold_ns;
	t->cold_ns -= cold;
	double work = (ns - cold) / t->factor;
	if (work > t->left) work = t->left;
	if (!t->spinning) t->left -= work;
	if (t->op && t->op->n_uses) {
		count_traffic(e, t, c->node, work);
		t->progress += work;
	}
	take_samples(e, t, ns);
}

/* ---- how full memories and links are ---------------------------------------------------------------------------- */

/* The stretch settles where what is asked for is what is served: it grows by as much as the load exceeded that,
 * and shrinks likewise, but not below what queueing at this load takes. */
static void settle_stretch(double *stretch, double load, double knee)
{
	double full = *stretch > 1 ? *stretch * load : load;
	double queue = 1 + knee * pow(load < 1 ? load : 1, KNEE_POWER);
	*stretch = full < 1 ? 1 : full > STRETCH_MOST ? STRETCH_MOST : full;
	if (*stretch < queue && load < 1) *stretch = queue;
}

static void measure(struct engine *e)
{
	double ns = (double)(e->now - e->last_tick);
	const struct sim_params *p = &e->machine->params;
	for (unsigned j = 0; j < e->n_nodes; j++) {
		double bytes = 0;
		for (unsigned i = 0; i < e->n_nodes; i++) {
			bytes += e->traffic[i][j];
			if (i != j) settle_stretch(&e->link_stretch[i][j], e->traffic[i][j] / (ns * p->link_gbs), p->knee);
			e->traffic[i][j] = 0;
		}
		settle_stretch(&e->node_stretch[j], bytes / (ns * p->node_gbs), p->knee);
	}
	e->last_tick = e->now;
	update_cost(e);
}

static void tick(struct engine *e)
{
	for (unsigned c = 0; c < e->n_cpus; c++) engine_settle(e, c);
	measure(e);
	for (unsigned c = 0; c < e->n_cpus; c++)
		if (e->cpu[c].current && e->cpu[c].current->op) engine_pace(e, c);
	os_balance(e);
	heap_set(&e->heap, EVENT_TICK, e->now + TICK_NS);
}

/* ---- events --------------------------------------------------------------------------------------------------- */

void engine_sleep_until(struct engine *e, struct task *t, uint64_t when)
{
	heap_set(&e->heap, task_event(e, t), when);
}

static void end_burst(struct engine *e, unsigned cpu)
{
	struct task *t = e->cpu[cpu].current;
	t->left = 0;
	if (t->kind == TASK_PROGRAM) {
		e->acting = t;
		program_go_on(e, t);
		e->acting = NULL;
	} else {
		t->state = TASK_BLOCKED;
		if (t->kind == TASK_HELPER) e->helper_done = true;
	}
	if (t->state != TASK_RUNNING) os_leave(e, cpu);
	else if (e->cpu[cpu].waiting && e->now >= e->cpu[cpu].slice_end) os_turn(e, cpu);
	else engine_pace(e, cpu);
	if (t->kind == TASK_NOISE) {
		t->next = e->noise_pool;
		e->noise_pool = t;
	}
	engine_reap(e, t);
}

static void cpu_event(struct engine *e, unsigned cpu)
{
	struct cpu *c = &e->cpu[cpu];
	engine_settle(e, cpu);
	if (!c->current) heap_set(&e->heap, EVENT_CPU + cpu, HEAP_NEVER);
	else if (!c->current->spinning && c->current->cold_ns + c->current->left * c->current->factor < DONE_NS) end_burst(e, cpu);
	else if (c->waiting && e->now >= c->slice_end) os_turn(e, cpu);
	else engine_pace(e, cpu);
}

static void task_event_now(struct engine *e, struct task *t)
{
	heap_set(&e->heap, task_event(e, t), HEAP_NEVER);
	e->asleep--;
	os_wake(e, t);
}

static void handle(struct engine *e, uint32_t id)
{
	e->counts.events++;
	if (id >= EVENT_CPU + e->n_cpus) task_event_now(e, e->task[id - EVENT_CPU - e->n_cpus]);
	else if (id >= EVENT_CPU) cpu_event(e, id - EVENT_CPU);
	else if (id == EVENT_TICK) tick(e);
	else {
		os_noise(e);
		heap_set(&e->heap, EVENT_NOISE, e->now + (uint64_t)os_noise_wait(e) + 1);
	}
}

bool engine_done(const struct engine *e)
{
	return !e->alive || e->stuck || (e->workload->limit_ns > 0 && (double)e->now >= e->workload->limit_ns);
}

/* Nobody runs who could let those go on that wait. */
static bool is_stuck(const struct engine *e)
{
	return e->alive && !e->asleep && e->runnable == e->spinning;
}

static void advance(struct engine *e, uint64_t until, const bool *stop)
{
	if (e->workload->limit_ns > 0 && (double)until > e->workload->limit_ns) until = (uint64_t)e->workload->limit_ns;
	while (!*stop && heap_time(&e->heap) <= until && !engine_done(e)) {
		e->now = heap_time(&e->heap);
		handle(e, e->heap.entry[0].id);
		if (is_stuck(e)) e->stuck = true;
	}
	if (!*stop && !engine_done(e) && e->now < until && until != HEAP_NEVER - 1) e->now = until;
}

void engine_run(struct engine *e, uint64_t until)
{
	advance(e, until, &e->called);
	for (unsigned c = 0; c < e->n_cpus; c++) engine_settle(e, c);
}

void engine_help(struct engine *e, double ns)
{
	if (ns < 1) return;
	if (!e->helper && !(e->helper = engine_add_task(e, TASK_HELPER))) return;
	e->helper->left += ns;
	e->helper_done = false;
	if (e->helper->state == TASK_BLOCKED) os_wake(e, e->helper);
	advance(e, HEAP_NEVER - 1, &e->helper_done);
}

unsigned engine_stuck_line(const struct engine *e)
{
	for (unsigned i = 0; i < e->n_tasks; i++) {
		const struct task *t = e->task[i];
		if (t->kind == TASK_PROGRAM && (t->state == TASK_BLOCKED || t->spinning) && t->at) return t->at->line;
	}
	return 0;
}
