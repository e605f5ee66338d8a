/* Rows of values, one for each node. They are as long as MACHINE_NODES, a multiple of ROWS_STEP, and what is behind the last node is
 * nothing: so that they may be gone through ROWS_STEP at a time, which compilers make one instruction of (gcc 12 at -O2 does of these
 * loops, and not of the same ones with another end, or without `restrict`). */
#ifndef NSCHED_ROWS_H
#define NSCHED_ROWS_H

#include "pure/machine.h"

enum { ROWS_STEP = 4 };

/* The end of a row of so many nodes, with what is behind the last. */
static inline unsigned rows_end(unsigned nodes)
{
	return (nodes + ROWS_STEP - 1) / ROWS_STEP * ROWS_STEP;
}

static inline void rows_add_step(float *restrict sum, const float *restrict row, float factor)
{
	for (unsigned k = 0; k < ROWS_STEP; k++) sum[k] += factor * row[k];
}

/* sum += factor * row, for so many nodes. */
static inline void rows_add(float *restrict sum, const float *restrict row, float factor, unsigned nodes)
{
	for (unsigned n = 0; n < nodes; n += ROWS_STEP) rows_add_step(sum + n, row + n, factor);
}

static inline void rows_add_one_step(float *sum, float more)
{
	for (unsigned k = 0; k < ROWS_STEP; k++) sum[k] += more;
}

/* sum += more, for so many nodes and what is behind the last. */
static inline void rows_add_one(float *sum, float more, unsigned nodes)
{
	for (unsigned n = 0; n < nodes; n += ROWS_STEP) rows_add_one_step(sum + n, more);
}

static inline void rows_add_double_step(double *restrict sum, const double *restrict row, double factor)
{
	for (unsigned k = 0; k < ROWS_STEP; k++) sum[k] += factor * row[k];
}

static inline void rows_add_double(double *restrict sum, const double *restrict row, double factor, unsigned nodes)
{
	for (unsigned n = 0; n < nodes; n += ROWS_STEP) rows_add_double_step(sum + n, row + n, factor);
}

static inline void rows_add_products_step(double *restrict sum, const float *restrict a, const float *restrict b, float factor)
{
	for (unsigned k = 0; k < ROWS_STEP; k++) sum[k] += (double)(factor * a[k] * b[k]);
}

/* sum += factor * a * b */
static inline void rows_add_products(double *restrict sum, const float *restrict a, const float *restrict b, float factor, unsigned nodes)
{
	for (unsigned n = 0; n < nodes; n += ROWS_STEP) rows_add_products_step(sum + n, a + n, b + n, factor);
}

#endif
