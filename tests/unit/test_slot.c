/* What goes over the board: views are packed on their way and nothing else is believed of them; rows keep those that got most. */
#include "pure/slot.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"

static struct slot_view view, way;
static struct slot_row row;

static void fill(unsigned threads, unsigned chunks, struct dice *dice)
{
	memset(&view, 0xaa, sizeof view);
	view.n_threads = threads;
	view.n_chunks = chunks;
	view.page_move_ns = 3000;
	view.age_ms = 7;
	for (unsigned t = 0; t < threads; t++)
		view.thread[t] = (struct slot_thread){ .tid = (int32_t)t + 1, .node_os = (int16_t)dice_below(dice, 4), .load = dice_part(dice) };
	for (unsigned c = 0; c < chunks; c++) {
		view.chunk[c] = (struct slot_chunk){ .pages = 1 + dice_below(dice, 99), .n_users = threads ? 1 : 0 };
		for (unsigned k = 0; k < SLOT_WHERE; k++) view.chunk[c].where[k].node_os = -1;
		if (threads) view.chunk[c].user[0].thread = (uint16_t)dice_below(dice, threads);
	}
}

static void same(const struct slot_view *is)
{
	ck_assert_mem_eq(is, &view, offsetof(struct slot_view, thread) + view.n_threads * sizeof view.thread[0]);
	ck_assert_mem_eq(is->chunk, view.chunk, view.n_chunks * sizeof view.chunk[0]);
}

static const struct { unsigned threads, chunks; } sizes[] = {
	{ 0, 0 }, { 1, 0 }, { 0, 1 }, { 1, 1 }, { 3, 40 }, { 100, 3 }, { SLOT_THREADS, 1 }, { SLOT_THREADS, SLOT_CHUNKS }, { 1, SLOT_CHUNKS },
};

START_TEST(there_and_back)
{
	struct dice dice = { (uint64_t)_i };
	unsigned threads = sizes[_i].threads, chunks = sizes[_i].chunks;
	fill(threads, chunks, &dice);
	way = view;
	uint32_t bytes = slot_view_pack(&way);
	ck_assert_uint_eq(bytes, offsetof(struct slot_view, thread) + threads * sizeof(struct slot_thread) + chunks * sizeof(struct slot_chunk));
	memset((char *)&way + bytes, 0x55, sizeof way - bytes);   /* nothing behind it is needed */
	ck_assert(slot_view_unpack(&way, bytes));
	same(&way);
	ck_assert(slot_view_valid(&way, slot_view_bytes(&way)));
}
END_TEST

/* Of no room more than what counts. */
START_TEST(copied)
{
	struct dice dice = { (uint64_t)_i };
	fill(sizes[_i].threads, sizes[_i].chunks, &dice);
	struct slot_view *copy = malloc(slot_view_bytes(&view));
	ck_assert_ptr_nonnull(copy);
	slot_view_copy(copy, &view);
	same(copy);
	ck_assert(slot_view_valid(copy, slot_view_bytes(copy)));
	free(copy);
}
END_TEST

/* Counts, or a length, that can't be: before a byte is moved. */
START_TEST(refused)
{
	struct dice dice = { 1 };
	fill(3, 5, &dice);
	uint32_t bytes = slot_view_pack(&view);
	const struct { uint32_t threads, chunks, bytes; } wrong[] = {
		{ 3, 5, bytes - 1 }, { 3, 5, bytes + 1 }, { 3, 5, 0 }, { 3, 5, 4 }, { 4, 5, bytes }, { 3, 6, bytes }, { 3, 4, bytes },
		{ SLOT_THREADS + 1, 5, bytes }, { 3, SLOT_CHUNKS + 1, bytes }, { UINT32_MAX, 5, bytes }, { 3, UINT32_MAX, bytes },
		{ UINT32_MAX, UINT32_MAX, bytes },
		/* what would be right if sums of 32 bits were all */
		{ 0x10000000u + 3, 5, bytes },
	};
	for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		way = view;
		way.n_threads = wrong[i].threads;
		way.n_chunks = wrong[i].chunks;
		ck_assert_msg(!slot_view_unpack(&way, wrong[i].bytes), "%u", i);
		ck_assert_mem_eq(&way.thread, &view.thread, sizeof view.thread);
		ck_assert_mem_eq(&way.chunk, &view.chunk, sizeof view.chunk);
	}
	ck_assert(slot_view_unpack(&view, bytes));
}
END_TEST

/* Whatever stands there: what is taken can be used. */
START_TEST(scribbled)
{
	struct dice dice = { 5 };
	unsigned taken = 0;
	for (unsigned k = 0; k < 5000; k++) {
		fill(1 + dice_below(&dice, 4), dice_below(&dice, 6), &dice);
		uint32_t bytes = slot_view_pack(&view);
		for (unsigned j = 0; j < 2; j++) ((unsigned char *)&view)[dice_below(&dice, bytes)] = (unsigned char)dice_next(&dice);
		if (!slot_view_unpack(&view, bytes) || !slot_view_valid(&view, slot_view_bytes(&view))) continue;
		taken++;
		for (unsigned c = 0; c < view.n_chunks; c++)
			for (unsigned u = 0; u < view.chunk[c].n_users; u++) made_hold(view.chunk[c].user[u].thread < view.n_threads);
	}
	ck_assert_uint_gt(taken, 100);
	ck_assert_uint_lt(taken, 4900);
}
END_TEST

/* A row is begun again where one stood: nothing of it is left, and those that get most stay. */
START_TEST(rows)
{
	enum { RANKS = 3 * SLOT_PEERS };
	memset(&row, 0xff, sizeof row);
	for (unsigned round = 0; round < 2; round++) {
		unsigned peers = round ? 2 : RANKS;
		slot_row_begin(&row, 1, RANKS);
		ck_assert_uint_eq(row.n_peers, 0);
		ck_assert_uint_eq(row.time_ns, 0);
		ck_assert(slot_row_valid(&row, slot_row_bytes(&row)));
		for (uint32_t r = 0; r < peers; r++) {
			struct slot_peer peer = { .rank = r, .messages = 1, .bytes = r };
			ck_assert_int_eq(slot_row_add(&row, &peer), 0);
		}
		struct slot_peer none = { .rank = RANKS };
		ck_assert_int_eq(slot_row_add(&row, &none), -EINVAL);
		ck_assert(slot_row_valid(&row, slot_row_bytes(&row)));
		ck_assert_uint_eq(row.n_peers, round ? 2 : SLOT_PEERS);
		for (unsigned i = 0; i < row.n_peers; i++) {
			ck_assert_uint_eq(row.peer[i].bytes, row.peer[i].rank);
			ck_assert_uint_eq(row.peer[i].messages, 1);
			ck_assert(round || row.peer[i].rank >= RANKS - SLOT_PEERS);
		}
	}
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, there_and_back, sizes);
	made_loop(tcase, copied, sizes);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, scribbled);
	tcase_add_test(tcase, rows);
}

int main(void)
{
	return made_main("slot", add);
}
