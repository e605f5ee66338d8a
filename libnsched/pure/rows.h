/* Rows of values, one for each node. They are as long as MACHINE_NODES, a multiple of ROWS_STEP, and what is behind the last node is
 * nothing: so that they may be gone through ROWS_STEP at a time, which compilers make one instruction of (gcc 12 at -O2 does of these
 * loops, and not of the same ones with another end, or without `restrict`). */
#ifndef NSCHED_ROWS_H
#define NSCHED_ROWS_H

#include "pure/machine.h"

enum { ROWS_STEP = 4 };

static inline void rows_add_step(float *restrict sum, const float *restrict row, float factor)
{
	for (unsigned k = 0; k < ROWS_STEP; k++) sum[k] += factor * row[k];
}

/* sum += factor * row, for so many nodes. */
static inline void rows_add(float *restrict sum, const float *restrict row, float factor, unsigned nodes)
{
	for (unsigned n = 0; n < nodes; n += ROWS_STEP) rows_add_step(sum + n, row + n, factor);
}

#endif
