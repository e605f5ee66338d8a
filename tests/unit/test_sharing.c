/* Segments that follow their rank: when it asks for a meeting, what it does there for itself and for others, and what it leaves alone;
 * with hands that fail, pages that never move, and a message library that will not hold still. The board is real, another rank on it is a
 * second handle of this process; segments, their being let go of, and taking all along are this test's. */
#include "sharing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/fake_hands.h"
#include "made.h"
#include "sys/migrate.h"
#include "sys/shared.h"

#define MS 1000000ull
#define START_NS 1000000000000ull
#define SEGMENT 0x7f1000000000ull

enum {
	PAGE = 4096, PAGES = 600,          /* more than are asked for in one call */
	NODES = 4, OURS = 0, OTHERS = 5, DEV = 7, INO = 70,
	REST_MS = 1000, AHEAD_MS = 3000, GRID_MS = 4000, INTERVAL_MS = 100,
};

static struct sharing sharing;

/* ---- the fakes that take the places of sys/shared.c and sys/migrate.c ------------------------------------------- */

static struct {
	unsigned segments, let_go, last_parts;
	struct { uint64_t start, offset, bytes; } last;
	unsigned stop_after;               /* the other one has what it wanted after so many times; 0: never */
	unsigned narrow_after;             /* and wants only a part of it from then on */
	struct board *other;
} shared;

unsigned shared_list(struct shared_segment *list, unsigned most)
{
	unsigned n = 0;
	for (; n < shared.segments && n < most; n++)
		list[n] = (struct shared_segment){ SEGMENT + n * 0x10000000ull, SEGMENT + n * 0x10000000ull + PAGES * PAGE, DEV, INO + n, 0, (int32_t)n };
	return n;
}

bool shared_parse(const char *line, struct shared_segment *segment)
{
	(void)line, (void)segment;
	return false;
}

void shared_part(const struct shared_segment *s, uint64_t offset, uint64_t bytes, bool on)
{
	(void)s, (void)offset, (void)bytes;
	shared.last_parts += on ? 1u : -1u;
}

bool shared_let_go(const struct shared_segment *s, uint64_t offset, uint64_t bytes)
{
	struct board_head none = { .local_rank = 1 };
	shared.let_go++;
	shared.last.start = s->start;
	shared.last.offset = offset;
	shared.last.bytes = bytes;
	if (shared.narrow_after && shared.narrow_after == shared.let_go) {
		none.ask = (struct board_ask){ sharing.at_ns, DEV, INO + 1, 7 * PAGE, 3 * PAGE };
		ck_assert_int_eq(board_set_head(shared.other, &none), 0);
		none.ask = (struct board_ask){ 0 };
	}
	if (shared.stop_after == shared.let_go) ck_assert_int_eq(board_set_head(shared.other, &none), 0);
	return true;
}

static struct { uint64_t bytes; bool may; unsigned calls, to; long says; } all;

uint64_t migrate_private_bytes(void)
{
	return all.bytes;
}

bool migrate_may(void)
{
	return all.may;
}

long migrate_all(const unsigned *from_os, unsigned n, unsigned to_os)
{
	ck_assert_uint_eq(n, NODES);
	for (unsigned i = 0; i < n; i++) ck_assert_uint_eq(from_os[i], i);
	all.calls++;
	all.to = to_os;
	return all.says;
}

/* ---- the scene ----------------------------------------------------------------------------------------------- */

static struct session session;
static struct neighbours neighbours;
static struct exchange exchange = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct fake_clock now;
static struct fake_hands hands;

static struct {
	bool refused;
	int held;
	unsigned calls, frees_after;       /* the others have let go of it after so many calls; 0: never */
	uint64_t each_ns;                  /* that pass in a call */
	struct board_ask ask;              /* what our slot said at the last one, if anything */
} library;

static size_t sent(void *context, int32_t from, nsched_exchange_t *peers, size_t most)
{
	(void)context, (void)from, (void)peers, (void)most;
	return 0;
}

static int hold(void *context, int on)
{
	(void)context;
	library.calls++;
	now.now_ns += library.each_ns;
	if (library.calls == library.frees_after) memset(hands.refuses, 0, sizeof hands.refuses);
	struct board_ask ask;
	if (board_read_ask(neighbours.board, (unsigned)board_own(neighbours.board), &ask) && ask.at_ns) library.ask = ask;
	if (on && library.refused) return 0;
	library.held = on;
	return 1;
}

/* Our one thread is bound to a node. */
static void go_to(int node)
{
	session.situation.thread[0].node = (int16_t)node;
	session.situation.thread[0].bound = true;
}

static void setup(void)
{
	nsched_exchange_source_t source = { .size = sizeof source, .sent = sent, .hold = hold };
	struct cpu_mask cpus;
	struct board *board;
	char word[BOARD_WORD];
	ck_assert_int_eq(board_make_tree(&board), 0);
	setenv("NSCHED_BOARD", board_word(board, word), 1);
	ck_assert_int_eq(board_attach(word, &shared.other), 0);
	board_leave(board, true);
	mask_clear(&cpus);
	mask_add(&cpus, 0);
	neighbours_join(&neighbours, &cpus, false);
	ck_assert_ptr_nonnull(neighbours.board);
	ck_assert_int_ne(board_own(neighbours.board), OTHERS);
	neighbours.head.local_rank = OURS;
	ck_assert_int_eq(board_claim(shared.other, OTHERS, &(struct board_head){ .local_rank = 1 }), OTHERS);
	ck_assert_int_eq(exchange_set(&exchange, &source), 0);
	made_machine(&session.machine, NODES, 2);
	made_situation(&session.situation, &session.machine);
	made_thread(&session.situation, 0, 0);
	session.clock = &fake_clock_ops;
	session.clock_state = &now;
	session.mode = NEIGHBOURS_TOGETHER;
	session.config.move_pages = 1;
	session.config.interval_ms = INTERVAL_MS;
	sharing = (struct sharing){ .hands = &fake_hands_ops, .hands_state = &hands };
	now.now_ns = START_NS;
	hands.first_page = SEGMENT / PAGE;
	fake_hands_pages(&hands, 0, PAGES, 0);
	shared.segments = 2;
	library.each_ns = MS;
	go_to(2);
}

static void step(void)
{
	sharing_meet(&sharing, &session, &neighbours, &exchange);
	sharing_step(&sharing, &session, &neighbours);
}

/* The first step sees where we are; that is believed after a rest. */
static void ask_now(void)
{
	step();
	now.now_ns += REST_MS * MS;
	step();
}

static bool asked(struct board_ask *ask)
{
	unsigned own = (unsigned)board_own(neighbours.board);
	return board_read_ask(neighbours.board, own, ask) && ask->at_ns;
}

/* ---- asking --------------------------------------------------------------------------------------------------- */

enum what { NOTHING, ALONE, UNBOUND, TWO_NODES, NO_PAGES, DRY, REFUSED, NO_SEGMENT, POLICY, FEW, BLIND, NOT_THERE, AT_HOME };

static const struct { enum what what; bool asks; } ask_cases[] = {
	{ NOTHING, true }, { ALONE, false }, { UNBOUND, false }, { TWO_NODES, false }, { NO_PAGES, false }, { DRY, false }, { REFUSED, false },
	{ NO_SEGMENT, false }, { POLICY, false }, { FEW, false }, { BLIND, false }, { NOT_THERE, false }, { AT_HOME, false },
};

static void prepare(enum what what)
{
	switch (what) {
	case NOTHING: break;
	case ALONE: session.mode = NEIGHBOURS_ALONE; break;
	case UNBOUND: session.situation.thread[0].bound = false; break;
	case TWO_NODES: made_thread(&session.situation, 1, 1); session.situation.thread[1].bound = true; break;
	case NO_PAGES: session.config.move_pages = 0; break;
	case DRY: session.config.dry_run = true; break;
	case REFUSED: session.pages_refused = true; break;
	case NO_SEGMENT: shared.segments = 0; break;
	case POLICY: hands.policy[0] = true; break;
	case FEW: fake_hands_pages(&hands, 0, PAGES - 3, 2); break;
	case BLIND: hands.fail[FAKE_LOCATE].error = -EPERM; hands.fail[FAKE_LOCATE].times = UINT64_MAX; break;
	case NOT_THERE: fake_hands_pages(&hands, 0, PAGES, -ENOENT); break;
	case AT_HOME: go_to(0); break;
	}
}

START_TEST(asks)
{
	struct board_ask ask;
	prepare(ask_cases[_i].what);
	step();
	ck_assert(!asked(&ask));           /* it may not be the last move */
	now.now_ns += REST_MS * MS;
	step();
	ck_assert_int_eq(asked(&ask), ask_cases[_i].asks);
	ck_assert_uint_eq(sharing_wait_ms(&sharing, &session, 1000000) < 1000000, ask_cases[_i].asks);
	ck_assert_uint_eq(hands.calls[FAKE_MOVE], 0);
	if (!ask_cases[_i].asks) return;
	ck_assert_uint_eq(ask.at_ns % (GRID_MS * MS), 0);
	ck_assert_uint_ge(ask.at_ns, now.now_ns + AHEAD_MS * MS);
	ck_assert_uint_eq(sharing.at_ns, ask.at_ns);
	ck_assert_uint_eq(ask.ino, INO + OURS);
	ck_assert_uint_eq(ask.offset, 0);
	ck_assert_uint_eq(ask.bytes, PAGES * PAGE);
}
END_TEST

/* Only the part where strays lie is asked for, over the bounds of a call. */
START_TEST(asks_for_a_part)
{
	struct board_ask ask;
	fake_hands_pages(&hands, 0, PAGES, 2);
	fake_hands_pages(&hands, 10, 3, 1);
	fake_hands_pages(&hands, 550, 1, 3);
	ask_now();
	ck_assert(asked(&ask));
	ck_assert_uint_eq(ask.offset, 10 * PAGE);
	ck_assert_uint_eq(ask.bytes, 541 * PAGE);
}
END_TEST

/* Where nothing comes of looking, it looks half as often each time, and at once again after a move. */
START_TEST(rests)
{
	fake_hands_pages(&hands, 0, PAGES, 2);
	uint64_t last = 0;
	step();
	for (unsigned i = 0; i < 8; i++) {
		uint64_t calls = hands.calls[FAKE_LOCATE], begin = now.now_ns;
		while (hands.calls[FAKE_LOCATE] == calls) {
			now.now_ns += INTERVAL_MS * MS;
			step();
		}
		if (last) ck_assert_uint_eq(now.now_ns - begin, i == 1 ? last : 2 * last);
		last = now.now_ns - begin;
	}
	uint64_t calls = hands.calls[FAKE_LOCATE];
	go_to(1);
	step();
	ck_assert_uint_eq(hands.calls[FAKE_LOCATE], calls);
	now.now_ns += REST_MS * MS;
	step();
	ck_assert_uint_gt(hands.calls[FAKE_LOCATE], calls);
}
END_TEST

/* ---- meeting -------------------------------------------------------------------------------------------------- */

static void go_to_meeting(void)
{
	ck_assert_uint_ne(sharing.at_ns, 0);
	now.now_ns = sharing.at_ns;
	step();
}

START_TEST(pages_follow)
{
	struct board_ask ask;
	hands.refuses[3] = hands.refuses[4] = hands.refuses[5] = hands.refuses[599] = -EACCES;   /* until the others have let go */
	library.frees_after = 4;
	ask_now();
	uint64_t at = sharing.at_ns;
	now.now_ns = at - 1;
	step();
	ck_assert_uint_eq(hands.calls[FAKE_MOVE], 0);
	go_to_meeting();
	ck_assert_uint_eq(fake_hands_count(&hands, 0, PAGES, 2), PAGES);
	ck_assert_uint_eq(neighbours.totals.followed_pages, PAGES);
	ck_assert(!asked(&ask));
	ck_assert_uint_eq(sharing.asked_ns, 0);
	ck_assert_int_eq(library.held, 0);
	ck_assert_uint_lt(now.now_ns, at + 100 * MS);
}
END_TEST

/* A meeting ends by the clock, or soon where nothing moves any more though the clock stands; what would not move, or but for a
 * few pages, is not asked for at once again. */
START_TEST(pages_that_stay)
{
	enum { CLOCK = 1, FEW_MOVE = 2, FEW_PAGES = 10 };
	struct board_ask ask;
	unsigned moved = _i & FEW_MOVE ? FEW_PAGES : 0;
	for (unsigned i = moved; i < PAGES; i++) hands.refuses[i] = -EACCES;
	library.each_ns = _i & CLOCK ? 100 * MS : 0;
	ask_now();
	uint64_t at = sharing.at_ns;
	go_to_meeting();
	ck_assert_int_eq(library.held, 0);
	ck_assert_uint_lt(now.now_ns, at + 3000 * MS);
	ck_assert_uint_lt(library.calls, 500);
	ck_assert_uint_eq(neighbours.totals.followed_pages, moved);
	ck_assert_uint_ge(sharing.rest_ms, 2 * REST_MS);
	if (asked(&ask)) {
		ck_assert_uint_gt(ask.at_ns, at);
		ck_assert_uint_eq(sharing.rest_ms, 4 * REST_MS);
	}
}
END_TEST

/* What has come already is not asked for any more. */
START_TEST(asks_for_less)
{
	for (unsigned i = 100; i < 130; i++) hands.refuses[i] = -EACCES;
	hands.refuses[117] = 0;
	ask_now();
	uint64_t at = sharing.at_ns;
	go_to_meeting();
	ck_assert_uint_eq(neighbours.totals.followed_pages, PAGES - 29);
	ck_assert_uint_eq(library.ask.at_ns, at);
	ck_assert_uint_eq(library.ask.ino, INO + OURS);
	ck_assert_uint_eq(library.ask.offset, 100 * PAGE);
	ck_assert_uint_eq(library.ask.bytes, 30 * PAGE);
}
END_TEST

/* Most have come: what is left is tried again as soon as after a move. */
START_TEST(most_pages_follow)
{
	for (unsigned i = 0; i < PAGES / 3; i++) hands.refuses[i] = -EACCES;
	ask_now();
	go_to_meeting();
	ck_assert_uint_eq(neighbours.totals.followed_pages, PAGES - PAGES / 3);
	ck_assert_uint_le(sharing.rest_ms, 2 * REST_MS);   /* it asks at once for the next one, which doubles it */
}
END_TEST

/* The library will not hold still (or has finalized): nothing is touched, and the time is past. */
START_TEST(not_held)
{
	library.refused = true;
	ask_now();
	go_to_meeting();
	ck_assert_uint_eq(hands.calls[FAKE_MOVE], 0);
	ck_assert_uint_eq(shared.let_go, 0);
	ck_assert_int_eq(library.held, 0);
	ck_assert(sharing.at_ns == 0 || sharing.at_ns > now.now_ns);
}
END_TEST

/* The hands fail in the middle of it. */
START_TEST(hands_fail)
{
	static const enum fake_hands_call calls[] = { FAKE_LOCATE, FAKE_MOVE };
	library.each_ns = 200 * MS;
	ask_now();
	hands.fail[calls[_i]].error = -EPERM;
	hands.fail[calls[_i]].times = UINT64_MAX;
	go_to_meeting();
	ck_assert_uint_eq(neighbours.totals.followed_pages, 0);
	ck_assert_uint_eq(fake_hands_count(&hands, 0, PAGES, 0), PAGES);
	ck_assert_int_eq(library.held, 0);
}
END_TEST

/* ---- favours --------------------------------------------------------------------------------------------------- */

static void other_asks(uint64_t at_ns, uint64_t ino)
{
	struct board_head head = { .local_rank = 1, .ask = { .at_ns = at_ns, .dev = DEV, .ino = ino, .offset = 2 * PAGE, .bytes = 40 * PAGE } };
	ck_assert_int_eq(board_set_head(shared.other, &head), 0);
}

START_TEST(a_favour)
{
	shared.stop_after = 5;
	session.mode = NEIGHBOURS_ALONE;   /* all come */
	other_asks(START_NS + 8000 * MS, INO + 1);
	step();
	ck_assert_uint_eq(sharing.at_ns, START_NS + 8000 * MS);
	ck_assert_uint_le(sharing_wait_ms(&sharing, &session, 100000), 8001);
	ck_assert_uint_eq(sharing_wait_ms(&sharing, &session, 100), 100);
	go_to_meeting();
	ck_assert_uint_eq(shared.let_go, 5);
	ck_assert_uint_eq(shared.last.start, SEGMENT + 0x10000000ull);
	ck_assert_uint_eq(shared.last.offset, 2 * PAGE);
	ck_assert_uint_eq(shared.last.bytes, 40 * PAGE);
	ck_assert_uint_eq(shared.last_parts, 0);
	ck_assert_uint_eq(hands.calls[FAKE_MOVE], 0);
	ck_assert_int_eq(library.held, 0);
}
END_TEST

START_TEST(a_smaller_favour)
{
	shared.narrow_after = 3;
	shared.stop_after = 6;
	session.mode = NEIGHBOURS_ALONE;
	other_asks(START_NS + 8000 * MS, INO + 1);
	step();
	go_to_meeting();
	ck_assert_uint_eq(shared.let_go, 6);
	ck_assert_uint_eq(shared.last.offset, 7 * PAGE);
	ck_assert_uint_eq(shared.last.bytes, 3 * PAGE);
	ck_assert_uint_eq(shared.last_parts, 0);
}
END_TEST

/* Who asks and dies does not keep us; a file that we have not mapped is none of ours; nor is a time long past or far ahead. */
static const struct { uint64_t ahead_ms, ino; bool comes; unsigned most; } odd_cases[] = {
	{ 8000, INO + 1, true, 3000 }, { 8000, INO + 9, true, 0 }, { 0, INO + 1, false, 0 }, { 500000, INO + 1, false, 0 },
};

START_TEST(odd_favours)
{
	library.each_ns = 100 * MS;
	session.mode = NEIGHBOURS_ALONE;
	other_asks(START_NS + odd_cases[_i].ahead_ms * MS, odd_cases[_i].ino);
	step();
	ck_assert_int_eq(sharing.at_ns != 0, odd_cases[_i].comes);
	if (!odd_cases[_i].comes) return;
	go_to_meeting();
	ck_assert_uint_le(shared.let_go, odd_cases[_i].most);
	ck_assert_int_eq(shared.let_go > 0, odd_cases[_i].most > 0);
	ck_assert_uint_lt(now.now_ns, START_NS + (8000 + 3000) * MS);
}
END_TEST

/* Our own wish and another's, at one meeting. */
START_TEST(both_at_once)
{
	shared.stop_after = 2;
	ask_now();
	other_asks(sharing.at_ns, INO + 1);
	go_to_meeting();
	ck_assert_uint_eq(shared.let_go, 2);
	ck_assert_uint_eq(fake_hands_count(&hands, 0, PAGES, 2), PAGES);
}
END_TEST

/* ---- all along --------------------------------------------------------------------------------------------------- */

static const struct { uint64_t bytes; bool may; long says; unsigned calls; } all_cases[] = {
	{ 1 << 20, true, 0, 1 }, { 64 << 20, true, 12, 1 }, { 1 << 20, true, -EPERM, 1 }, { (64 << 20) + 1, true, 0, 0 }, { 0, true, 0, 0 },
	{ 1 << 20, false, 0, 0 },
};

START_TEST(all_along)
{
	all.bytes = all_cases[_i].bytes;
	all.may = all_cases[_i].may;
	all.says = all_cases[_i].says;
	ask_now();
	ck_assert_uint_eq(all.calls, all_cases[_i].calls);
	for (unsigned i = 0; i < 30; i++) {
		now.now_ns += REST_MS * MS;
		step();
	}
	ck_assert_uint_eq(all.calls, all_cases[_i].calls);   /* once for each move */
	go_to(3);
	ask_now();
	ck_assert_uint_eq(all.calls, 2 * all_cases[_i].calls);
	if (all.calls) ck_assert_uint_eq(all.to, 3);
}
END_TEST

static void teardown(void)
{
	board_release(shared.other);
	board_leave(shared.other, false);
	neighbours_free(&neighbours);
	situation_free(&session.situation);
	machine_free(&session.machine);
}

static void add(TCase *tcase)
{
	tcase_add_checked_fixture(tcase, setup, teardown);
	made_loop(tcase, asks, ask_cases);
	tcase_add_test(tcase, asks_for_a_part);
	tcase_add_test(tcase, rests);
	tcase_add_test(tcase, pages_follow);
	tcase_add_loop_test(tcase, pages_that_stay, 0, 4);
	tcase_add_test(tcase, most_pages_follow);
	tcase_add_test(tcase, asks_for_less);
	tcase_add_test(tcase, a_smaller_favour);
	tcase_add_test(tcase, not_held);
	tcase_add_loop_test(tcase, hands_fail, 0, 2);
	tcase_add_test(tcase, a_favour);
	made_loop(tcase, odd_favours, odd_cases);
	tcase_add_test(tcase, both_at_once);
	made_loop(tcase, all_along, all_cases);
}

int main(void)
{
	return made_main("sharing", add);
}
