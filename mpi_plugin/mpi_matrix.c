#include "mpi_matrix.h"

#include <pthread.h>
#include <stdlib.h>

_Atomic int32_t matrix_ranks;
__thread struct matrix_part *matrix_mine;

static struct matrix_part *_Atomic parts; /* all that there are; none is ever taken out */
static struct matrix_part last_resort;    /* where there is no memory; not in the list, and never a thread's own */

/* ---- threads come and go ---------------------------------------------------------------------------- */

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool key_made;

static void thread_ends(void *value)
{
	struct matrix_part *part = value;

	matrix_mine = NULL; /* who calls MPI even later joins once more */
	atomic_store_explicit(&part->used, false, memory_order_release);
}

static void make_key(void)
{
	key_made = pthread_key_create(&key, thread_ends) == 0;
}

/* That of a thread that has ended. */
static struct matrix_part *adopt(void)
{
	struct matrix_part *part = atomic_load_explicit(&parts, memory_order_acquire);
	bool used = false;

	while (part != NULL && !atomic_compare_exchange_strong_explicit(&part->used, &used, true, memory_order_acquire, memory_order_relaxed)) {
		part = part->next;
		used = false;
	}
	return part;
}

static struct matrix_part *new_part(void)
{
	struct matrix_part *part = calloc(1, sizeof(*part));

	if (part == NULL)
		return NULL;
	atomic_store_explicit(&part->used, true, memory_order_relaxed);
	part->next = atomic_load_explicit(&parts, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&parts, &part->next, part, memory_order_release, memory_order_relaxed))
		;
	return part;
}

struct matrix_part *matrix_join(void)
{
	struct matrix_part *part = adopt();

	if (part == NULL)
		part = new_part();
	if (part == NULL)
		return &last_resort;
	matrix_mine = part;
	pthread_once(&key_once, make_key);
	if (key_made)
		(void)pthread_setspecific(key, part); /* or nobody else can have it, later */
	return part;
}

/* ---- counting ---------------------------------------------------------------------------------------- */

struct matrix_cell *matrix_new_cell(struct matrix_part *part, int32_t rank)
{
	int32_t ranks = atomic_load_explicit(&matrix_ranks, memory_order_relaxed);
	matrix_page *page = atomic_load_explicit(&part->page, memory_order_relaxed);
	struct matrix_cell *made;

	if (part == &last_resort)
		return &part->outside;
	if (page == NULL) {
		page = calloc(((size_t)ranks + MATRIX_PAGE - 1) >> MATRIX_PAGE_LOG2, sizeof(*page));
		if (page == NULL)
			return &part->outside; /* counted, at least */
		atomic_store_explicit(&part->page, page, memory_order_release);
	}
	made = calloc(MATRIX_PAGE, sizeof(*made));
	if (made == NULL)
		return &part->outside;
	atomic_store_explicit(&page[rank >> MATRIX_PAGE_LOG2], made, memory_order_release);
	return made + (rank & (MATRIX_PAGE - 1));
}

/* ---- reading ------------------------------------------------------------------------------------------- */

/* All parts, and the last resort: NULL begins, and ends. */
static const struct matrix_part *next_part(const struct matrix_part *part)
{
	if (part == NULL)
		return &last_resort;
	return part == &last_resort ? atomic_load_explicit(&parts, memory_order_acquire) : part->next;
}

static const struct matrix_cell *cell_of(const struct matrix_part *part, int32_t rank)
{
	matrix_page *page = atomic_load_explicit(&part->page, memory_order_acquire);
	const struct matrix_cell *cell;

	if (rank == MATRIX_OUTSIDE)
		return &part->outside;
	cell = page == NULL ? NULL : atomic_load_explicit(&page[rank >> MATRIX_PAGE_LOG2], memory_order_acquire);
	return cell == NULL ? NULL : cell + (rank & (MATRIX_PAGE - 1));
}

/* What all threads have sent to one; false: nothing. `there` (may be NULL) tells whether its page is there at all. */
static bool add_up(int32_t rank, nsched_exchange_t *peer, bool *there)
{
	nsched_exchange_t sum = { .rank = rank };

	for (const struct matrix_part *part = next_part(NULL); part != NULL; part = next_part(part)) {
		const struct matrix_cell *cell = cell_of(part, rank);

		if (cell == NULL)
			continue;
		if (there != NULL)
			*there = true;
		sum.bytes += atomic_load_explicit(&cell->bytes, memory_order_relaxed);
		sum.messages += atomic_load_explicit(&cell->messages, memory_order_relaxed);
	}
	*peer = sum;
	return sum.messages > 0;
}

uint64_t matrix_calls(unsigned kind)
{
	uint64_t calls = 0;

	for (const struct matrix_part *part = next_part(NULL); part != NULL; part = next_part(part))
		calls += atomic_load_explicit(&part->call[kind], memory_order_relaxed);
	return calls;
}

size_t matrix_read(void *unused, int32_t from, nsched_exchange_t *peers, size_t most)
{
	int32_t ranks = atomic_load_explicit(&matrix_ranks, memory_order_relaxed);
	size_t n = 0;

	(void)unused;
	if (from <= MATRIX_OUTSIDE && most > 0)
		n += add_up(MATRIX_OUTSIDE, peers, NULL);
	for (int32_t rank = from < 0 ? 0 : from; n < most && rank < ranks;) {
		bool there = false;

		n += add_up(rank, &peers[n], &there);
		rank += there ? 1 : MATRIX_PAGE - (rank & (MATRIX_PAGE - 1));
	}
	return n;
}
