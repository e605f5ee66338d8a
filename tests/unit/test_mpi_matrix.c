/* The parts of the MPI plugin that know nothing of MPI: the table of handles, the matrix, the patterns. */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "mpi_plugin/mpi_handles.h"
#include "mpi_plugin/mpi_matrix.h"
#include "mpi_plugin/mpi_pattern.h"

/* ---- handles ---------------------------------------------------------------------------------------- */

static unsigned released;

static void release(void *value)
{
	released++;
	free(value);
}

static void *number(int n)
{
	int *value = malloc(sizeof(*value));

	ck_assert_ptr_nonnull(value);
	*value = n;
	return value;
}

static int value_of(struct handles *handles, uintptr_t handle)
{
	const int *value = handles_find(handles, handle);

	return value == NULL ? -1 : *value;
}

START_TEST(handles_come_and_go)
{
	enum { MANY = 5000 }; /* several on each line */
	static struct handles handles = { .release = release };

	released = 0;
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 1; i <= MANY; i++)
			ck_assert_ptr_nonnull(handles_add(&handles, (uintptr_t)i * 64, number(i + turn)));
		for (int i = 1; i <= MANY; i++)
			ck_assert_int_eq(value_of(&handles, (uintptr_t)i * 64), i + turn);
		ck_assert_ptr_null(handles_find(&handles, 7));
		for (int i = 1; i <= MANY; i += 2)
			handles_remove(&handles, (uintptr_t)i * 64);
		for (int i = 1; i <= MANY; i++)
			ck_assert_int_eq(handles_find(&handles, (uintptr_t)i * 64) == NULL, i % 2);
		for (int i = 2; i <= MANY; i += 2)
			handles_remove(&handles, (uintptr_t)i * 64);
	}
	ck_assert_uint_eq(released, 3 * MANY);
	handles_remove(&handles, 64); /* not there */
	ck_assert_uint_eq(released, 3 * MANY);
}
END_TEST

START_TEST(the_first_to_add_wins)
{
	static struct handles handles = { .release = release };
	void *first = number(1);

	released = 0;
	ck_assert_ptr_eq(handles_add(&handles, 5, first), first);
	ck_assert_ptr_eq(handles_add(&handles, 5, number(2)), first);
	ck_assert_uint_eq(released, 1);
}
END_TEST

/* ---- the matrix ------------------------------------------------------------------------------------- */

static size_t read_all(nsched_exchange_t *all, size_t room, size_t at_a_time)
{
	size_t n = 0, got = at_a_time;

	for (int32_t from = -1; got == at_a_time && n + at_a_time <= room; from = all[n - 1].rank + 1) {
		got = matrix_read(NULL, from, all + n, at_a_time);
		n += got;
		if (n == 0)
			break;
	}
	return n;
}

START_TEST(the_row_is_sparse_and_whole)
{
	static const struct nsched_exchange sent[] = {
		{ -1, 10, 1 }, { 0, 1, 1 }, { 63, 2, 3 }, { 64, 4, 1 }, { 4999, 8, 2 }, { 99999, 16, 1 },
	};
	enum { SENT = sizeof(sent) / sizeof(sent[0]) };
	nsched_exchange_t got[64];

	ck_assert_uint_eq(matrix_read(NULL, -1, got, 64), 0);
	matrix_add(3, 10, 1); /* no job is known: that is outside */
	atomic_store(&matrix_ranks, 100000);
	for (size_t i = 1; i < SENT; i++)
		for (uint64_t m = 0; m < sent[i].messages; m++)
			matrix_add(sent[i].rank, m == 0 ? sent[i].bytes : 0, 1);
	for (size_t most = 1; most <= 8; most++) {
		ck_assert_uint_eq(read_all(got, 64, most), SENT);
		for (size_t i = 0; i < SENT; i++) {
			ck_assert_int_eq(got[i].rank, sent[i].rank);
			ck_assert_uint_eq(got[i].bytes, sent[i].bytes);
			ck_assert_uint_eq(got[i].messages, sent[i].messages);
		}
	}
	ck_assert_uint_eq(matrix_read(NULL, 100000, got, 64), 0);
	matrix_add(100000, 1, 1); /* no rank of the job */
	ck_assert_uint_eq(matrix_read(NULL, -1, got, 1), 1);
	ck_assert_uint_eq(got[0].bytes, 11);
}
END_TEST

/* Threads that come and go, several at once: nothing is lost, and those who come later go on in the parts of those who went. */
enum { COMING = 20, AT_ONCE = 4, COUNTED = 20000, KIND = 7 };

static pthread_barrier_t all_here;

static void *counts(void *arg)
{
	unsigned number = *(unsigned *)arg;

	pthread_barrier_wait(&all_here);
	for (int i = 0; i < COUNTED; i++) {
		matrix_called(KIND);
		matrix_add((int32_t)number, 3, 1);
		matrix_add(1000, 1, 1);
	}
	pthread_barrier_wait(&all_here);
	return matrix_own();
}

static int is_among(void *part, void *const *list, int n)
{
	for (int i = 0; i < n; i++)
		if (list[i] == part)
			return 1;
	return 0;
}

START_TEST(threads_count_apart)
{
	pthread_t thread[AT_ONCE];
	unsigned number[AT_ONCE];
	void *part[AT_ONCE], *first[AT_ONCE] = { NULL };
	nsched_exchange_t got[16];

	atomic_store(&matrix_ranks, 2000);
	pthread_barrier_init(&all_here, NULL, AT_ONCE);
	for (int turn = 0; turn < COMING; turn++) {
		for (unsigned i = 0; i < AT_ONCE; i++) {
			number[i] = 100 * i;
			ck_assert_int_eq(pthread_create(&thread[i], NULL, counts, &number[i]), 0);
		}
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(thread[i], &part[i]);
		for (int i = 0; i < AT_ONCE; i++) {
			ck_assert(!is_among(part[i], part, i)); /* none has another's */
			ck_assert(turn == 0 || is_among(part[i], first, AT_ONCE));
			if (turn == 0)
				first[i] = part[i];
		}
	}
	pthread_barrier_destroy(&all_here);
	ck_assert_uint_eq(matrix_calls(KIND), (uint64_t)COMING * AT_ONCE * COUNTED);
	ck_assert_uint_eq(matrix_calls(KIND + 1), 0);
	ck_assert_uint_eq(matrix_read(NULL, -1, got, 16), AT_ONCE + 1);
	for (int i = 0; i < AT_ONCE; i++) {
		ck_assert_int_eq(got[i].rank, 100 * i);
		ck_assert_uint_eq(got[i].bytes, (uint64_t)COMING * COUNTED * 3);
	}
	ck_assert_int_eq(got[AT_ONCE].rank, 1000);
	ck_assert_uint_eq(got[AT_ONCE].messages, (uint64_t)COMING * AT_ONCE * COUNTED);
}
END_TEST

/* ---- patterns --------------------------------------------------------------------------------------- */

enum { MOST = 40, BYTES = 120120 }; /* divisible by all numbers of ranks up to 15 */

static uint64_t bytes[MOST][MOST], messages[MOST][MOST];
static int sender;

static void send(void *arg, int to, uint64_t n, uint64_t m)
{
	ck_assert_int_ge(to, 0);
	ck_assert_int_lt(to, *(int *)arg);
	ck_assert_int_ne(to, sender);
	bytes[sender][to] += n;
	messages[sender][to] += m;
}

enum kind { BCAST, REDUCE, SHORT, LONG, RING, SCAN, KINDS };

static void all_send(enum kind kind, int ranks, int root)
{
	for (int a = 0; a < MOST; a++)
		for (int b = 0; b < MOST; b++)
			bytes[a][b] = messages[a][b] = 0;
	for (sender = 0; sender < ranks; sender++) {
		struct pattern_ranks own = { .me = sender, .ranks = ranks };

		switch (kind) {
		case BCAST: pattern_bcast(own, root, BYTES, send, &ranks); break;
		case REDUCE: pattern_reduce(own, root, BYTES, send, &ranks); break;
		case SHORT: pattern_allreduce(own, 8, send, &ranks); break;
		case LONG: pattern_allreduce(own, BYTES, send, &ranks); break;
		case RING: pattern_ring(own, (uint64_t)ranks * 10, 10, send, &ranks); break;
		case SCAN: pattern_scan(own, BYTES, send, &ranks); break;
		case KINDS: break;
		}
	}
}

static uint64_t total(uint64_t row[MOST][MOST], int ranks)
{
	uint64_t sum = 0;

	for (int a = 0; a < ranks; a++)
		for (int b = 0; b < ranks; b++)
			sum += row[a][b];
	return sum;
}

/* Starting with `start`, do all hear of it if messages go as the pattern says, at most so many steps? */
static int reached(int ranks, int start, int steps)
{
	int heard[MOST] = { 0 }, n = 1;

	heard[start] = 1;
	for (int step = 0; step < steps; step++) {
		int now[MOST];

		for (int a = 0; a < ranks; a++)
			now[a] = heard[a];
		for (int a = 0; a < ranks; a++)
			for (int b = 0; heard[a] && b < ranks; b++)
				if (messages[a][b] > 0 && !now[b])
					now[b] = 1, n++;
		for (int a = 0; a < ranks; a++)
			heard[a] = now[a];
	}
	return n;
}

static int log2_up(int n)
{
	int steps = 0;

	while (1 << steps < n)
		steps++;
	return steps;
}

START_TEST(trees_reach_all_once)
{
	for (int ranks = 1; ranks < MOST; ranks++) {
		for (int root = 0; root < ranks; root += 3) {
			all_send(BCAST, ranks, root);
			ck_assert_uint_eq(total(messages, ranks), (uint64_t)ranks - 1);
			ck_assert_uint_eq(total(bytes, ranks), (uint64_t)(ranks - 1) * BYTES);
			ck_assert_int_eq(reached(ranks, root, log2_up(ranks)), ranks);

			uint64_t down[MOST][MOST];

			for (int a = 0; a < MOST; a++)
				for (int b = 0; b < MOST; b++)
					down[a][b] = bytes[a][b];
			all_send(REDUCE, ranks, root);
			for (int a = 0; a < ranks; a++)
				for (int b = 0; b < ranks; b++)
					ck_assert_uint_eq(bytes[a][b], down[b][a]); /* the same tree, upwards */
		}
	}
}
END_TEST

START_TEST(an_allreduce_reaches_all_from_each)
{
	for (int ranks = 1; ranks < MOST; ranks++) {
		all_send(SHORT, ranks, 0);
		for (int start = 0; start < ranks; start++)
			ck_assert_int_eq(reached(ranks, start, log2_up(ranks) + 1), ranks);
		for (int a = 0; a < ranks; a++)
			for (int b = 0; b < ranks; b++)
				ck_assert_uint_eq(messages[a][b], messages[b][a]); /* they exchange */
	}
	for (int ranks = 2; ranks <= 15; ranks++) {
		all_send(LONG, ranks, 0);
		for (int a = 0; a < ranks; a++)
			ck_assert_uint_eq(bytes[a][(a + 1) % ranks], 2 * (uint64_t)(ranks - 1) * BYTES / (uint64_t)ranks);
		ck_assert_uint_eq(total(messages, ranks), 2 * (uint64_t)(ranks - 1) * (uint64_t)ranks);
	}
}
END_TEST

START_TEST(rings_and_chains)
{
	for (int ranks = 1; ranks < MOST; ranks++) {
		all_send(RING, ranks, 0);
		ck_assert_uint_eq(total(bytes, ranks), (uint64_t)(ranks - 1) * 10 * (uint64_t)ranks);
		ck_assert_int_eq(reached(ranks, 0, ranks - 1), ranks);
		all_send(SCAN, ranks, 0);
		ck_assert_uint_eq(total(messages, ranks), (uint64_t)ranks - 1);
		for (int a = 0; a + 1 < ranks; a++)
			ck_assert_uint_eq(bytes[a][a + 1], BYTES);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mpi_matrix");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, handles_come_and_go);
	tcase_add_test(tests, the_first_to_add_wins);
	tcase_add_test(tests, the_row_is_sparse_and_whole);
	tcase_add_test(tests, threads_count_apart);
	tcase_add_test(tests, trees_reach_all_once);
	tcase_add_test(tests, an_allreduce_reaches_all_from_each);
	tcase_add_test(tests, rings_and_chains);
	suite_add_tcase(suite, tests);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed > 0;
}
