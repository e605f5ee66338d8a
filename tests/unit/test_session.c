/* The session whole, with fake clock, hands and source: what it comes to, and what it does when things fail. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "scene.h"

/* ---- it does what it is for --------------------------------------------------------------------------- */

/* All memory on node 0 at the start; in so many steps (permille of the) pages are beside their threads. */
static const struct converge_case { unsigned nodes, cpus, threads, slice, steps, permille; bool hints; } converge_cases[] = {
	{ 4, 2, 8, 512, 20, 1000, false },
	{ 2, 2, 4, 2048, 30, 1000, false },
	{ 2, 4, 3, 512, 20, 1000, false },
	{ 4, 2, 8, 300, 100, 970, false },     /* slices that end inside a block: by samples to a few pages, */
	{ 4, 2, 8, 300, 40, 1000, true },      /* by hints to the page */
	{ 4, 2, 8, 512, 20, 1000, true },
	{ 2, 2, 4, 1001, 40, 999, true },      /* a page alone may be too light to be worth a look */
	{ 8, 1, 8, 512, 20, 1000, true },
};

START_TEST(converges)
{
	const struct converge_case *c = &converge_cases[_i];
	struct scene *s = scene_made(c->nodes, c->cpus, c->threads, c->slice);
	ck_assert_int_eq(scene_begin(s, !c->hints), 0);
	if (c->hints) scene_hint(s, 1000000000);
	else scene_feed(s);
	ck_assert_int_gt(scene_steps(s, c->steps), 0);
	unsigned local = scene_all_local(s), all = c->threads * c->slice;
	ck_assert_msg(local * 1000 >= all * c->permille, "%u of %u pages are local", local, all);
	uint64_t moved = s->hands.moved;
	scene_steps(s, 50);
	/* and there it stays */
	ck_assert_msg(s->hands.moved - moved <= all / 50, "%llu pages moved later", (unsigned long long)(s->hands.moved - moved));
	ck_assert_uint_ge(scene_all_local(s), local);
	ck_assert_uint_eq(s->session.totals.moved_pages, s->hands.moved);
	if (!c->hints) ck_assert_uint_ge(history_local_last(&s->session.history), 950); /* of the last tenth: a step alone sees few now */
	scene_end(s);
}
END_TEST

/* Hinting faults say whose a page is, not how much it is used: where the kernel balances and nothing else is seen, they
 * stand for the threads' time on memory, and bring it home; else a fault weighs what it takes, which is next to
 * nothing. */
START_TEST(only_faults)
{
	bool balances = _i;
	struct scene *s = scene_made(2, 2, 4, 512);
	fake_source.faults = true;
	s->unrecorded = true;
	ck_assert_int_eq(scene_begin(s, true), 0);
	s->session.kernel.balances = balances;
	scene_feed(s);
	ck_assert_int_ge(scene_steps(s, 100), 0);
	unsigned local = scene_all_local(s);
	if (balances) ck_assert_msg(local == 4 * 512, "%u pages are local", local);
	else ck_assert_uint_eq(s->hands.moved, 0);
	scene_end(s);
}
END_TEST

/* Every policy at work: two threads for each CPU of node 0 and all memory there. Where threads go, and whether pages do. */
static const struct live_case { const char *policy; bool spreads, moves_pages; } live_cases[] = {
	{ "joint", true, true }, { "stay", false, false }, { "simple", true, false }, { "pool", true, false },
	{ "homenode", true, true }, { "homenode-dynamic", true, false }, { "concentric", true, false },
	{ "balancenuma", true, true }, { "autonuma", true, true }, { "adaptive", true, true }, { "reconciled", true, true },
};

START_TEST(lives)
{
	const struct live_case *c = &live_cases[_i];
	struct scene *s = scene_made(4, 2, 8, 512);
	ck_assert_int_eq(nsched_config_set(&s->config, "policy", c->policy, NULL), 0);
	for (uint32_t t = 0; t < 8; t++) registry_at(&s->registry, t)->node = (int)t / 4;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 60);
	unsigned on[4] = { 0 };
	for (unsigned t = 0; t < 8; t++) on[registry_at(&s->registry, t)->node]++;
	for (unsigned n = 0; n < 4; n++)
		ck_assert_msg(c->spreads ? on[n] == 2 : on[n] == (n < 2 ? 4 : 0), "%s: %u threads on node %u", c->policy, on[n], n);
	ck_assert_msg((s->hands.moved > 0) == c->moves_pages, "%s moved %llu pages", c->policy, (unsigned long long)s->hands.moved);
	uint64_t moves = s->session.totals.thread_moves, pages = s->hands.moved;
	scene_steps(s, 60);
	ck_assert_uint_eq(s->session.totals.thread_moves, moves);
	ck_assert_uint_eq(s->hands.moved, pages);
	scene_end(s);
}
END_TEST

/* At the end the threads have their CPUs back. */
START_TEST(gives_back)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	struct cpu_mask all = *fake_hands_mask(&s->hands, SCENE_TID);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert(!mask_equal(&all, fake_hands_mask(&s->hands, SCENE_TID)));
	scene_end(s);
	for (pid_t t = 0; t < 4; t++) ck_assert(mask_equal(&all, fake_hands_mask(&s->hands, SCENE_TID + t)));
	ck_assert_uint_eq(fake_source.stops, 1);
}
END_TEST

static const char *const quiet[] = { "policy=stay", "bind=none", "move_pages=0" };

START_TEST(may_not)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	char name[32];
	size_t n = strcspn(quiet[_i], "=");
	memcpy(name, quiet[_i], n);
	name[n] = 0;
	ck_assert_int_eq(nsched_config_set(&s->config, name, quiet[_i] + n + 1, NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert((s->hands.calls[FAKE_MOVE] == 0) == (_i != 1));
	ck_assert((s->hands.calls[FAKE_SET_MASK] == 0) == (_i != 2));
	scene_end(s);
}
END_TEST

/* ---- pages that don't go ---------------------------------------------------------------------------------- */

static const int lasting[] = { -EACCES, -EBUSY, -EFAULT };

/* The pages of the last thread refuse: asked once, and then left alone; the others have gone. */
START_TEST(refusing_pages)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	for (unsigned i = 0; i < 512; i++) s->hands.refuses[3 * 512 + i] = (int16_t)lasting[_i];
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_local(s, 2), 512);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 3 * 512, 512, 0), 512);
	uint64_t asked = s->hands.asked;
	ck_assert_uint_ge(asked, 2 * 512);
	scene_steps(s, 100);
	ck_assert_msg(s->hands.asked == asked, "asked again %llu times", (unsigned long long)(s->hands.asked - asked));
	ck_assert_uint_gt(s->session.totals.failed_moves, 0);
	scene_end(s);
}
END_TEST

/* A full node may have room later: it is tried again, but no more often than the cooldown allows. */
START_TEST(full_node)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	for (unsigned i = 0; i < 1024; i++) s->hands.refuses[1024 + i] = -ENOMEM;
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 60);
	ck_assert_uint_eq(scene_local(s, 2) + scene_local(s, 3), 0);
	ck_assert_uint_le(s->hands.asked, 6 * 1024 + 1024);
	memset(s->hands.refuses, 0, sizeof s->hands.refuses);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_local(s, 2) + scene_local(s, 3), 1024);
	scene_end(s);
}
END_TEST

/* The call as such is refused, as in a container: once is enough, and threads are still bound. */
START_TEST(refused_call)
{
	static const int refusals[] = { -EPERM, -ENOSYS };
	struct scene *s = scene_made(2, 2, 4, 512);
	s->hands.fail[FAKE_MOVE].error = refusals[_i];
	s->hands.fail[FAKE_MOVE].times = UINT64_MAX;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert(s->session.pages_refused);
	uint64_t calls = s->hands.calls[FAKE_MOVE], moved = s->session.totals.thread_moves;
	scene_steps(s, 100);
	ck_assert_uint_eq(s->hands.calls[FAKE_MOVE], calls);
	ck_assert_uint_eq(s->hands.moved, 0);
	ck_assert_uint_gt(s->session.totals.bindings + moved, 0);
	scene_end(s);
}
END_TEST

START_TEST(memory_policy)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	memset(s->hands.policy + 1024, true, 1024);
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert_uint_eq(s->hands.asked, 0);
	uint64_t calls = s->hands.calls[FAKE_HAS_POLICY];
	scene_steps(s, 100);
	ck_assert_uint_eq(s->hands.calls[FAKE_HAS_POLICY], calls);
	scene_end(s);
}
END_TEST

/* Memory that is not there yet is met when it is. */
START_TEST(absent_pages)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	fake_hands_pages(&s->hands, 1024, 1024, -ENOENT);
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert_uint_eq(s->hands.asked, 0);
	fake_hands_pages(&s->hands, 1024, 1024, 0);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	scene_end(s);
}
END_TEST

/* ---- limits --------------------------------------------------------------------------------------------- */

START_TEST(budget)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	ck_assert_int_eq(nsched_config_set(&s->config, "budget_mib", "1", NULL), 0);
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(nsched_config_set(&s->config, "cooldown_ms", "0", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	uint64_t most = 0;
	for (unsigned i = 0; i < 60; i++) {
		uint64_t before = s->hands.moved;
		scene_steps(s, 1);
		if (s->hands.moved - before > most) most = s->hands.moved - before;
	}
	ck_assert_msg(most <= 26, "%llu pages in a step", (unsigned long long)most);     /* 1 MiB/s: 25.6 pages */
	ck_assert_uint_ge(s->hands.moved, 20 * 20);
	ck_assert_uint_gt(s->session.totals.held.budget, 0);
	scene_end(s);
}
END_TEST

/* Threads exchange their memory: within the cooldown nothing that was moved moves again. */
START_TEST(cooldown)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	ck_assert_int_eq(nsched_config_set(&s->config, "cooldown_ms", "60000", NULL), 0);
	ck_assert_int_eq(nsched_config_set(&s->config, "bind", "none", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 20);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	for (unsigned t = 0; t < 4; t++) fake_source_feed(t, SCENE_ADDR + ((uint64_t)((t + 2) % 4) * 512 << 12), 512 << 12);
	scene_steps(s, 300);
	/* what was never moved (slices 0 and 1) has gone to its new users, the rest waits */
	ck_assert_uint_eq(fake_hands_count(&s->hands, 1024, 1024, 1), 1024);
	ck_assert_uint_gt(s->session.totals.held.cooldown, 0);
	scene_steps(s, 400);
	ck_assert_uint_eq(fake_hands_count(&s->hands, 1024, 1024, 0), 1024);
	scene_end(s);
}
END_TEST

/* ---- threads ---------------------------------------------------------------------------------------------- */

/* One goes without a word while it is being bound, another says so: both are forgotten, the rest converges. */
START_TEST(threads_vanish)
{
	struct scene *s = scene_made(4, 2, 8, 512);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	fake_hands_gone(&s->hands, SCENE_TID + 5);
	scene_steps(s, 1);
	registry_leave(registry_at(&s->registry, 2));
	scene_steps(s, 30);
	ck_assert_uint_eq(fake_source.adds, 8);
	ck_assert_uint_eq(fake_source.removes, 2);
	ck_assert_int_eq(atomic_load(&registry_at(&s->registry, 5)->state), THREAD_FREE);
	ck_assert_int_eq(atomic_load(&registry_at(&s->registry, 2)->state), THREAD_FREE);
	for (unsigned t = 0; t < 8; t++) ck_assert(t == 2 || t == 5 || scene_local(s, t) == 512);
	/* its number is used anew, by a thread that has nothing of it */
	struct cpu_mask all = *fake_hands_mask(&s->hands, SCENE_TID + 2);
	fake_hands_thread(&s->hands, SCENE_TID + 50, &all);
	struct nsched_thread *thread = registry_add(&s->registry, SCENE_TID + 50, true);
	ck_assert_uint_eq(thread->number, 2);
	thread->node = 3;
	scene_steps(s, 2);
	ck_assert_uint_eq(fake_source.adds, 9);
	scene_end(s);
}
END_TEST

/* Bound by someone else: left alone, and its memory comes to it. */
START_TEST(bound_by_someone)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	struct cpu_mask one;
	mask_clear(&one);
	mask_add(&one, 3);
	fake_hands_gone(&s->hands, SCENE_TID + 3);
	fake_hands_thread(&s->hands, SCENE_TID + 3, &one);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert(mask_equal(fake_hands_mask(&s->hands, SCENE_TID + 3), &one));
	ck_assert(atomic_load(&registry_at(&s->registry, 3)->fixed));
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	scene_end(s);
}
END_TEST

/* Somebody says that he may have bound threads: the next step sees it, also of one that we have bound. */
START_TEST(told_of_other_masks)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	struct cpu_mask one;
	mask_clear(&one);
	mask_add(&one, 3);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 30);
	struct nsched_thread *thread = registry_at(&s->registry, 1);
	ck_assert_int_ge(atomic_load(&thread->bound), 0);
	fake_hands_gone(&s->hands, SCENE_TID + 1);
	fake_hands_thread(&s->hands, SCENE_TID + 1, &one);
	atomic_store(&s->registry.masks_changed, true);
	scene_steps(s, 1);
	ck_assert(atomic_load(&thread->fixed));
	ck_assert_int_lt(atomic_load(&thread->bound), 0);
	ck_assert(mask_equal(fake_hands_mask(&s->hands, SCENE_TID + 1), &one));
	ck_assert(!atomic_load(&s->registry.masks_changed));
	scene_end(s);
}
END_TEST

/* ---- sources ------------------------------------------------------------------------------------------------ */

static const struct death { int error; const char *why; } deaths[] = {
	{ -EBUSY, "the program took it for itself" }, { -ENODEV, "lost in mid-run (error 19)" }, { -ENOMEM, "lost in mid-run (error 12)" },
};

START_TEST(source_dies)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	fake_source.dies_at = 4;
	fake_source.dies_of = deaths[_i].error;
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	scene_steps(s, 3);
	ck_assert(s->session.source[0].on);
	uint64_t samples = fake_source.samples;
	ck_assert_uint_gt(samples, 0);
	ck_assert_int_ge(scene_steps(s, 20), 0);
	ck_assert(!s->session.source[0].on);
	ck_assert_str_eq(s->session.source[0].why, deaths[_i].why);
	ck_assert_uint_eq(s->session.source[0].counts.samples, samples);
	ck_assert_uint_eq(fake_source.stops, 1);
	ck_assert_uint_eq(fake_source.polls, 4);
	scene_end(s);
	ck_assert_uint_eq(fake_source.stops, 1);
	ck_assert_str_eq(s->session.source[0].why, deaths[_i].why);
}
END_TEST

START_TEST(source_refuses)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	fake_source.start_error = -EPERM;
	fake_source.why = _i ? "perf_event_paranoid is 3" : NULL;
	ck_assert_int_eq(scene_begin(s, true), 0);
	ck_assert(!s->session.source[0].on);
	ck_assert_str_eq(s->session.source[0].why, _i ? "perf_event_paranoid is 3" : "error 1");
	scene_hint(s, 1000000000);
	scene_steps(s, 30);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	ck_assert_uint_eq(fake_source.adds + fake_source.polls + fake_source.stops, 0);
	scene_end(s);
}
END_TEST

/* ---- calls that fail ------------------------------------------------------------------------------------------ */

static const int errors[] = { -EACCES, -EBUSY, -ENOMEM, -ESRCH, -EPERM };
enum { N_ERRORS = 5, FAILURES = FAKE_HANDS_CALLS * N_ERRORS };

/* Each call fails with each error, from each of its first times on, once and for ever: nothing breaks, and what
 * failed once is made good (unless it was said of the thread that it is gone). */
START_TEST(calls_fail)
{
	enum fake_hands_call call = (enum fake_hands_call)(_i / N_ERRORS);
	int error = errors[_i % N_ERRORS];
	for (unsigned at = 0; at < 16; at++)
		for (unsigned for_ever = 0; for_ever < 2; for_ever++) {
			struct scene *s = scene_made(2, 2, 4, 512);
			s->hands.fail[call].error = error;
			s->hands.fail[call].at = at;
			s->hands.fail[call].times = for_ever ? UINT64_MAX : 1;
			ck_assert_int_eq(scene_begin(s, true), 0);
			scene_feed(s);
			ck_assert_int_ge(scene_steps(s, 60), 0);
			bool gone = error == -ESRCH && (call == FAKE_GET_MASK || call == FAKE_SET_MASK);
			if (!for_ever && !gone) ck_assert_msg(scene_all_local(s) == 4 * 512, "at %u: %u local", at, scene_all_local(s));
			ck_assert_uint_eq(s->session.totals.moved_pages, s->hands.moved);
			scene_end(s);
		}
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, converges, converge_cases);
	made_loop(tcase, lives, live_cases);
	tcase_add_loop_test(tcase, only_faults, 0, 2);
	tcase_add_test(tcase, gives_back);
	made_loop(tcase, may_not, quiet);
	made_loop(tcase, refusing_pages, lasting);
	tcase_add_test(tcase, full_node);
	tcase_add_loop_test(tcase, refused_call, 0, 2);
	tcase_add_test(tcase, memory_policy);
	tcase_add_test(tcase, absent_pages);
	tcase_add_test(tcase, budget);
	tcase_add_test(tcase, cooldown);
	tcase_add_test(tcase, threads_vanish);
	tcase_add_test(tcase, bound_by_someone);
	tcase_add_test(tcase, told_of_other_masks);
	made_loop(tcase, source_dies, deaths);
	tcase_add_loop_test(tcase, source_refuses, 0, 2);
	tcase_add_loop_test(tcase, calls_fail, 0, FAILURES);
}

int main(void)
{
	return made_main("session", add);
}
