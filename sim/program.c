/* What tasks do, line by line: each line either makes a burst of computing, blocks, or takes no time. */
#include <errno.h>
#include <stdlib.h>

#include "engine.h"
#include "placed.h"

enum {
	TOUCH_BATCH = 512,       /* pages touched between two looks at where the thread runs */
	LINES_IN_NO_TIME = 4096, /* then a microsecond passes, so that a loop without anything in it takes time too */
};

enum outcome { GO_ON, COMPUTE, STOP };  /* the next line at once; a burst has been made; blocked, asleep or ended */

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static struct piece *region_of(struct engine *e, struct task *t, unsigned memory)
{
	const struct wl_memory *m = &e->workload->memory[memory];
	struct piece **slot = m->scope == SCOPE_MACHINE ? e->region : m->scope == SCOPE_PROCESS ? t->process->region : t->own;
	if (!slot[m->slot]) slot[m->slot] = memory_add(&e->memory, (uint32_t)((m->bytes + MEMORY_PAGE - 1) / MEMORY_PAGE));
	return slot[m->slot];
}

/* The pages that a thread means by a part of a region. */
static void part_of(const struct engine *e, const struct task *t, const struct wl_use *use, const struct piece *r, uint32_t *first,
                    uint32_t *count)
{
	const struct wl_memory *m = &e->workload->memory[use->memory];
	uint64_t n = t->section->count, k = t->index, pages = r->pages;
	*first = 0;
	*count = r->pages;
	if (use->part == PART_ALL || m->scope == SCOPE_THREAD) return;
	if (m->scope == SCOPE_MACHINE && t->process->section->count) {
		k += t->process->number % t->process->section->count * n;
		n *= t->process->section->count;
	}
	if (use->part == PART_BEFORE) k = (k + n - 1) % n;
	if (use->part == PART_BEHIND) k = (k + 1) % n;
	*first = (uint32_t)(k * pages / n);
	*count = (uint32_t)((k + 1) * pages / n) - *first;
	if (!*count) *count = 1;
	if (*first + *count > r->pages) *first = r->pages - *count;
}

static uint32_t make_pages(struct engine *e, const struct task *t, unsigned memory, struct piece *r, uint32_t first, uint32_t count)
{
	if (e->placed) return placed_touch(e->placed, e, t, memory, r, first, count);
	return memory_touch(&e->memory, r, first, count, e->cpu[t->cpu].node);
}

/* Goes to the node of a touch, and back to where it may be when that is done. True: it has to go first. */
static bool pin(struct engine *e, struct task *t, const struct wl_op *op)
{
	if (op->node < 0 || (unsigned)op->node >= e->n_nodes || !e->machine->known.node[op->node].n_cpus || t->pinned || e->placed) return false;
	t->pinned = true;
	t->nodes_before = t->nodes;
	t->nodes = 1ull << op->node;
	t->state = TASK_ASLEEP;
	e->asleep++;
	engine_sleep_until(e, t, e->now + 1);
	return true;
}

static void unpin(struct task *t)
{
	if (!t->pinned) return;
	t->pinned = false;
	t->nodes = t->nodes_before;
}

static enum outcome do_touch(struct engine *e, struct task *t, const struct wl_op *op)
{
	if (pin(e, t, op)) return STOP;
	struct piece *r = region_of(e, t, op->use[0].memory);
	uint32_t first, count, made = 0;
	if (!r) return GO_ON;
	part_of(e, t, &op->use[0], r, &first, &count);
	while (t->step < count && !made) {
		uint32_t n = count - (uint32_t)t->step < TOUCH_BATCH ? count - (uint32_t)t->step : TOUCH_BATCH;
		made = make_pages(e, t, op->use[0].memory, r, first + (uint32_t)t->step, n);
		t->step += n;
	}
	if (t->step >= count) {
		t->pc++;
		t->step = 0;
		unpin(t);
	}
	t->left = made * e->machine->params.touch_ns;
	return made ? COMPUTE : GO_ON;
}

/* What was never touched is now. */
static bool resolve(struct engine *e, struct task *t, const struct wl_op *op)
{
	uint32_t made = 0;
	for (unsigned u = 0; u < op->n_uses; u++) {
		struct piece *r = region_of(e, t, op->use[u].memory);
		uint32_t first, count;
		if (!r) return false;
		if (t->resolved != op) {
			part_of(e, t, &op->use[u], r, &first, &count);
			t->use[u] = memory_window(&e->memory, r, first, count);
			t->version = 0;
		}
		struct window *w = t->use[u];
		if (!w) return false;
		if (w->present < w->count) made += make_pages(e, t, op->use[u].memory, r, w->first, w->count);
	}
	t->resolved = op;
	t->cold_ns += made * e->machine->params.touch_ns;
	return true;
}

static enum outcome do_run(struct engine *e, struct task *t, const struct wl_op *op)
{
	t->pc++;
	t->left = op->spread > 0 ? chance_around(&e->chance, op->ns, op->spread) : op->ns;
	if (!op->n_uses) return COMPUTE;
	if (!resolve(e, t, op)) {
		t->resolved = NULL;
		return COMPUTE;
	}
	t->op = op;
	return COMPUTE;
}

/* ---- waiting for each other ------------------------------------------------------------------------------------------ */

static void release(struct engine *e, struct task *t)
{
	if (!t->spinning) {
		os_wake(e, t);
		return;
	}
	if (t->state == TASK_RUNNING) engine_settle(e, t->cpu);
	t->spinning = false;
	t->left = 0;
	e->spinning--;
	if (t->state == TASK_RUNNING) engine_pace(e, t->cpu);
}

static void open_if_full(struct engine *e, struct barrier *b)
{
	if (!b->arrived || b->arrived < b->members) return;
	struct task *t = b->waiting;
	b->waiting = NULL;
	b->arrived = 0;
	while (t) {
		struct task *next = t->wait_next;
		t->wait_next = NULL;
		release(e, t);
		t = next;
	}
}

static unsigned section_of(const struct engine *e, const struct task *t)
{
	return (unsigned)(t->section - e->workload->thread);
}

static enum outcome do_barrier(struct engine *e, struct task *t, const struct wl_op *op)
{
	struct barrier *b = op->everywhere ? &e->everywhere[section_of(e, t)] : &t->process->barrier[section_of(e, t)];
	t->pc++;
	if (b->arrived + 1 >= b->members) {
		b->arrived++;
		open_if_full(e, b);
		return GO_ON;
	}
	b->arrived++;
	t->wait_next = b->waiting;
	b->waiting = t;
	t->spinning = op->spin;
	if (!op->spin) {
		t->state = TASK_BLOCKED;
		return STOP;
	}
	e->spinning++;
	t->left = 0;
	return COMPUTE;
}

static enum outcome do_sleep(struct engine *e, struct task *t, const struct wl_op *op)
{
	double ns = op->spread > 0 ? chance_around(&e->chance, op->ns, op->spread) : op->ns;
	t->pc++;
	t->state = TASK_ASLEEP;
	e->asleep++;
	engine_sleep_until(e, t, e->now + (uint64_t)ns + 1);
	return STOP;
}

static enum outcome do_wait(struct task *t, const struct wl_op *op)
{
	if (t->children < op->count) {
		t->pc++;
		return GO_ON;
	}
	t->below = (unsigned)op->count;
	t->state = TASK_BLOCKED;
	return STOP;
}

/* ---- messages --------------------------------------------------------------------------------------------------------- */

static struct task *receiver(struct engine *e, const struct task *t, const struct wl_op *op, uint64_t step)
{
	const struct wl_thread *section = &e->workload->thread[op->target];
	struct process *p = t->process;
	unsigned n = p->section->count;
	if (op->to == TO_EACH) return p->member[op->target] ? p->member[op->target][step] : NULL;
	if (op->to == TO_NEXT || op->to == TO_PREVIOUS) {
		if (p->number >= n) return NULL;
		unsigned other = op->to == TO_NEXT ? (p->number + 1) % n : (p->number + n - 1) % n;
		p = e->process[e->first_process[p->section - e->workload->process] + other];
	}
	return p->member[op->target] ? p->member[op->target][t->index % section->count] : NULL;
}

static void deliver(struct engine *e, struct task *to, unsigned from_node, double bytes)
{
	to->from[(to->inbox_first + to->inbox++) % INBOX] = (uint16_t)from_node;
	e->counts.messages++;
	if (bytes > 0 && to->last_cpu != NO_CPU) e->traffic[e->cpu[to->last_cpu].node][from_node] += bytes;
	if (!to->receiving) return;
	to->receiving = false;
	os_wake(e, to);
}

static void wait_for_room(struct task *t, struct task *to)
{
	struct task **last = &to->senders;
	while (*last) last = &(*last)->wait_next;
	*last = t;
	t->wait_next = NULL;
	t->state = TASK_BLOCKED;
}

/* One message a burst, so that others come between; it is there when the burst is over. */
static enum outcome do_send(struct engine *e, struct task *t, const struct wl_op *op)
{
	uint64_t n = op->to == TO_EACH ? e->workload->thread[op->target].count : 1;
	while (t->step < n) {
		struct task *to = receiver(e, t, op, t->step);
		if (to && to->inbox == INBOX) {
			wait_for_room(t, to);
			return STOP;
		}
		if (to && !t->paid) {
			t->paid = true;
			t->left = e->machine->params.message_ns + op->bytes / e->machine->params.refill_gbs;
			return COMPUTE;
		}
		t->paid = false;
		t->step++;
		if (to) deliver(e, to, e->cpu[t->cpu].node, op->bytes);
	}
	t->step = 0;
	t->pc++;
	return GO_ON;
}

/* A receiver has room, or is gone. */
static void let_senders(struct engine *e, struct task *t, unsigned n)
{
	while (n-- && t->senders) {
		struct task *sender = t->senders;
		t->senders = sender->wait_next;
		sender->wait_next = NULL;
		os_wake(e, sender);
	}
}

static enum outcome do_receive(struct engine *e, struct task *t, const struct wl_op *op)
{
	unsigned taken = 0, here = e->cpu[t->cpu].node;
	const struct sim_params *p = &e->machine->params;
	if (!t->inbox) {
		t->receiving = true;
		t->state = TASK_BLOCKED;
		return STOP;
	}
	t->left = 0;
	for (; t->inbox && t->step < op->count; t->step++, taken++) {
		unsigned from = t->from[t->inbox_first];
		double far = (double)e->machine->latency[here][from] / (double)e->machine->latency[here][here] - 1;
		t->left += p->message_ns * (1 + p->message_far * far) + op->bytes * (1 + far) / p->refill_gbs;
		t->inbox_first = (t->inbox_first + 1) % INBOX;
		t->inbox--;
	}
	if (t->step == op->count) {
		t->step = 0;
		t->pc++;
	}
	let_senders(e, t, taken);
	return COMPUTE;
}

/* ---- beginning and ending ------------------------------------------------------------------------------------------------ */

static struct task *new_task(struct engine *e, struct process *p, unsigned section, unsigned index)
{
	const struct wl_thread *s = &e->workload->thread[section];
	struct task *t = engine_add_task(e, TASK_PROGRAM);
	if (!t) return NULL;
	t->own = calloc(p->section->thread_memories + 1, sizeof *t->own);
	if (!p->member[section]) p->member[section] = calloc(s->count, sizeof *p->member[section]);
	if (!t->own || !p->member[section]) {
		e->stuck = true;
		return NULL;
	}
	t->section = s;
	t->process = p;
	t->index = index;
	t->parent = UINT32_MAX;
	p->member[section][index] = t;
	p->tasks++;
	e->alive += !p->section->aside;
	unsigned node = e->placed ? placed_node(e->placed, e, t) : PLACED_FREE;
	if (node != PLACED_FREE) t->nodes = 1ull << node;
	if (e->born) e->born(e->watch_arg, t);
	return t;
}

static void add_members(struct engine *e, struct process *p, unsigned section)
{
	if (p->barrier[section].members) return;
	p->barrier[section].members = e->workload->thread[section].count;
	e->everywhere[section].members += e->workload->thread[section].count;
}

static struct process *new_process(struct engine *e, unsigned section, unsigned number)
{
	const struct workload *w = e->workload;
	struct process *p = calloc(1, sizeof *p);
	if (!p) return NULL;
	if (e->n_processes == e->room_processes) {
		unsigned room = e->room_processes ? e->room_processes * 2 : 64;
		struct process **grown = realloc(e->process, room * sizeof(*grown));
		if (!grown) {
			free(p);
			return NULL;
		}
		e->process = grown;
		e->room_processes = room;
	}
	p->section = &w->process[section];
	p->number = number;
	p->region = calloc(p->section->memories + 1, sizeof *p->region);
	p->barrier = calloc(w->n_threads, sizeof *p->barrier);
	p->member = calloc(w->n_threads, sizeof *p->member);
	p->id = e->n_processes;
	e->process[e->n_processes++] = p;
	if (!p->region || !p->barrier || !p->member) return NULL;
	for (unsigned s = 0; s < w->n_threads; s++)
		if (w->thread[s].process == section) add_members(e, p, s);
	return p;
}

void program_free_process(const struct engine *e, struct process *p)
{
	for (unsigned s = 0; p->member && s < e->workload->n_threads; s++) free(p->member[s]);
	free(p->region);
	free(p->barrier);
	free(p->member);
	free(p);
}

static struct task *begin_process(struct engine *e, unsigned section, unsigned number)
{
	struct process *p = new_process(e, section, number);
	return p ? new_task(e, p, (unsigned)p->section->first_thread, 0) : NULL;
}

int program_begin(struct engine *e)
{
	const struct workload *w = e->workload;
	int first_cpu = (int)chance_below(&e->chance, e->n_cpus);
	for (unsigned s = 0; s < w->n_processes; s++) {
		e->first_process[s] = e->n_processes;
		for (unsigned i = 0; i < w->process[s].count; i++)
			if (!new_process(e, s, i)) return -ENOMEM;
	}
	/* the first thread of each process is there once for each of its section's count */
	for (unsigned i = 0; i < e->n_processes; i++) {
		unsigned section = (unsigned)e->process[i]->section->first_thread;
		for (unsigned k = 0; k < w->thread[section].count; k++)
			if (!new_task(e, e->process[i], section, k)) return -ENOMEM;
	}
	for (unsigned i = 0, n = e->n_tasks; i < n; i++) os_start(e, e->task[i], first_cpu);
	e->called = true;
	return 0;
}

/* A mask is inherited, as clone has it. */
static void inherit(struct task *new, const struct task *parent)
{
	if (!parent->mask || new->nodes != UINT64_MAX) return;
	new->mask = malloc(sizeof *new->mask);
	if (!new->mask) return;
	*new->mask = *parent->mask;
	new->nodes = parent->nodes;
}

static enum outcome child(struct engine *e, struct task *t, struct task *new, uint64_t n)
{
	if (new) {
		new->parent = t->id;
		t->children++;
		inherit(new, t);
		os_start(e, new, t->cpu);
	}
	if (++t->step >= n) {
		t->step = 0;
		t->pc++;
	}
	t->left = 1000 * e->machine->params.fork_us;
	return COMPUTE;
}

static enum outcome do_start(struct engine *e, struct task *t, const struct wl_op *op)
{
	struct process *p = t->process;
	if (!t->step) add_members(e, p, op->target);
	struct task *is = p->member[op->target] ? p->member[op->target][t->step] : NULL;
	return child(e, t, is ? NULL : new_task(e, p, op->target, (unsigned)t->step), op->count);
}

static enum outcome do_spawn(struct engine *e, struct task *t, const struct wl_op *op)
{
	if (!op->count) {
		t->pc++;
		return GO_ON;
	}
	e->called = true;
	return child(e, t, begin_process(e, op->target, e->n_processes), op->count);
}

static void free_regions(struct engine *e, struct piece **slot, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (slot[i]) memory_remove(&e->memory, slot[i]);
}

static void end_of_child(struct engine *e, struct task *parent)
{
	parent->children--;
	if (parent->state == TASK_DONE) engine_reap(e, parent);
	else if (parent->below && parent->children < parent->below) {
		parent->below = 0;
		os_wake(e, parent);
	}
}

static void leave_barrier(struct engine *e, struct barrier *b)
{
	if (b->members) b->members--;
	open_if_full(e, b);
}

static enum outcome end(struct engine *e, struct task *t)
{
	struct process *p = t->process;
	unsigned section = section_of(e, t);
	t->state = TASK_DONE;
	t->ended = e->now;
	if (!p->section->aside) {
		e->alive--;
		e->counts.tasks++;
		e->counts.task_ns += t->cpu_ns;
	}
	if (e->died) e->died(e->watch_arg, t);
	p->member[section][t->index] = NULL;
	let_senders(e, t, UINT32_MAX);
	leave_barrier(e, &p->barrier[section]);
	leave_barrier(e, &e->everywhere[section]);
	free_regions(e, t->own, p->section->thread_memories);
	if (!--p->tasks) free_regions(e, p->region, p->section->memories);
	if (t->parent != UINT32_MAX) end_of_child(e, e->task[t->parent]);
	if (!e->alive) e->ended = e->now;
	return STOP;
}

/* ---- the line --------------------------------------------------------------------------------------------------------- */

static enum outcome do_repeat(struct task *t, const struct wl_op *op)
{
	t->pc = op->count ? t->pc + 1 : op->target + 1;
	if (op->count) t->loop[t->depth++] = op->count;
	return GO_ON;
}

static enum outcome do_end(struct task *t, const struct wl_op *op)
{
	if (--t->loop[t->depth - 1]) {
		t->pc = op->target + 1;
	} else {
		t->depth--;
		t->pc++;
	}
	return GO_ON;
}

static enum outcome do_line(struct engine *e, struct task *t, const struct wl_op *op)
{
	t->at = op;
	switch (op->verb) {
	case DO_TOUCH: return do_touch(e, t, op);
	case DO_RUN: return do_run(e, t, op);
	case DO_SLEEP: return do_sleep(e, t, op);
	case DO_BARRIER: return do_barrier(e, t, op);
	case DO_SEND: return do_send(e, t, op);
	case DO_RECEIVE: return do_receive(e, t, op);
	case DO_START: return do_start(e, t, op);
	case DO_SPAWN: return do_spawn(e, t, op);
	case DO_WAIT: return do_wait(t, op);
	case DO_REPEAT: return do_repeat(t, op);
	case DO_END: return do_end(t, op);
	case DO_MARK: break;
	}
	e->counts.marks += op->count;
	t->pc++;
	return GO_ON;
}

void program_go_on(struct engine *e, struct task *t)
{
	t->op = NULL;
	t->left = 0;
	for (unsigned lines = 0; lines < LINES_IN_NO_TIME; lines++) {
		enum outcome out = t->pc < t->section->n_ops ? do_line(e, t, &t->section->op[t->pc]) : end(e, t);
		if (out == STOP || out == COMPUTE) return;
	}
	t->left = 1000;
}
