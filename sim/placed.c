#include "placed.h"

#include <errno.h>
#include <stdlib.h>

#include "engine.h"

enum { SPREAD_PAGES = 64 };  /* memory of all lies in turns of so many pages on the nodes of its users */

/* ---- places ------------------------------------------------------------------------------------------------------ */

static unsigned threads_of(const struct workload *w, unsigned process)
{
	unsigned n = 0;
	for (unsigned s = 0; s < w->n_threads; s++)
		if (w->thread[s].process == process) n += w->thread[s].count;
	return n;
}

/* Processes that are spawned a known number of times: not inside a repeat. */
static unsigned spawned(const struct workload *w)
{
	unsigned n = 0;
	for (unsigned s = 0; s < w->n_threads; s++) {
		unsigned depth = 0;
		for (unsigned i = 0; i < w->thread[s].n_ops; i++) {
			const struct wl_op *op = &w->thread[s].op[i];
			depth += op->verb == DO_REPEAT;
			depth -= op->verb == DO_END;
			if (op->verb == DO_SPAWN && !depth && op->count < 4096) n += (unsigned)op->count * w->process[w->thread[s].process].count;
		}
	}
	return n;
}

int placed_init(struct placed *p, const struct workload *w, unsigned nodes)
{
	*p = (struct placed){ .workload = w, .nodes = nodes };
	for (unsigned i = 0; i < w->n_processes; i++) p->fixed += w->process[i].count * threads_of(w, i);
	p->n = p->fixed + spawned(w);
	p->node = calloc(p->n + 1, 1);
	return p->node ? 0 : -ENOMEM;
}

/* The first place of a process that is there from the start. */
static unsigned first_place(const struct workload *w, unsigned section, unsigned number)
{
	unsigned place = 0;
	for (unsigned i = 0; i < section; i++) place += w->process[i].count * threads_of(w, i);
	return place + number * threads_of(w, section);
}

struct place placed_at(const struct placed *p, unsigned place)
{
	const struct workload *w = p->workload;
	unsigned at = 0, process = 0;
	for (unsigned i = 0; i < w->n_processes; i++)
		for (unsigned k = 0; k < w->process[i].count; k++, process++)
			for (unsigned s = 0; s < w->n_threads; s++) {
				unsigned count = w->thread[s].process == i ? w->thread[s].count : 0;
				if (place < at + count)
					return (struct place){ process, k * count + place - at, count * w->process[i].count };
				at += count;
			}
	return (struct place){ process + place - p->fixed, place - p->fixed, p->n - p->fixed };
}

static unsigned place_in(const struct workload *w, const struct process *process, unsigned section, unsigned index)
{
	unsigned number = (unsigned)(process->section - w->process), place = first_place(w, number, process->number);
	for (unsigned s = 0; s < section; s++)
		if (w->thread[s].process == number) place += w->thread[s].count;
	return place + index;
}

static unsigned node_at(const struct placed *p, const struct engine *e, const struct process *process, unsigned section, unsigned index)
{
	if (process->number < process->section->count) return p->node[place_in(p->workload, process, section, index)];
	unsigned initial = 0;
	for (unsigned i = 0; i < p->workload->n_processes; i++) initial += p->workload->process[i].count;
	unsigned place = p->fixed + process->number - initial;
	(void)e;
	return place < p->n ? p->node[place] : PLACED_FREE;
}

unsigned placed_node(const struct placed *p, const struct engine *e, const struct task *t)
{
	return node_at(p, e, t->process, (unsigned)(t->section - p->workload->thread), t->index);
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static bool uses(const struct wl_thread *s, unsigned memory, bool slice)
{
	for (unsigned i = 0; i < s->n_ops; i++)
		for (unsigned u = 0; s->op[i].verb == DO_RUN && u < s->op[i].n_uses; u++)
			if (s->op[i].use[u].memory == memory && (!slice || s->op[i].use[u].part == PART_SLICE)) return true;
	return false;
}

/* The section that uses the memory in slices, else one that uses it at all; -1: none does. */
static int user_section(const struct workload *w, unsigned memory, bool slice)
{
	for (unsigned s = 0; s < w->n_threads; s++)
		if (uses(&w->thread[s], memory, slice)) return (int)s;
	return -1;
}

static unsigned node_of_page(const struct placed *p, const struct engine *e, const struct task *t, unsigned memory, uint32_t page, uint32_t pages)
{
	const struct workload *w = p->workload;
	const struct wl_memory *m = &w->memory[memory];
	unsigned own = placed_node(p, e, t);
	int slices = p->even ? -1 : user_section(w, memory, true), all = user_section(w, memory, false);
	if (m->scope == SCOPE_THREAD || (slices < 0 && all < 0)) return own;
	const struct wl_thread *s = &w->thread[slices >= 0 ? slices : all];
	const struct process *process = t->process;
	unsigned n = s->count, k = slices >= 0 ? (unsigned)((uint64_t)page * n / pages) : page / SPREAD_PAGES % n;
	if (m->scope == SCOPE_MACHINE) {
		unsigned instances = w->process[s->process].count ? w->process[s->process].count : 1;
		k = slices >= 0 ? (unsigned)((uint64_t)page * n * instances / pages) : page / SPREAD_PAGES % (n * instances);
		process = e->process[e->first_process[s->process] + k / n];
		k %= n;
	}
	return node_at(p, e, process, (unsigned)(s - w->thread), k);
}

uint32_t placed_touch(const struct placed *p, struct engine *e, const struct task *t, unsigned memory, struct piece *piece, uint32_t first,
                      uint32_t count)
{
	uint32_t made = 0;
	for (uint32_t i = first; i < first + count && i < piece->pages; i++) {
		unsigned node = node_of_page(p, e, t, memory, i, piece->pages);
		made += memory_touch(&e->memory, piece, i, 1, node == PLACED_FREE ? e->cpu[t->cpu].node : node);
	}
	return made;
}
