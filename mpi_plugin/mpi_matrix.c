#include "mpi_matrix.h"

#include <stdlib.h>

struct matrix matrix = { .concurrent = true };

bool matrix_start(int32_t ranks)
{
	size_t pages = ((size_t)ranks + MATRIX_PAGE - 1) >> MATRIX_PAGE_LOG2;

	if (matrix.page != NULL)
		return true;
	matrix.page = calloc(pages, sizeof(*matrix.page));
	if (matrix.page != NULL)
		matrix.ranks = ranks;
	return matrix.page != NULL;
}

struct matrix_cell *matrix_new_cell(int32_t rank)
{
	struct matrix_cell *none = NULL, *made = calloc(MATRIX_PAGE, sizeof(*made));

	if (made == NULL)
		return &matrix.outside; /* counted, at least */
	if (!atomic_compare_exchange_strong(&matrix.page[rank >> MATRIX_PAGE_LOG2], &none, made)) {
		free(made);
		made = none; /* another thread's, that was first */
	}
	return made + (rank & (MATRIX_PAGE - 1));
}

static bool copy(int32_t rank, const struct matrix_cell *cell, nsched_exchange_t *peer)
{
	peer->rank = rank;
	peer->bytes = atomic_load_explicit(&cell->bytes, memory_order_relaxed);
	peer->messages = atomic_load_explicit(&cell->messages, memory_order_relaxed);
	return peer->messages > 0;
}

size_t matrix_read(void *unused, int32_t from, nsched_exchange_t *peers, size_t most)
{
	size_t n = 0;

	(void)unused;
	if (from <= MATRIX_OUTSIDE && most > 0)
		n += copy(MATRIX_OUTSIDE, &matrix.outside, peers);
	for (int32_t rank = from < 0 ? 0 : from; n < most && rank < matrix.ranks;) {
		const struct matrix_cell *page = atomic_load_explicit(&matrix.page[rank >> MATRIX_PAGE_LOG2], memory_order_acquire);
		int32_t in_page = rank & (MATRIX_PAGE - 1);

		if (page == NULL) {
			rank += MATRIX_PAGE - in_page;
			continue;
		}
		n += copy(rank, page + in_page, &peers[n]);
		rank++;
	}
	return n;
}
