/* What happened, for the report: every move, and the share of local traffic over the run. */
#ifndef NSCHED_HISTORY_H
#define NSCHED_HISTORY_H

#include <pthread.h>
#include <stdint.h>

#include "pure/plan.h"

enum {
	HISTORY_MOVES = 16384,  /* moves kept; later ones are counted only */
	HISTORY_BUCKETS = 200,  /* times kept of the local share; when they are full, two become one */
};

struct history_move {
	uint64_t time_ns;       /* since the start */
	struct move move;       /* thread: the kernel's tid, nodes: the operating system's numbers */
	uint64_t gain_ns;       /* until the horizon that the gate saw */
	uint32_t moved, failed; /* pages, or 1 thread */
	char name[32];          /* of the range that it is in */
};

struct history {
	struct history_move *move;
	unsigned n_moves, room;
	uint64_t moves_not_kept;
	struct { float local, all; } bucket[HISTORY_BUCKETS];
	unsigned n_buckets, steps_in_last, steps_each;
};

void history_init(struct history *history);
void history_free(struct history *history);

/* Adds a move; without memory, or beyond HISTORY_MOVES, it is counted. */
void history_add_move(struct history *history, const struct history_move *move);

/* One step saw `all` accesses, of which `local` were to the thread's own node. */
void history_add_share(struct history *history, float local, float all);

/* The local share in permille over the first and the last tenth of the run that saw traffic, and over
 * the latest bucket; 1001 where there was none. */
unsigned history_local_first(const struct history *history);
unsigned history_local_last(const struct history *history);
unsigned history_local_now(const struct history *history);

#endif
