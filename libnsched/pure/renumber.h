/* A situation with its nodes numbered in another order: a copy. */
#ifndef NSCHED_RENUMBER_H
#define NSCHED_RENUMBER_H

#include "pure/situation.h"

struct renumbered {
	struct machine machine;
	struct situation situation;
};

/* The order of the operating system's numbers: order[new] = old. Equal ones stay in their order. */
void renumber_order(const struct machine *machine, unsigned *order);

/* Node `new` of the copy is node order[new] of the situation. The copy's situation refers to its machine: it must
 * not be moved. 0 or -ENOMEM, and then there is nothing to free. */
int renumber(struct renumbered *copy, const struct situation *situation, const unsigned *order);
void renumber_free(struct renumbered *copy);

#endif
