/* The ring between the signal handler and the helper, and the reading of perf's records. */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sys/perf_ring.h"
#include "sys/pick.h"
#include "sys/ring.h"

/* ---- ring --------------------------------------------------------------------------------------------- */

static bool put(struct ring *ring, uint64_t cookie, uint64_t ip)
{
	struct ring_sample *sample = ring_enter(ring, cookie);

	if (sample) {
		sample->regs.ip = ip;
		sample->periods = 1;
	}
	ring_leave(ring, sample);
	return sample != NULL;
}

static bool take(struct ring *ring, struct ring_sample *sample)
{
	const struct ring_sample *oldest = ring_oldest(ring);

	if (!oldest)
		return false;
	*sample = *oldest;
	ring_next(ring);
	return true;
}

START_TEST(ring_keeps_order_round_its_end)
{
	static struct ring ring;
	struct ring_sample sample;

	ck_assert(ring_claim(&ring, 1));
	for (uint64_t i = 0; i < 10 * RING_SLOTS; i += 3) {
		for (uint64_t k = 0; k < 3; k++)
			ck_assert(put(&ring, 1, i + k));
		for (uint64_t k = 0; k < 3; k++) {
			ck_assert(take(&ring, &sample));
			ck_assert_uint_eq(sample.regs.ip, i + k);
		}
		ck_assert(!take(&ring, &sample));
	}
	ck_assert_uint_eq(ring_take_lost(&ring), 0);
}
END_TEST

START_TEST(ring_full_counts_losses)
{
	static struct ring ring;
	struct ring_sample sample;
	unsigned taken = 0;

	ck_assert(ring_claim(&ring, 1));
	for (unsigned i = 0; i < RING_SLOTS + 5; i++)
		ck_assert_int_eq(put(&ring, 1, i), i < RING_SLOTS);
	ck_assert_uint_eq(ring_take_lost(&ring), 5);
	ck_assert_uint_eq(ring_take_lost(&ring), 0);
	while (take(&ring, &sample))
		ck_assert_uint_eq(sample.regs.ip, taken++);
	ck_assert_uint_eq(taken, RING_SLOTS);
	ck_assert(put(&ring, 1, 7));
}
END_TEST

START_TEST(late_signal_writes_nothing)
{
	static struct ring ring;
	struct ring_sample sample;

	ck_assert(ring_claim(&ring, 1));
	ck_assert(!ring_claim(&ring, 2)); /* it has an owner */
	ck_assert(put(&ring, 1, 5));
	ring_retire(&ring);
	ck_assert(!put(&ring, 1, 6));
	ck_assert(ring_claim(&ring, 2));
	ck_assert(!put(&ring, 1, 7));     /* of the owner before */
	ck_assert(!take(&ring, &sample));
	ck_assert_uint_eq(ring_take_lost(&ring), 0);
}
END_TEST

START_TEST(no_claim_while_a_handler_is_inside)
{
	static struct ring ring;
	struct ring_sample *sample;

	ck_assert(ring_claim(&ring, 1));
	sample = ring_enter(&ring, 1);
	ring_retire(&ring);
	ck_assert(!ring_claim(&ring, 2));
	ring_leave(&ring, sample);
	ck_assert(ring_claim(&ring, 2));
}
END_TEST

static void *produce(void *arg)
{
	struct ring *ring = arg;

	for (uint64_t i = 0; i < 20000;)
		if (put(ring, 1, i))
			i++;
		else
			sched_yield();
	return NULL;
}

START_TEST(two_threads)
{
	static struct ring ring;
	struct ring_sample sample;
	pthread_t thread;

	ck_assert(ring_claim(&ring, 1));
	ck_assert_int_eq(pthread_create(&thread, NULL, produce, &ring), 0);
	for (uint64_t i = 0; i < 20000;) {
		if (!take(&ring, &sample)) {
			sched_yield();
			continue;
		}
		ck_assert_uint_eq(sample.regs.ip, i);
		i++;
	}
	pthread_join(thread, NULL);
}
END_TEST

/* ---- perf records --------------------------------------------------------------------------------------- */

enum { BUFFER = 256 };

static uint8_t buffer[BUFFER];

static void write_at(uint64_t at, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buffer[(at + i) % BUFFER] = ((const uint8_t *)bytes)[i];
}

static uint64_t write_record(uint64_t at, uint32_t type, uint16_t size, uint64_t first, uint64_t second)
{
	struct perf_event_header header = { type, 0, size };

	write_at(at, &header, sizeof(header));
	if (size >= 16)
		write_at(at + 8, &first, 8);
	if (size >= 24)
		write_at(at + 16, &second, 8);
	return at + size;
}

START_TEST(record_that_wraps)
{
	struct perf_cursor cursor = { buffer, BUFFER, BUFFER * 5 - 12, 0 };
	union perf_record record;

	cursor.head = write_record(cursor.tail, PERF_RECORD_SAMPLE, 24, 11, 22);
	cursor.head = write_record(cursor.head, PERF_RECORD_LOST, 24, 1, 33);
	ck_assert(perf_cursor_next(&cursor, &record));
	ck_assert_uint_eq(record.words[1], 11);
	ck_assert_uint_eq(record.words[2], 22);
	ck_assert_uint_eq(record.words[3], 0);
	ck_assert_uint_eq(perf_record_lost(&record), 0);
	ck_assert(perf_cursor_next(&cursor, &record));
	ck_assert_uint_eq(perf_record_lost(&record), 33);
	ck_assert(!perf_cursor_next(&cursor, &record));
	ck_assert_uint_eq(cursor.tail, cursor.head);
}
END_TEST

START_TEST(records_that_cannot_be_end_the_stretch)
{
	static const uint16_t sizes[] = { 0, 7, 64, 1024 };

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct perf_cursor cursor = { buffer, BUFFER, 0, 0 };
		union perf_record record;

		cursor.head = write_record(0, PERF_RECORD_SAMPLE, 16, 11, 0);
		write_record(cursor.head, PERF_RECORD_SAMPLE, sizes[i], 22, 33);
		cursor.head += 24; /* less than the record says */
		ck_assert(perf_cursor_next(&cursor, &record));
		ck_assert(!perf_cursor_next(&cursor, &record));
		ck_assert_uint_eq(cursor.tail, cursor.head);
	}
}
END_TEST

START_TEST(truncated_header)
{
	struct perf_cursor cursor = { buffer, BUFFER, 0, 4 };
	union perf_record record;

	ck_assert(!perf_cursor_next(&cursor, &record));
	ck_assert_uint_eq(cursor.tail, 4);
}
END_TEST

START_TEST(long_record_is_skipped)
{
	static uint8_t large[2048];
	struct perf_cursor cursor = { large, sizeof(large), 0, 1040 };
	struct perf_event_header header = { PERF_RECORD_SAMPLE, 0, 1024 };
	union perf_record record;

	memcpy(large, &header, sizeof(header));
	header.size = 16;
	memcpy(large + 1024, &header, sizeof(header));
	ck_assert(perf_cursor_next(&cursor, &record));
	ck_assert_uint_eq(record.header.size, 16);
}
END_TEST

/* ---- a part for every thread ---------------------------------------------------------------------------- */

START_TEST(picks_are_even)
{
	static const struct { unsigned all, keep; } rows[] = { { 10, 10 }, { 10, 20 }, { 10, 1 }, { 10, 3 }, { 195, 64 }, { 7, 6 }, { 5, 0 }, { 0, 4 } };

	for (unsigned r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
		struct pick pick = { .all = rows[r].all, .keep = rows[r].keep };
		unsigned taken = 0, wanted = rows[r].keep < rows[r].all ? rows[r].keep : rows[r].all;

		for (unsigned i = 1; i <= rows[r].all; i++) {
			taken += pick_next(&pick);
			/* so far, never more than one away from its part */
			ck_assert_uint_le(taken * rows[r].all, i * wanted + rows[r].all);
			ck_assert_uint_ge((taken + 1) * rows[r].all, i * wanted);
		}
		ck_assert_uint_eq(taken, wanted);
	}
}
END_TEST

enum { RINGS = 8 };

/* What a ring holds, and what was asked of it and taken from it. */
struct made_rings {
	unsigned holds[RINGS], polls[RINGS], taken[RINGS];
};

static unsigned poll_made(void *arg, unsigned thread, unsigned most)
{
	struct made_rings *made = arg;
	unsigned take = made->holds[thread] < most ? made->holds[thread] : most;

	made->polls[thread]++;
	made->taken[thread] += take;
	return take;
}

static unsigned poll_once(struct perf_rings *rings, struct made_rings *made, unsigned most, unsigned least)
{
	memset(made->taken, 0, sizeof(made->taken));
	return perf_rings_poll(rings, most, least, poll_made, made);
}

/* The first rings hold more than all that is taken, and the last have their part all the same; a ring that is not open is not
 * asked; what one does not need the others get. */
START_TEST(every_ring_has_its_part)
{
	struct perf_event_mmap_page page;
	struct perf_ring ring[RINGS] = { 0 };
	struct perf_rings rings = { ring, RINGS, RINGS, (unsigned)_i };
	struct made_rings made = { .holds = { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 } };

	for (unsigned i = 0; i < RINGS; i++)
		ring[i].page = i == 3 ? NULL : &page;
	ck_assert_uint_eq(poll_once(&rings, &made, 700, 4), 700);
	for (unsigned i = 0; i < RINGS; i++)
		ck_assert_uint_eq(made.taken[i], i == 3 ? 0 : 100);
	made.holds[rings.turn == 3 ? 4 : rings.turn] = 10;
	ck_assert_uint_eq(poll_once(&rings, &made, 700, 4), 700);
	for (unsigned i = 0; i < RINGS; i++)
		ck_assert(i == 3 || made.taken[i] == 10 || made.taken[i] >= 100);
}
END_TEST

/* Where there is not enough for all, they come in turn. */
START_TEST(rings_take_turns)
{
	struct perf_event_mmap_page page;
	struct perf_ring ring[RINGS] = { 0 };
	struct perf_rings rings = { ring, RINGS, RINGS, 0 };
	struct made_rings made = { .holds = { 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000 } };

	for (unsigned i = 0; i < RINGS; i++)
		ring[i].page = &page;
	for (unsigned i = 0; i < 8; i++)
		ck_assert_uint_eq(poll_once(&rings, &made, 12, 4), 12);
	for (unsigned i = 0; i < RINGS; i++)
		ck_assert_uint_eq(made.polls[i], 3);
	rings.end = 0;
	ck_assert_uint_eq(poll_once(&rings, &made, 12, 4), 0);
}
END_TEST

START_TEST(records_counted_by_the_next)
{
	struct perf_cursor cursor = { buffer, BUFFER, BUFFER * 5 - 12, BUFFER * 5 - 12 };

	ck_assert_uint_eq(perf_cursor_records(&cursor), 0);
	for (unsigned i = 1; i <= 4; i++) {
		cursor.head = write_record(cursor.head, PERF_RECORD_SAMPLE, 24, 11, 22);
		ck_assert_uint_eq(perf_cursor_records(&cursor), i);
	}
	write_record(cursor.tail, PERF_RECORD_SAMPLE, 0, 11, 22);
	ck_assert_uint_eq(perf_cursor_records(&cursor), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ring");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, ring_keeps_order_round_its_end);
	tcase_add_test(tcase, ring_full_counts_losses);
	tcase_add_test(tcase, late_signal_writes_nothing);
	tcase_add_test(tcase, no_claim_while_a_handler_is_inside);
	tcase_add_test(tcase, two_threads);
	tcase_add_test(tcase, record_that_wraps);
	tcase_add_test(tcase, records_that_cannot_be_end_the_stretch);
	tcase_add_test(tcase, truncated_header);
	tcase_add_test(tcase, long_record_is_skipped);
	tcase_add_test(tcase, picks_are_even);
	tcase_add_loop_test(tcase, every_ring_has_its_part, 0, RINGS);
	tcase_add_test(tcase, rings_take_turns);
	tcase_add_test(tcase, records_counted_by_the_next);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
