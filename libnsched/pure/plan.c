#include "pure/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

void plan_clear(struct plan *plan)
{
	plan->n = 0;
}

void plan_free(struct plan *plan)
{
	free(plan->move);
	memset(plan, 0, sizeof *plan);
}

static bool joins(const struct move *last, const struct move *move)
{
	return last->kind == MOVE_PAGES && move->kind == MOVE_PAGES && last->to == move->to && last->from == move->from &&
	       last->again == move->again && last->reason == move->reason && last->page + last->pages == move->page &&
	       move->pages <= UINT32_MAX - last->pages;
}

int plan_add(struct plan *plan, const struct move *move)
{
	struct move *last = plan->n ? &plan->move[plan->n - 1] : NULL;
	if (last && joins(last, move)) {
		last->support = (uint16_t)(((uint64_t)last->support * last->pages + (uint64_t)move->support * move->pages) /
		                           (last->pages + move->pages));
		last->pages += move->pages;
		last->gain_ns_per_s += move->gain_ns_per_s;
		last->cost_ns += move->cost_ns;
		return 0;
	}
	if (plan->n == plan->room) {
		unsigned room = plan->room ? plan->room * 2 : 64;
		struct move *grown = realloc(plan->move, room * sizeof *grown);
		if (!grown) return -ENOMEM;
		plan->move = grown;
		plan->room = room;
	}
	plan->move[plan->n++] = *move;
	return 0;
}

/* Gain by cost. What costs nothing (a hold) is worth its gain, or it would be worth as much as anything
 * else, and the order no order. */
static float worth(const struct move *move)
{
	return move->gain_ns_per_s / (move->cost_ns > 1 ? move->cost_ns : 1);
}

static int by_worth(const void *a, const void *b)
{
	const struct move *x = a, *y = b;
	if (x->kind != y->kind) return x->kind == MOVE_THREAD ? -1 : 1;
	float p = worth(x), q = worth(y);
	if (p > q || p < q) return p > q ? -1 : 1;
	if (x->kind == MOVE_THREAD) return (x->thread > y->thread) - (x->thread < y->thread);
	return (x->page > y->page) - (x->page < y->page);
}

void plan_sort(struct plan *plan)
{
	if (plan->n) qsort(plan->move, plan->n, sizeof *plan->move, by_worth);
}
