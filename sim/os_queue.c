/* Who waits for a CPU: two queues for each, those that woke and those whose turn ended. */
#include "os_queue.h"

static void push(struct task_queue *q, struct task *t, bool first)
{
	t->next = first ? q->head : NULL;
	t->before = first ? NULL : q->tail;
	if (t->next) t->next->before = t;
	else q->tail = t;
	if (t->before) t->before->next = t;
	else q->head = t;
}

static void unlink_task(struct task_queue *q, struct task *t)
{
	if (t->before) t->before->next = t->next;
	else q->head = t->next;
	if (t->next) t->next->before = t->before;
	else q->tail = t->before;
	t->next = t->before = NULL;
}

void os_set_state(struct engine *e, struct task *t, enum task_state state)
{
	bool was = t->state == TASK_READY || t->state == TASK_RUNNING, is = state == TASK_READY || state == TASK_RUNNING;
	if (t->kind == TASK_PROGRAM && was != is) e->runnable += is ? 1u : -1u;
	t->state = (uint8_t)state;
}

unsigned os_load(const struct engine *e, unsigned cpu)
{
	return e->cpu[cpu].waiting + (e->cpu[cpu].current != NULL);
}

void os_enqueue(struct engine *e, struct task *t, unsigned cpu, bool woken, bool first)
{
	struct cpu *c = &e->cpu[cpu];
	os_set_state(e, t, TASK_READY);
	t->cpu = (uint16_t)cpu;
	t->woken = woken;
	push(woken ? &c->woken : &c->normal, t, first);
	c->waiting++;
	e->node_waiting[c->node]++;
	e->waiting++;
}

void os_dequeue(struct engine *e, struct task *t)
{
	struct cpu *c = &e->cpu[t->cpu];
	unlink_task(t->woken ? &c->woken : &c->normal, t);
	c->waiting--;
	e->node_waiting[c->node]--;
	e->waiting--;
}
