/* A plan: moves in the order in which they are worth doing, each with its reason, gain and cost. It can
 * be printed, tested and thrown away; nothing in it has happened yet. */
#ifndef NSCHED_PLAN_H
#define NSCHED_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum move_kind {
	MOVE_THREAD, /* to a node; from == to: bound where it runs, so that it stays */
	MOVE_PAGES,
};

struct move {
	enum move_kind kind;
	uint32_t thread;       /* MOVE_THREAD: its number in the registry */
	uint64_t page;         /* MOVE_PAGES: number of the first page */
	uint32_t pages;
	uint32_t range;        /* where the gate let `pages` go of more: the pages that they may be of; else 0 */
	int16_t from, to;      /* logical nodes; from is -1 where it is not known or mixed */
	uint16_t support;      /* permille of the thing's traffic that is on `to` afterwards */
	bool again;            /* it has been moved before: wants a clear case */
	float gain_ns_per_s;   /* saved in each second that the program goes on */
	float cost_ns;         /* of the move itself */
	const char *reason;    /* a literal */
};

struct plan {
	struct move *move;
	unsigned n, room;
};

void plan_clear(struct plan *plan);
void plan_free(struct plan *plan);

/* Adds a copy; joins it to the last one where both move neighbouring pages the same way. -ENOMEM. */
int plan_add(struct plan *plan, const struct move *move);

/* Best first: threads before pages (they are cheap, and pages follow them), then gain by cost. */
void plan_sort(struct plan *plan);

#endif
