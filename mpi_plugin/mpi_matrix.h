/* This rank's row of the communication matrix: what it has sent to each rank of the job. Sparse: cells are
 * made for a page of ranks when the first of them is sent something. No lock: threads add with atomic
 * additions if the program may call MPI from several at once, else with plain ones; others may read. */
#ifndef NSCHED_MPI_MATRIX_H
#define NSCHED_MPI_MATRIX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsched.h"

enum {
	MATRIX_PAGE_LOG2 = 6, /* 64 ranks, 1 KiB: neighbours in rank order share pages, a hundred thousand ranks take 12 KiB of pointers */
	MATRIX_PAGE = 1 << MATRIX_PAGE_LOG2,
	MATRIX_OUTSIDE = -1, /* the rank of all that are not of the job */
};

struct matrix_cell {
	_Atomic uint64_t bytes, messages;
};

struct matrix {
	int32_t ranks;
	bool concurrent; /* threads may add at the same time; so until it is known better */
	struct matrix_cell outside;
	struct matrix_cell *_Atomic *page; /* NULL: no job is known, all is outside */
};

extern struct matrix matrix;

/* Before the first addition to a rank of the job. False: no memory; all counts as outside then. */
bool matrix_start(int32_t ranks);

/* The cell of a rank whose page is not there yet. Never NULL. */
struct matrix_cell *matrix_new_cell(int32_t rank);

static inline void matrix_count(_Atomic uint64_t *counter, uint64_t more)
{
	if (matrix.concurrent)
		atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
	else
		atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

/* `rank` is one of the job, or MATRIX_OUTSIDE. */
static inline void matrix_add(int32_t rank, uint64_t bytes, uint64_t messages)
{
	struct matrix_cell *cell = &matrix.outside;

	if ((uint32_t)rank < (uint32_t)matrix.ranks) {
		cell = atomic_load_explicit(&matrix.page[rank >> MATRIX_PAGE_LOG2], memory_order_acquire);
		cell = cell == NULL ? matrix_new_cell(rank) : cell + (rank & (MATRIX_PAGE - 1));
	}
	matrix_count(&cell->bytes, bytes);
	matrix_count(&cell->messages, messages);
}

/* As `sent` of nsched_exchange_source_t. */
size_t matrix_read(void *unused, int32_t from, nsched_exchange_t *peers, size_t most);

#endif
