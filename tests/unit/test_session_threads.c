/* How often threads are asked where they are and how much they run: as often as it can matter. */
#include <check.h>
#include <errno.h>

#include "made.h"
#include "scene.h"

enum {
	THREADS = 4,
	BUSY = 0, SLEEPER = 1, WAKES = 2, GOES = 3,
	TICKS_PER_S = 100,
	LOOK_MS = 500,          /* a load is taken over so long, where things change */
};

/* Threads of which each runs its part of the time, on the CPU that it is on. */
static struct {
	struct scene *scene;
	double load[THREADS], ticks[THREADS];
	unsigned cpu[THREADS], asked[THREADS];
	uint64_t at_ns;
} made_up;

static int scan(void *state, threads_found *found, void *arg)
{
	(void)state, (void)found, (void)arg;
	return 0;
}

static int times(void *state, pid_t tid, struct thread_times *t)
{
	unsigned i = (unsigned)(tid - SCENE_TID);
	(void)state;
	ck_assert_uint_lt(i, THREADS);
	made_up.asked[i]++;
	*t = (struct thread_times){ .ticks = (uint64_t)made_up.ticks[i], .cpu_os = made_up.cpu[i] };
	return made_up.load[i] < 0 ? -ENOENT : 0;
}

static unsigned ticks_per_s(void *state)
{
	(void)state;
	return TICKS_PER_S;
}

static int balancing(void *state)
{
	(void)state;
	return 0;
}

static int faults(void *state, pid_t tid, struct kernel_faults *f, kernel_faults_node *node, void *arg)
{
	(void)state, (void)tid, (void)f, (void)node, (void)arg;
	return -ENOENT;
}

static const struct eyes_ops eyes = { scan, times, ticks_per_s, balancing, faults };

static void begin(void)
{
	struct scene *s = scene_made(2, 4, THREADS, 64);
	ck_assert_int_eq(nsched_config_set(&s->config, "policy", "stay", NULL), 0);
	s->eyes = &eyes;
	made_up.scene = s;
	for (unsigned t = 0; t < THREADS; t++) {
		made_up.load[t] = t == BUSY || t == GOES;
		made_up.ticks[t] = made_up.asked[t] = 0;
		made_up.cpu[t] = t;
	}
	ck_assert_int_eq(scene_begin(s, true), 0);
}

/* Steps, in which there is always something to see: it never gets calm. */
static void go(unsigned steps)
{
	for (unsigned i = 0; i < steps; i++) {
		for (unsigned t = 0; t < THREADS; t++)
			if (made_up.load[t] > 0) made_up.ticks[t] += made_up.load[t] * TICKS_PER_S * SCENE_STEP_MS / 1000;
		made_up.scene->session.pace.changed_ns = made_up.scene->session.last_ns;
		made_up.scene->session.pace.steps = 0;
		ck_assert_int_ge(scene_steps(made_up.scene, 1), 0);
	}
}

static const struct nsched_thread *thread(unsigned t)
{
	return registry_at(&made_up.scene->registry, t);
}

START_TEST(sleepers_are_left_alone)
{
	enum { STEPS = 100 };
	begin();
	go(10);
	for (unsigned t = 0; t < THREADS; t++) made_up.asked[t] = 0;
	go(STEPS);
	ck_assert_uint_eq(made_up.asked[BUSY], STEPS);
	ck_assert_uint_le(made_up.asked[SLEEPER], STEPS * SCENE_STEP_MS / LOOK_MS + 1);
	ck_assert_uint_ge(made_up.asked[SLEEPER], STEPS * SCENE_STEP_MS / LOOK_MS / 2);
	ck_assert_float_eq_tol(thread(BUSY)->load, 1, 0.05f);
	ck_assert_float_eq_tol(thread(SLEEPER)->load, 0, 0.01f);
	scene_end(made_up.scene);
}
END_TEST

/* One that wakes is known within two looks at loads, and where it is from then on in each step; one that goes is missed. */
START_TEST(who_wakes_is_seen)
{
	begin();
	go(20);
	made_up.load[WAKES] = 1;
	made_up.cpu[WAKES] = 6;
	go(2 * LOOK_MS / SCENE_STEP_MS);
	ck_assert_float_gt(thread(WAKES)->load, 0.3f);
	ck_assert_int_eq(thread(WAKES)->node, 1);
	made_up.cpu[WAKES] = 0;
	go(1);
	ck_assert_int_eq(thread(WAKES)->node, 0);
	made_up.load[GOES] = made_up.load[SLEEPER] = -1;
	go(1);
	ck_assert_int_eq(thread(GOES)->state, THREAD_FREE);
	go(LOOK_MS / SCENE_STEP_MS);
	ck_assert_int_eq(thread(SLEEPER)->state, THREAD_FREE);
	scene_end(made_up.scene);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, sleepers_are_left_alone);
	tcase_add_test(tcase, who_wakes_is_seen);
}

int main(void)
{
	return made_main("session_threads", add);
}
