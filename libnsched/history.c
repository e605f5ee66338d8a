#include "history.h"

#include <stdlib.h>
#include <string.h>

enum { NO_SHARE = 1001, TENTH = 10 };

void history_init(struct history *h)
{
	memset(h, 0, sizeof *h);
	h->steps_each = 1;
}

void history_free(struct history *h)
{
	free(h->move);
	memset(h, 0, sizeof *h);
}

void history_add_move(struct history *h, const struct history_move *move)
{
	if (h->n_moves == h->room && h->room < HISTORY_MOVES) {
		unsigned room = h->room ? h->room * 2 : 64;
		struct history_move *grown = realloc(h->move, room * sizeof *grown);
		if (grown) {
			h->move = grown;
			h->room = room;
		}
	}
	if (h->n_moves < h->room) h->move[h->n_moves++] = *move;
	else h->moves_not_kept++;
}

static void join_pairs(struct history *h)
{
	for (unsigned i = 0; i < HISTORY_BUCKETS / 2; i++) {
		h->bucket[i].local = h->bucket[2 * i].local + h->bucket[2 * i + 1].local;
		h->bucket[i].all = h->bucket[2 * i].all + h->bucket[2 * i + 1].all;
	}
	h->n_buckets = HISTORY_BUCKETS / 2;
	h->steps_each *= 2;
	h->steps_in_last = h->steps_each;
}

void history_add_share(struct history *h, float local, float all)
{
	if (!h->n_buckets || h->steps_in_last == h->steps_each) {
		if (h->n_buckets == HISTORY_BUCKETS) join_pairs(h);
		h->bucket[h->n_buckets].local = h->bucket[h->n_buckets].all = 0;
		h->n_buckets++;
		h->steps_in_last = 0;
	}
	h->bucket[h->n_buckets - 1].local += local;
	h->bucket[h->n_buckets - 1].all += all;
	h->steps_in_last++;
}

static unsigned permille(const struct history *h, unsigned from, unsigned to)
{
	double local = 0, all = 0;
	for (unsigned i = from; i < to; i++) {
		local += (double)h->bucket[i].local;
		all += (double)h->bucket[i].all;
	}
	return all > 0 ? (unsigned)(1000 * local / all + 0.5) : NO_SHARE;
}

/* The part of the buckets that saw anything: a serial start and a silent end are not the run. */
static unsigned seen(const struct history *h, unsigned *first)
{
	unsigned from = 0, to = h->n_buckets;
	while (from < to && !(h->bucket[from].all > 0)) from++;
	while (to > from && !(h->bucket[to - 1].all > 0)) to--;
	*first = from;
	return to;
}

static unsigned tenth_of(unsigned buckets)
{
	return (buckets + TENTH - 1) / TENTH;
}

unsigned history_local_first(const struct history *h)
{
	unsigned from, to = seen(h, &from);
	return permille(h, from, from + tenth_of(to - from));
}

unsigned history_local_last(const struct history *h)
{
	unsigned from, to = seen(h, &from);
	return permille(h, to - tenth_of(to - from), to);
}

unsigned history_local_now(const struct history *h)
{
	unsigned from, to = seen(h, &from);
	return to > from ? permille(h, to - 1, to) : NO_SHARE;
}
