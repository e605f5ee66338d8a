/* What this rank has called, and its row of the communication matrix: what it has sent to each rank of the job. Each thread
 * counts in a part of its own, by plain additions, and who reads adds up the parts: an atomic addition costs more than all
 * else that a wrapper does. Sparse: cells are made for a page of ranks when the first of them is sent something.
 * No lock: others may read at any time. */
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
	MATRIX_CALLS = 480,  /* kinds of calls that there is room for */
};

struct matrix_cell {
	_Atomic uint64_t bytes, messages;
};

typedef struct matrix_cell *_Atomic matrix_page;

/* Only its thread writes it. It outlives the thread: the next new one goes on with it, counts and all. */
struct matrix_part {
	struct matrix_part *next; /* of all parts */
	_Atomic bool used;        /* a thread has it */
	matrix_page *_Atomic page; /* of all ranks of the job; NULL: nothing sent to any yet */
	struct matrix_cell outside;
	_Atomic uint64_t call[MATRIX_CALLS];
};

/* The ranks of the job; 0: none is known, all is outside. */
extern _Atomic int32_t matrix_ranks;

/* This thread's; NULL: it has none yet, or no more. */
extern __thread struct matrix_part *matrix_mine;

/* A part for this thread. Never NULL: without memory it is one for all who have none, where now and then a count is lost. */
struct matrix_part *matrix_join(void);

static inline struct matrix_part *matrix_own(void)
{
	struct matrix_part *part = matrix_mine;

	return __builtin_expect(part != NULL, 1) ? part : matrix_join();
}

/* The cell of a rank whose page is not there yet. Never NULL. */
struct matrix_cell *matrix_new_cell(struct matrix_part *part, int32_t rank);

static inline void matrix_more(_Atomic uint64_t *counter, uint64_t more)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more, memory_order_relaxed);
}

/* One call of a kind below MATRIX_CALLS. */
static inline void matrix_called(unsigned kind)
{
	matrix_more(&matrix_own()->call[kind], 1);
}

/* `rank` is one of the job, or MATRIX_OUTSIDE. */
static inline void matrix_add(int32_t rank, uint64_t bytes, uint64_t messages)
{
	struct matrix_part *part = matrix_own();
	struct matrix_cell *cell = &part->outside;

	if ((uint32_t)rank < (uint32_t)atomic_load_explicit(&matrix_ranks, memory_order_relaxed)) {
		matrix_page *page = atomic_load_explicit(&part->page, memory_order_relaxed);

		cell = page == NULL ? NULL : atomic_load_explicit(&page[rank >> MATRIX_PAGE_LOG2], memory_order_relaxed);
		cell = cell == NULL ? matrix_new_cell(part, rank) : cell + (rank & (MATRIX_PAGE - 1));
	}
	matrix_more(&cell->bytes, bytes);
	matrix_more(&cell->messages, messages);
}

/* The calls of a kind that all threads have made. */
uint64_t matrix_calls(unsigned kind);

/* As `sent` of nsched_exchange_source_t. */
size_t matrix_read(void *unused, int32_t from, nsched_exchange_t *peers, size_t most);

#endif
