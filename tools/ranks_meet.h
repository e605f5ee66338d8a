/* The meeting of a machine's ranks before they become the program, step by step. A step changes or reads one thing that all
 * see, so whatever order the steps of several ranks come in, and whichever rank dies or goes on between two of them, is an order
 * of calls that a test can make. All ranks that get to the end come to the same: they met, with the same arrivals, or they did not. */
#ifndef NSCHED_RANKS_MEET_H
#define NSCHED_RANKS_MEET_H

#include "libnsched/sys/board.h"

/* What comes next. */
enum meet_stage {
	MEET_COME,    /* to the board, or make it */
	MEET_CLAIM,   /* the own slot */
	MEET_TELL,    /* the others what they need to know */
	MEET_WAIT,    /* one look whether all have come, or somebody has said how it ended */
	MEET_END,     /* say so, unless somebody has */
	MEET_UNNAME,  /* the board: no others come */
	MEET_READ,    /* what all have told */
	MEET_MET,     /* done: all[] is the same for all ranks */
	MEET_ALONE,   /* done: all have not met, or there is no board */
};

struct meet {
	struct board_key key;
	unsigned ranks;             /* of this machine */
	struct board_head head;     /* our own, with the slot that it is for */
	struct board_arrival own;
	enum meet_stage stage;
	struct board *board;        /* the caller's to leave, at any end; NULL: none */
	struct board_arrival *all;  /* the caller's to free */
	int all_there;
	int error;                  /* why there is no board for us; 0: there is */
};

/* One step, and what comes then. `late`: it is not waited for the others any longer. */
enum meet_stage meet_step(struct meet *meet, int late);

#endif
