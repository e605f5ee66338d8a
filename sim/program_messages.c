/* What tasks say to each other. */
#include "program.h"

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
enum outcome program_send(struct engine *e, struct task *t, const struct wl_op *op)
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
void program_let_senders(struct engine *e, struct task *t, unsigned n)
{
	while (n-- && t->senders) {
		struct task *sender = t->senders;
		t->senders = sender->wait_next;
		sender->wait_next = NULL;
		os_wake(e, sender);
	}
}

enum outcome program_receive(struct engine *e, struct task *t, const struct wl_op *op)
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
	program_let_senders(e, t, taken);
	return COMPUTE;
}
