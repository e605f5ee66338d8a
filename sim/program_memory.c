/* How tasks touch memory: pages come to be where they run, or where they go for it. */
#include "placed.h"
#include "program.h"

enum { TOUCH_BATCH = 512 };  /* pages touched between two looks at where the thread runs */

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

enum outcome program_touch(struct engine *e, struct task *t, const struct wl_op *op)
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
bool program_resolve(struct engine *e, struct task *t, const struct wl_op *op)
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
