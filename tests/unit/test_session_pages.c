/* A plan's pages in batches: few calls, and each move gets what its own pages came to. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "made.h"
#include "scene.h"

enum { BATCH = 512, PAGES = 2048 };

static struct scene *scene_with_pages(void)
{
	struct scene *s = scene_made(4, 2, 4, PAGES / 4);
	s->unrecorded = true;
	ck_assert_int_eq(scene_begin(s, false), 0);
	return s;
}

static struct move to_node(uint64_t first, uint32_t pages, int to)
{
	return (struct move){ .kind = MOVE_PAGES, .page = SCENE_PAGE + first, .pages = pages, .to = (int16_t)to, .reason = "test" };
}

/* Moves of a size each, one after the other, to nodes 1 to 3 in turn. */
static const struct size_case { unsigned moves, pages, calls; } size_cases[] = {
	{ 1, 1, 1 }, { 1, 512, 1 }, { 1, 513, 2 }, { 1, 2048, 4 }, { 40, 20, 2 }, { 3, 300, 2 }, { 2, 512, 2 }, { 2, 700, 3 },
	{ 512, 1, 1 }, { 1024, 1, 2 }, { 2048, 1, 4 },
};

START_TEST(few_calls)
{
	const struct size_case *c = &size_cases[_i];
	struct scene *s = scene_with_pages();
	struct move move[PAGES];
	for (unsigned i = 0; i < c->moves; i++) move[i] = to_node(i * c->pages, c->pages, 1 + (int)i % 3);
	ck_assert_int_eq(session_move_pages(&s->session, move, c->moves), (int)c->moves);
	ck_assert_uint_eq(s->hands.calls[FAKE_MOVE], c->calls);
	ck_assert_uint_eq(s->session.totals.moved_pages, (uint64_t)c->moves * c->pages);
	ck_assert_uint_eq(s->session.history.n_moves, c->moves);
	for (unsigned i = 0; i < c->moves; i++) {
		ck_assert_uint_eq(fake_hands_count(&s->hands, i * c->pages, c->pages, 1 + (int)i % 3), c->pages);
		ck_assert_uint_eq(s->session.history.move[i].moved, c->pages);
		ck_assert_uint_eq(s->session.history.move[i].failed, 0);
	}
	scene_end(s);
}
END_TEST

/* The kernel refuses a node (the cpuset has lost it): what goes elsewhere goes all the same. */
START_TEST(forbidden_node)
{
	struct scene *s = scene_with_pages();
	struct move move[] = { to_node(0, 50, 1), to_node(50, 60, 2), to_node(110, 70, 3), to_node(180, 80, 2), to_node(260, 90, 1) };
	s->hands.forbidden = 1u << 2;
	ck_assert_int_eq(session_move_pages(&s->session, move, 5), 3);
	for (unsigned i = 0; i < 5; i++) {
		unsigned pages = move[i].pages, moved = move[i].to == 2 ? 0 : pages, first = (unsigned)(move[i].page - SCENE_PAGE);
		ck_assert_uint_eq(fake_hands_count(&s->hands, first, pages, move[i].to), moved);
		ck_assert_uint_eq(s->session.history.move[i].moved, moved);
		ck_assert_uint_eq(s->session.history.move[i].failed, pages - moved);
	}
	ck_assert(!s->session.pages_refused);
	scene_end(s);
}
END_TEST

/* The call as such is refused: after a few the hands are left alone, and what was asked for is told as failed. */
START_TEST(refused)
{
	struct scene *s = scene_with_pages();
	struct move move[] = { to_node(0, PAGES, 1) };
	s->hands.fail[FAKE_MOVE].error = _i ? -ENOSYS : -EPERM;
	s->hands.fail[FAKE_MOVE].times = UINT64_MAX;
	ck_assert_int_eq(session_move_pages(&s->session, move, 1), 0);
	ck_assert(s->session.pages_refused);
	ck_assert_uint_eq(s->hands.calls[FAKE_MOVE], 3);
	ck_assert_uint_eq(s->session.totals.failed_moves, 3 * BATCH);
	ck_assert_int_eq(session_move_pages(&s->session, move, 1), 0);
	ck_assert_uint_eq(s->hands.calls[FAKE_MOVE], 3);
	scene_end(s);
}
END_TEST

/* Of a range, as many as the gate let go, whichever are elsewhere; one that stays is told of its own move. */
START_TEST(some_of_a_range)
{
	struct scene *s = scene_with_pages();
	struct move move[] = { to_node(0, 10, 1), to_node(1000, 8, 2) };
	move[0].range = 1000;
	fake_hands_pages(&s->hands, 0, 600, 1);
	s->hands.refuses[1003] = -EBUSY;
	s->hands.policy[1000 + 600] = true;
	ck_assert_int_eq(session_move_pages(&s->session, move, 2), 2);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 600, 400, 1), 10);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 1000, 8, 2), 7);
	ck_assert_uint_eq(s->session.history.move[1].failed, 1);
	struct move kept = to_node(1600, 20, 3);
	ck_assert_int_eq(session_move_pages(&s->session, &kept, 1), 0);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 1600, 20, 3), 0);
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, few_calls, size_cases);
	tcase_add_test(tcase, forbidden_node);
	tcase_add_loop_test(tcase, refused, 0, 2);
	tcase_add_test(tcase, some_of_a_range);
}

int main(void)
{
	return made_main("session_pages", add);
}
