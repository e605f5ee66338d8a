/* The two sides of `pairs`: two processes that do the same work on the same memory, by turns, each with nsched and options of its own. */
#ifndef TESTS_BENCH_PAIRS_H
#define TESTS_BENCH_PAIRS_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "nsched.h"

enum { SIDES = 2, OPTIONS_MOST = 32 };

/* What both sides and the one that gives them their turns share; the arrays of all threads lie behind it. */
struct pairs_board {
	sem_t go[SIDES], done[SIDES];
	atomic_long left;           /* passes of this turn that nobody has begun */
	atomic_bool end;
	/* of the last turn: CPU time of the program's threads at their work; of all that is none of the program's, since the turn before;
	 * and wall time */
	double work_s[SIDES], nsched_s[SIDES], wall_s[SIDES];
	double arrays[];
};

struct pairs_side {
	struct pairs_board *board;
	unsigned side, threads;
	unsigned doubles;           /* of one array; each thread has three */
	bool changing;              /* a thread comes and goes all the time, so that nsched never looks more seldom */
	const char *option[OPTIONS_MOST]; /* NAME=VALUE */
	unsigned n_options;
	const char *report;         /* NULL, or the file for it */
};

/* Takes turns until the end; the exit status of its process. nsched is opened in the first turn, and its time is that turn's. */
int pairs_side(const struct pairs_side *side);

#endif
