/* Every allocation fails once, and from each on all do: nothing crashes, nothing leaks, and the step that had
 * no memory says so. */
#include <check.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "obeys.h"
#include "pure/past.h"
#include "pure/policy.h"
#include "pure/renumber.h"
#include "pure/snapshot.h"
#include "scene.h"

/* ---- malloc and its like, wrapped by the linker (-Wl,--wrap) --------------------------------------------- */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void __real_free(void *old);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void __wrap_free(void *old);

static bool counting, for_ever;
static long live, calls, fails_at;
static bool failed;
static int broken;

/* Check allocates for its own assertions: while allocations are counted, the line is kept and told afterwards. */
#define hold(condition) do { if (!(condition) && !broken) broken = __LINE__; } while (0)

static bool refuse(void)
{
	if (!counting) return false;
	long i = calls++;
	bool now = for_ever ? i >= fails_at : i == fails_at;
	failed |= now;
	return now;
}

void *__wrap_malloc(size_t bytes)
{
	void *new = refuse() ? NULL : __real_malloc(bytes);
	live += counting && new;
	return new;
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	void *new = refuse() ? NULL : __real_calloc(n, bytes);
	live += counting && new;
	return new;
}

void *__wrap_realloc(void *old, size_t bytes)
{
	void *new = refuse() ? NULL : __real_realloc(old, bytes);
	live += counting && new && !old;
	return new;
}

void __wrap_free(void *old)
{
	live -= counting && old;
	__real_free(old);
}

/* Runs it with the i-th allocation failing, for every i there is. */
static void fail_each(void (*run)(void), unsigned most)
{
	for (fails_at = 0;; fails_at++) {
		ck_assert_int_lt(fails_at, most);
		live = calls = 0;
		failed = false;
		counting = true;
		run();
		counting = false;
		ck_assert_msg(!broken, "line %d, with allocation %ld failed", broken, fails_at);
		ck_assert_msg(live == 0, "%ld are left after allocation %ld failed", live, fails_at);
		if (!failed) break;
	}
	ck_assert_int_gt(fails_at, 0);
}

/* ---- what is run -------------------------------------------------------------------------------------------- */

static struct scene *scene_now;
static struct machine machine_of_scene;

/* Registry and machine are made beforehand; the first stays for the life of a process. */
static void session_life(void)
{
	static const struct source_ops *const sources[] = { &fake_source_ops, NULL };
	struct scene *s = scene_now;
	struct session_setup setup = { .config = &s->config, .clock = &fake_clock_ops, .clock_state = &s->clock, .hands = &fake_hands_ops,
	                               .hands_state = &s->hands, .sources = sources, .registry = &s->registry, .ranges = &s->ranges };
	for (unsigned c = 0; c < s->nodes * s->cpus; c++) mask_add(&setup.allowed, c);
	ranges_init(&s->ranges, 64, 64);
	setup.machine = machine_of_scene;
	setup.machine.cpu = malloc(machine_of_scene.n_cpus * sizeof *machine_of_scene.cpu);
	if (!setup.machine.cpu) {
		ranges_free(&s->ranges);
		return;
	}
	memcpy(setup.machine.cpu, machine_of_scene.cpu, machine_of_scene.n_cpus * sizeof *machine_of_scene.cpu);
	int ret = session_init(&s->session, &setup);
	hold(ret == 0 || ret == -ENOMEM);
	if (!ret) {
		int hint = ranges_attach(&s->ranges, "all", SCENE_ADDR, 8 * 300 << 12);
		if (!hint) hint = ranges_hint(&s->ranges, 1, SCENE_ADDR + (300 << 12), 300 << 12, 1000000000);
		hold(hint == 0 || hint == -ENOSPC);
		for (unsigned i = 0; i < 12; i++) {
			fake_clock_pass(&s->clock, SCENE_STEP_MS * 1000000ull, s->threads);
			ret = session_step(&s->session);
			hold(ret >= 0 || ret == -ENOMEM);
		}
		session_stop(&s->session);
		session_free(&s->session);
	}
	ranges_free(&s->ranges);
	for (unsigned t = 0; t < s->threads; t++) atomic_store(&registry_at(&s->registry, t)->fixed, false);
	fake_hands_pages(&s->hands, 0, s->threads * s->slice, 0);
}

START_TEST(session)
{
	for_ever = _i;
	scene_now = scene_made(4, 2, 8, 300);
	made_machine(&machine_of_scene, 4, 2);
	scene_feed(scene_now);
	fail_each(session_life, 2000);
	machine_free(&machine_of_scene);
}
END_TEST

/* Afterwards there is memory again: the session comes to the same as ever. */
START_TEST(recovers)
{
	for (fails_at = 0; fails_at < 100; fails_at += 3) {
		struct scene *s = scene_made(2, 2, 4, 512);
		ck_assert_int_eq(scene_begin(s, true), 0);
		scene_feed(s);
		calls = 0;
		for_ever = counting = true;
		scene_steps(s, 10);
		counting = false;
		scene_steps(s, 40);
		ck_assert_uint_eq(scene_all_local(s), 4 * 512);
		scene_end(s);
	}
}
END_TEST

static struct renumbered reversed;
static const struct policy_ops *policy_now;

static void decide(void)
{
	struct plan plan = { 0 };
	struct policy_rules rules = { true, true };
	struct past past = { 0 };
	int ret = past_look(&past, &reversed.situation, 0, policy_now->touches);
	if (!ret) ret = policy_decide(policy_now, &reversed.situation, &rules, &plan);
	hold(ret == (failed ? -ENOMEM : 0));
	past_free(&past);
	plan_free(&plan);
}

/* Nodes in another order than the operating system's, so that they are renumbered, too. */
START_TEST(policy)
{
	struct dice dice = { 3 };
	struct machine m;
	struct situation s;
	unsigned order[MACHINE_NODES];
	for_ever = _i;
	made_machine(&m, 4, 2);
	made_random_situation(&s, &m, &dice);
	for (unsigned n = 0; n < m.n_nodes; n++) order[n] = m.n_nodes - 1 - n;
	ck_assert_int_eq(renumber(&reversed, &s, order), 0);
	for (unsigned p = 0; (policy_now = policy_at(p)); p++)
		if (strcmp(policy_now->name, "stay")) fail_each(decide, 100);
	renumber_free(&reversed);
	situation_free(&s);
	machine_free(&m);
}
END_TEST

static char text[1 << 16];
static size_t text_bytes;

static void parse(void)
{
	struct machine m;
	struct situation s;
	struct snapshot_error error;
	int ret = snapshot_parse(text, text_bytes, &m, &s, &error);
	hold(ret == (failed ? -ENOMEM : 0));
	if (ret) return;
	situation_free(&s);
	machine_free(&m);
}

START_TEST(snapshot)
{
	struct dice dice = { 3 };
	struct machine m;
	struct situation s;
	for_ever = _i;
	made_random_machine(&m, &dice);
	made_random_situation(&s, &m, &dice);
	text_bytes = snapshot_print(&s, text, sizeof text);
	situation_free(&s);
	machine_free(&m);
	fail_each(parse, 100);
}
END_TEST

static struct registry registry;

static void add_threads(void)
{
	registry_init(&registry);
	for (int i = 0; i < 3 * REGISTRY_BLOCK; i++) {
		struct nsched_thread *thread = registry_add(&registry, 1 + i, true);
		hold(thread || failed);
	}
	hold(!failed || registry.refused > 0);
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) free(registry.block[b]);
	memset(&registry, 0, sizeof registry);
}

START_TEST(threads)
{
	for_ever = _i;
	fail_each(add_threads, 100);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, session, 0, 2);
	tcase_add_test(tcase, recovers);
	tcase_add_loop_test(tcase, policy, 0, 2);
	tcase_add_loop_test(tcase, snapshot, 0, 2);
	tcase_add_loop_test(tcase, threads, 0, 2);
}

int main(void)
{
	return made_main("memory", add);
}
