/* A sparse matrix times a vector: rows of very uneven length (every 16th has most of the numbers), cut into parts of
 * equal numbers, most of them near the diagonal, a few anywhere: those parts of the vector belong to all. */
#define _GNU_SOURCE
#include "omp.h"

#include <omp.h>
#include <stdlib.h>

enum {
	SHORT_ROW = 4,
	LONG_ROW = 68,     /* (15 * 4 + 68) / 16 = 8 numbers a row in the mean */
	LONG_EVERY = 16,
	MEAN_ROW = 8,
	FAR_EVERY = 16,    /* each so-manieth number lies anywhere in its row */
	NEAR = 32,         /* the others: so many columns from the diagonal at most */
	BYTES_A_ROW = MEAN_ROW * (8 + 4) + 8 + 2 * 8,
};

static struct {
	size_t rows, numbers;
	size_t *begin; /* of each row, and the end */
	double *value, *x, *y;
	unsigned *column;
} m;

static size_t row_length(size_t row)
{
	return row % LONG_EVERY == 0 ? LONG_ROW : SHORT_ROW;
}

static size_t begin_of(size_t row)
{
	size_t whole = row / LONG_EVERY, rest = row % LONG_EVERY;

	return whole * MEAN_ROW * LONG_EVERY + (rest > 0 ? LONG_ROW + (rest - 1) * SHORT_ROW : 0);
}

static void csr_make(const struct bench_options *options)
{
	m.rows = (options->kib << 10) / BYTES_A_ROW / LONG_EVERY * LONG_EVERY;
	m.numbers = m.rows * MEAN_ROW;
	m.begin = bench_map((m.rows + 1) * sizeof(*m.begin), options);
	m.value = bench_map(m.numbers * sizeof(*m.value), options);
	m.column = bench_map(m.numbers * sizeof(*m.column), options);
	m.x = bench_map(m.rows * sizeof(*m.x), options);
	m.y = bench_map(m.rows * sizeof(*m.y), options);
}

/* The first row of part T: parts have equal numbers, not equal rows. */
static size_t first_row(unsigned t, unsigned all)
{
	size_t row = omp_part(m.rows, t, all);

	return t == all ? m.rows : row / LONG_EVERY * LONG_EVERY;
}

static unsigned column_of(size_t row, size_t number)
{
	uint64_t mixed = (row * 0x9e3779b97f4a7c15u) ^ (number * 0xc2b2ae3d27d4eb4fu);

	mixed ^= mixed >> 29;
	if (number % FAR_EVERY == 0)
		return (unsigned)(mixed % m.rows);
	return (unsigned)((row + m.rows + mixed % (2 * NEAR) - NEAR) % m.rows);
}

static void fill_part(unsigned t, unsigned all)
{
	for (size_t row = first_row(t, all); row < first_row(t + 1, all); row++) {
		m.begin[row] = begin_of(row);
		m.x[row] = 1;
		m.y[row] = 0;
		for (size_t k = 0; k < row_length(row); k++) {
			m.value[m.begin[row] + k] = 0.5;
			m.column[m.begin[row] + k] = column_of(row, k);
		}
	}
	if (t + 1 == all)
		m.begin[m.rows] = m.numbers;
}

static void csr_fill(bool parallel)
{
	if (!parallel) {
		fill_part(0, 1);
		return;
	}
#pragma omp parallel
	fill_part((unsigned)omp_get_thread_num(), (unsigned)omp_get_num_threads());
}

static uint64_t csr_pass(void)
{
#pragma omp parallel
	{
		unsigned t = (unsigned)omp_get_thread_num(), all = (unsigned)omp_get_num_threads();

		for (size_t row = first_row(t, all); row < first_row(t + 1, all); row++) {
			double sum = 0;

			for (size_t k = m.begin[row]; k < m.begin[row + 1]; k++)
				sum += m.value[k] * m.x[m.column[k]];
			m.y[row] = sum;
		}
	}
	return m.rows * BYTES_A_ROW;
}

static bool csr_right(uint64_t passes)
{
	for (size_t row = 0; row < m.rows; row++)
		if (passes > 0 && m.y[row] != 0.5 * (double)row_length(row))
			return false;
	return true;
}

const struct omp_kernel omp_csr = { "csr", "a sparse matrix with uneven rows times a vector", csr_make, csr_fill, csr_pass,
	                            csr_right, NULL };
