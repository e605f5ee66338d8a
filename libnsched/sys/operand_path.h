/* The ways through the code around a sample: which place comes before another and behind it, and the loops that it lies in. */
#ifndef NSCHED_OPERAND_PATH_H
#define NSCHED_OPERAND_PATH_H

#include "operand_range.h"

/* A loop: from its head to the jump back. No loop: edge < 0. Where ways join, the way back goes on
 * above, or, with jumps_first, at a jump to here. */
struct loop {
	int head;
	int edge;
	bool jumps_first;
};

struct path {
	struct range *range;
	int at;            /* the sample */
	int limit;         /* places from here on are not looked at */
	int alive;         /* up to here, places from the sample on are reached from it */
};

struct path path_begin(struct range *range, int at);

/* The place before and the one behind, round the loop if there is one; -1: none. */
int path_back(const struct path *path, int place, const struct loop *loop);
int path_ahead(const struct path *path, int place, const struct loop *loop);

/* The smallest loop around `at` that is larger than `inner`. */
struct loop path_loop(const struct path *path, int at, const struct loop *inner);

#endif
