#include "pure/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/load.h"
#include "pure/pure.h"

/* What a node's load of the looks before still counts: as in Linux 2.5.59, where a node's load was half of the
 * one before and that of now. */
#define LOAD_KEPT 0.5f

enum { FORGET_MS = 60000, TIMES_MOST = 15 };   /* a move is forgotten after a minute: the longest that the kernel's scan period gets */

/* Bound to another node than it was at the look before: it was moved. */
static void look_thread(struct past_thread *p, struct situation_thread *t, uint32_t passed_ms)
{
	int16_t node = t->bound && t->node >= 0 ? (int16_t)(t->node + 1) : 0;
	bool moved = node && p->node && node != p->node;
	if (!p->home) p->home = node;
	if (node) p->node = node;
	p->quiet_ms = moved ? 0 : p->quiet_ms + passed_ms;
	if (moved && p->times < TIMES_MOST) p->times++;
	if (p->quiet_ms >= FORGET_MS) {
		p->quiet_ms = 0;
		if (p->times) p->times--;
	}
	t->home = (int16_t)(p->home - 1);
	t->times = p->times;
}

static int look_threads(struct past *p, struct situation *s, uint64_t passed_ns)
{
	unsigned need = s->n_threads ? s->thread[s->n_threads - 1].number + 1 : 0;
	uint64_t passed_ms = passed_ns / 1000000;
	if (need > p->room_threads) {
		unsigned room = need > 2 * p->room_threads ? need : 2 * p->room_threads;
		struct past_thread *grown = realloc(p->thread, room * sizeof *grown);
		if (!grown) return -ENOMEM;
		memset(grown + p->room_threads, 0, (room - p->room_threads) * sizeof *grown);
		p->thread = grown;
		p->room_threads = room;
	}
	for (unsigned t = 0; t < s->n_threads; t++)
		look_thread(&p->thread[s->thread[t].number], &s->thread[t], passed_ms < FORGET_MS ? (uint32_t)passed_ms : FORGET_MS);
	return 0;
}

static void look_nodes(struct past *p, struct situation *s, uint64_t passed_ns)
{
	struct load load;
	load_of(&load, s, NULL);
	for (unsigned n = 0; n < s->machine->n_nodes; n++) {
		struct situation_past *node = &p->node[n];
		float now = s->machine->node[n].n_cpus ? load_per_cpu(&load, n) : 0;
		bool is_short = load_is_short(&load, n);
		uint64_t ms = is_short && p->steps ? node->short_ms + passed_ns / 1000000 : 0;
		node->load = !p->steps ? now : LOAD_KEPT * node->load + (1 - LOAD_KEPT) * now;
		node->short_ms = ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
		s->past[n] = *node;
	}
}

static int grow_chunks(struct past *p, unsigned n)
{
	if (n <= p->room_chunks) return 0;
	struct past_chunk *grown = realloc(p->chunk, n * sizeof *grown);
	if (!grown) return -ENOMEM;
	p->chunk = grown;
	p->room_chunks = n;
	return 0;
}

/* Both are sorted. A chunk that was halved, or made of two, since then has the past of what had its first page. */
static int look_chunks(struct past *p, struct situation *s)
{
	unsigned i = 0;
	for (unsigned c = 0; c < s->n_chunks; c++) {
		struct situation_chunk *chunk = &s->chunk[c];
		while (i < p->n_chunks && p->chunk[i].page + p->chunk[i].pages <= chunk->page) i++;
		chunk->last = i < p->n_chunks && p->chunk[i].page <= chunk->page ? p->chunk[i].node : (int16_t)-1;
	}
	p->n_chunks = 0;
	if (grow_chunks(p, s->n_chunks)) return -ENOMEM;
	for (unsigned c = 0; c < s->n_chunks; c++)
		p->chunk[c] = (struct past_chunk){ s->chunk[c].page, s->chunk[c].pages, (int16_t)situation_toucher(s, &s->chunk[c], NULL) };
	p->n_chunks = s->n_chunks;
	return 0;
}

int past_look(struct past *p, struct situation *s, uint64_t passed_ns, bool touches)
{
	int ret = look_threads(p, s, passed_ns);
	if (!ret && touches) ret = look_chunks(p, s);
	look_nodes(p, s, passed_ns);
	s->step = p->steps++;
	return ret;
}

void past_forget_thread(struct past *p, unsigned number)
{
	if (number < p->room_threads) p->thread[number] = (struct past_thread){ 0 };
}

void past_free(struct past *p)
{
	free(p->thread);
	free(p->chunk);
	memset(p, 0, sizeof *p);
}
