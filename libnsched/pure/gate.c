#include "pure/gate.h"

#include <string.h>

#include "pure/pure.h"

/* A move must give back this many times what it costs until the horizon: a page's price and a thread's
 * cold cache are known to about that factor. */
#define PAY_BACK 1.5f

/* Going back on an earlier move asks for this many permille of the traffic on the new side: the rule
 * by which the kernel's NUMA balancing keeps shared pages from bouncing (task_numa_fault, 3/4). */
enum { REVERSAL_SUPPORT = 750 };

static const struct situation_thread *find_thread(const struct situation *s, uint32_t number)
{
	for (unsigned t = 0; t < s->n_threads; t++)
		if (s->thread[t].number == number) return &s->thread[t];
	return NULL;
}

/* The chunk with the first page of a move: chunks are sorted. */
static const struct situation_chunk *find_chunk(const struct situation *s, uint64_t page)
{
	unsigned low = 0, high = s->n_chunks;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (s->chunk[middle].page + s->chunk[middle].pages <= page) low = middle + 1;
		else high = middle;
	}
	return low < s->n_chunks && s->chunk[low].page <= page ? &s->chunk[low] : NULL;
}

static uint32_t moved_ms_ago(const struct situation *s, const struct move *move)
{
	if (move->kind == MOVE_THREAD) {
		const struct situation_thread *t = find_thread(s, move->thread);
		return t ? t->moved_ms_ago : UINT32_MAX;
	}
	const struct situation_chunk *c = find_chunk(s, move->page);
	return c ? c->moved_ms_ago : UINT32_MAX;
}

static bool pays_back(const struct situation *s, const struct move *move)
{
	float horizon_s = (float)situation_horizon_ns(s) / 1e9f;
	/* a thread that leaves a crowded node gains CPU time, which the estimate of memory does not see */
	if (move->kind == MOVE_THREAD) return true;
	return move->gain_ns_per_s * horizon_s > PAY_BACK * move->cost_ns;
}

static void cut(struct move *move, uint64_t pages)
{
	float part = (float)pages / (float)move->pages;
	move->range = move->pages;
	move->pages = (uint32_t)pages;
	move->gain_ns_per_s *= part;
	move->cost_ns *= part;
}

void gate_filter(struct plan *plan, const struct situation *s, const struct gate_limits *limits, struct gate_held *held)
{
	uint64_t budget = limits->budget_pages;
	unsigned kept = 0;
	memset(held, 0, sizeof *held);
	for (unsigned i = 0; i < plan->n; i++) {
		struct move *move = &plan->move[i];
		bool hold = move->kind == MOVE_THREAD && move->from == move->to;
		if (!pays_back(s, move)) held->cost++;
		else if (!hold && moved_ms_ago(s, move) < limits->cooldown_ms) held->cooldown++;
		else if (move->kind == MOVE_PAGES && move->again && move->support < REVERSAL_SUPPORT) held->reversal++;
		else if (move->kind == MOVE_PAGES && !budget) held->budget++;
		else {
			if (move->kind == MOVE_PAGES && move->pages > budget) cut(move, budget);
			if (move->kind == MOVE_PAGES) budget -= move->pages;
			plan->move[kept++] = *move;
		}
	}
	plan->n = kept;
}
