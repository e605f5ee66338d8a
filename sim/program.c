/* What tasks do, line by line: each line either makes a burst of computing, blocks, or takes no time. */
#include <errno.h>
#include <stdlib.h>

#include "placed.h"
#include "program.h"

enum {
	LINES_IN_NO_TIME = 4096, /* then a microsecond passes, so that a loop without anything in it takes time too */
};


/* ---- computing and waiting ----------------------------------------------------------------------------------------- */

static enum outcome do_run(struct engine *e, struct task *t, const struct wl_op *op)
{
	t->pc++;
	t->left = op->spread > 0 ? chance_around(&e->chance, op->ns, op->spread) : op->ns;
	if (!op->n_uses) return COMPUTE;
	if (!program_resolve(e, t, op)) {
		t->resolved = NULL;
		return COMPUTE;
	}
	t->op = op;
	t->op_began = e->now;
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
	else if (e->cpus) os_allow(e, t, e->cpus);
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
	bool placed = new->nodes != UINT64_MAX && !new->mask;
	if (!parent->mask || placed) return;
	if (!new->mask) new->mask = malloc(sizeof *new->mask);
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
	e->called = !e->workload->process[op->target].forked;
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

/* One that only starts others and waits for them is not counted among those whose CPU time is compared. */
static bool computes(const struct wl_thread *section)
{
	for (unsigned i = 0; i < section->n_ops; i++)
		if (section->op[i].verb == DO_RUN) return true;
	return false;
}

static enum outcome end(struct engine *e, struct task *t)
{
	struct process *p = t->process;
	unsigned section = section_of(e, t);
	t->state = TASK_DONE;
	t->ended = e->now;
	if (!p->section->aside) {
		e->alive--;
		e->counts.tasks += computes(t->section);
		e->counts.task_ns += computes(t->section) ? t->cpu_ns : 0;
	}
	if (e->died) e->died(e->watch_arg, t);
	p->member[section][t->index] = NULL;
	program_let_senders(e, t, UINT32_MAX);
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
	case DO_TOUCH: return program_touch(e, t, op);
	case DO_RUN: return do_run(e, t, op);
	case DO_SLEEP: return do_sleep(e, t, op);
	case DO_BARRIER: return do_barrier(e, t, op);
	case DO_SEND: return program_send(e, t, op);
	case DO_RECEIVE: return program_receive(e, t, op);
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
	if (t->op && t->section->openmp && e->visited) e->visited(e->watch_arg, t, t->op, e->now - t->op_began);
	t->op = NULL;
	t->left = 0;
	for (unsigned lines = 0; lines < LINES_IN_NO_TIME; lines++) {
		enum outcome out = t->pc < t->section->n_ops ? do_line(e, t, &t->section->op[t->pc]) : end(e, t);
		if (out == STOP || out == COMPUTE) return;
	}
	t->left = 1000;
}
