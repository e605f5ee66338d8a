#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pure/snapshot_words.h"
#include "pure/pure.h"

struct writer {
	char *text;
	size_t bytes, length; /* length may be beyond bytes: what did not fit is counted */
};

__attribute__((format(__printf__, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	size_t room = w->length < w->bytes ? w->bytes - w->length : 0;
	int n = vsnprintf(room ? w->text + w->length : NULL, room, format, args);
	va_end(args);
	if (n > 0) w->length += (size_t)n;
}

static void put_real(struct writer *w, const char *before, float number)
{
	char text[32];
	words_print_real(number, text);
	put(w, "%s%s", before, text);
}

static void put_memory(struct writer *w, uint64_t bytes)
{
	unsigned unit = 0;
	while (unit < 3 && bytes && bytes % 1024 == 0) bytes /= 1024, unit++;
	put(w, " memory %llu%s", (unsigned long long)bytes, (const char *[]){ "", "KiB", "MiB", "GiB" }[unit]);
}

static void put_machine(struct writer *w, const struct machine *m)
{
	for (unsigned n = 0; n < m->n_nodes; n++) {
		const struct machine_node *node = &m->node[n];
		put(w, "node %u os %u", n, node->os);
		put_memory(w, node->memory_bytes);
		put_real(w, " serves ", node->lines_per_ns);
		for (unsigned c = node->first_cpu; c < (unsigned)node->first_cpu + node->n_cpus; c++)
			put(w, "%s%u:%u:%u", c == node->first_cpu ? " cpus " : " ", m->cpu[c].os, m->cpu[c].core, m->cpu[c].l3);
		put(w, "\n");
	}
	for (unsigned n = 0; n < m->n_nodes; n++) {
		put(w, "latency %u to", n);
		for (unsigned to = 0; to < m->n_nodes; to++) put_real(w, " ", m->latency_ns[n][to]);
		put(w, "\n");
	}
}

static void put_node(struct writer *w, const char *before, int node)
{
	if (node < 0) put(w, "%s-", before);
	else put(w, "%s%d", before, node);
}

static void put_fixed(struct writer *w, bool fixed, uint32_t moved_ms_ago)
{
	if (fixed) put(w, " fixed");
	if (moved_ms_ago != UINT32_MAX) put(w, " moved %u", moved_ms_ago);
}

static void put_past(struct writer *w, const struct situation *s)
{
	if (s->step) put(w, "step %u\n", s->step);
	for (unsigned n = 0; n < s->machine->n_nodes; n++) {
		const struct situation_past *past = &s->past[n];
		if (!(past->load > 0) && !past->short_ms) continue;
		put(w, "past %u", n);
		put_real(w, " load ", past->load);
		put(w, " short %u\n", past->short_ms);
	}
}

static void put_thread(struct writer *w, const struct situation_thread *t)
{
	put(w, "thread %u", t->number);
	put_node(w, " on ", t->node);
	if (t->load < 1 || t->load > 1) put_real(w, " load ", t->load);
	if (t->bound) put(w, " bound");
	put_fixed(w, t->fixed, t->moved_ms_ago);
	if (t->home >= 0) put(w, " home %d", t->home);
	if (t->process) put(w, " process %u", t->process);
	if (t->times) put(w, " times %u", t->times);
	put(w, "\n");
}

static void put_talk(struct writer *w, const struct situation *s, const struct situation_thread *t)
{
	if (t->n_talks) put(w, "talk %u", t->number);
	for (unsigned k = t->first_talk; k < t->first_talk + t->n_talks; k++) {
		put(w, "%s%u", k > t->first_talk ? " " : " with ", s->thread[s->talk[k].other].number);
		put_real(w, ":", s->talk[k].rate);
	}
	if (t->n_talks) put(w, "\n");
}

static void put_chunk(struct writer *w, const struct situation *s, const struct situation_chunk *c)
{
	put(w, "chunk %#llx pages %u", (unsigned long long)c->page, c->pages);
	for (unsigned k = 0; k < SITUATION_WHERE && c->where[k].node >= 0; k++) {
		put(w, "%s%d", k ? " " : " on ", c->where[k].node);
		put_real(w, ":", c->where[k].share);
	}
	for (unsigned u = 0; u < c->n_uses; u++) {
		const struct situation_use *use = &s->use[c->first_use + u];
		put(w, "%s%u", u ? " " : " by ", s->thread[use->thread].number);
		put_real(w, ":", use->rate);
	}
	if (c->stands > 1) put_real(w, " stands ", c->stands);
	put_fixed(w, c->fixed, c->moved_ms_ago);
	if (c->last >= 0) put(w, " last %d", c->last);
	put(w, "\n");
}

size_t snapshot_print(const struct situation *s, char *text, size_t bytes)
{
	struct writer w = { text, bytes, 0 };
	put(&w, "situation 1\n");
	put_machine(&w, s->machine);
	put(&w, "age_ns %llu\n", (unsigned long long)s->age_ns);
	put_real(&w, "page_move_ns ", s->page_move_ns);
	put_real(&w, "\nthread_move_ns ", s->thread_move_ns);
	put(&w, "\n");
	put_past(&w, s);
	for (unsigned t = 0; t < s->n_threads; t++) put_thread(&w, &s->thread[t]);
	for (unsigned t = 0; t < s->n_threads; t++) put_talk(&w, s, &s->thread[t]);
	for (unsigned c = 0; c < s->n_chunks; c++) put_chunk(&w, s, &s->chunk[c]);
	return w.length;
}

static void put_move(struct writer *w, const struct move *m)
{
	if (m->kind == MOVE_THREAD) put(w, "thread %u", m->thread);
	else put(w, "pages %#llx count %u", (unsigned long long)m->page, m->pages);
	put_node(w, " from ", m->from);
	put(w, " to %d support %u", m->to, m->support);
	put_real(w, " gain ", m->gain_ns_per_s);
	put_real(w, " cost ", m->cost_ns);
	put(w, "%s because %s\n", m->again ? " again" : "", m->reason);
}

size_t snapshot_print_plan(const struct plan *plan, char *text, size_t bytes)
{
	struct writer w = { text, bytes, 0 };
	put(&w, "plan 1\n");
	for (unsigned i = 0; i < plan->n; i++) put_move(&w, &plan->move[i]);
	return w.length;
}
