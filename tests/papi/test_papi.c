/* The counters of the real PAPI library, by events that this program defines for itself with libsde: each
 * answers for the thread that asks, as hardware counters do.
 *
 * libsde comes in as it does in a plugin: by dlopen, out of sight of PAPI unless someone sees to it. */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <sde_lib.h>

#include "../stubs/fake_hands.h"
#include "../stubs/fake_source.h"
#include "../unit/made.h"
#include "session.h"

enum { THREADS = 4, SLICE = 512, STEP_MS = 100 };

static const char EVENTS[] = "sde:::job::local_dram, sde:::job::remote_dram";
static __thread long long counted[COUNTERS];   /* what each thread's counters say of it */

/* ---- this program's own events ------------------------------------------------------------------------- */

static long long answer(void *kind)
{
	return counted[(uintptr_t)kind];
}

static bool define_events(void)
{
	void *sde = dlopen("libsde.so.1", RTLD_NOW | RTLD_LOCAL);
	papi_handle_t (*init)(const char *name);
	int (*define)(papi_handle_t handle, const char *event, int mode, int type, papi_sde_fptr_t callback, void *arg);
	if (!sde) return false;
	*(void **)&init = dlsym(sde, "papi_sde_init");
	*(void **)&define = dlsym(sde, "papi_sde_register_counter_cb");
	papi_handle_t handle = init("job");
	return define(handle, "local_dram", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, answer, (void *)COUNTER_LOCAL) == SDE_OK &&
	       define(handle, "remote_dram", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, answer, (void *)COUNTER_REMOTE) == SDE_OK;
}

static void *start(const char *events, struct counter_about *about, char why[COUNTER_WHY])
{
	struct counter_setup setup = { .events = events, .root = "", .max_threads = 64 };
	void *state = NULL;
	why[0] = 0;
	int ret = counter_papi.start(&setup, &state, about, why);
	ck_assert_msg(ret == 0 || why[0], "no reason");
	return ret ? NULL : state;
}

/* A /proc and a /sys with this CPU and a PMU, in papi_root of the current folder. */
static void made_root(const char *vendor, int family, int model)
{
	static const char *const folders[] = { "", "/proc", "/sys", "/sys/bus", "/sys/bus/event_source", "/sys/bus/event_source/devices",
	                                       "/sys/bus/event_source/devices/cpu" };
	char path[128];
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		snprintf(path, sizeof path, "papi_root%s", folders[i]);
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
	}
	FILE *out = fopen("papi_root/proc/cpuinfo", "we");
	ck_assert_ptr_nonnull(out);
	fprintf(out, "vendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\nstepping\t: 1\n", vendor, family, model);
	fclose(out);
}

/* ---- counting ------------------------------------------------------------------------------------------ */

static struct { void *state; unsigned thread; long long local, remote; _Atomic int turn; } one;

static void wait_for(int turn)
{
	while (atomic_load(&one.turn) != turn) usleep(200);
}

static void *count(void *arg)
{
	(void)arg;
	counted[COUNTER_LOCAL] = 1000;     /* from before it was watched */
	counter_papi.look(one.state, one.thread);
	counted[COUNTER_LOCAL] += one.local;
	counted[COUNTER_REMOTE] += one.remote;
	counter_papi.look(one.state, one.thread);
	atomic_store(&one.turn, 1);
	wait_for(2);
	counter_papi.leave(one.state, one.thread);
	return NULL;
}

/* Each thread's count is its own, and begins when it is first read. */
START_TEST(each_reads_for_itself)
{
	struct counter_about about;
	char why[COUNTER_WHY];
	uint64_t at = 0, value[COUNTERS];
	ck_assert(define_events());
	one.state = start(EVENTS, &about, why);
	ck_assert_msg(one.state != NULL, "%s", why);
	ck_assert(about.by_itself && about.named && !about.demand);
	ck_assert_str_eq(about.events, EVENTS);
	for (unsigned i = 0; i < 3; i++) {
		pthread_t thread;
		one.thread = 5 + i % 2;                     /* one number is used anew */
		one.local = 11 + i;
		one.remote = 70 + i;
		atomic_store(&one.turn, 0);
		ck_assert_int_eq(counter_papi.thread_add(one.state, one.thread, 1), 0);
		ck_assert_int_eq(counter_papi.read(one.state, one.thread, &at, value), -EAGAIN);
		ck_assert_int_eq(pthread_create(&thread, NULL, count, NULL), 0);
		wait_for(1);
		ck_assert_int_eq(counter_papi.read(one.state, one.thread, &at, value), 0);
		ck_assert_uint_eq(value[COUNTER_LOCAL], 11 + i);
		ck_assert_uint_eq(value[COUNTER_REMOTE], 70 + i);
		ck_assert_uint_gt(at, 0);
		atomic_store(&one.turn, 2);
		pthread_join(thread, NULL);
		counter_papi.thread_remove(one.state, one.thread);
	}
	ck_assert_int_eq(counter_papi.thread_add(one.state, 64, 1), -EINVAL);
	counter_papi.stop(one.state);
	one.state = start(EVENTS, &about, why);             /* and once more */
	ck_assert_ptr_nonnull(one.state);
	counter_papi.stop(one.state);
}
END_TEST

static const struct wrong_case { const char *events, *why; bool undefined; } wrong_cases[] = {
	{ "sde:::job::local_dram", "events wants two names, LOCAL,REMOTE; it has one", false },
	{ "a,b,c", "events wants two names, LOCAL,REMOTE; it has more", false },
	{ "sde:::job::local_dram, ", "events wants two names, LOCAL,REMOTE; one is empty or longer than 255 letters", false },
	{ "perf::PAGE-FAULTS,perf::MINOR-FALUTS", "PAPI knows no event \"perf::MINOR-FALUTS\"; did you mean \"perf::MINOR-FAULTS\"?", false },
	{ "sde:::job::local_dram,perf::PAGE-FAULTS", "are of two components of PAPI", false },
	{ "sde:::job::local_dram,sde:::job::remote_dram", "PAPI knows no event \"sde:::job::local_dram\"", true },
};

START_TEST(wrong_events)
{
	const struct wrong_case *w = &wrong_cases[_i];
	struct counter_about about;
	char why[COUNTER_WHY];
	ck_assert(w->undefined || define_events());
	ck_assert_ptr_null(start(w->events, &about, why));
	ck_assert_msg(strstr(why, w->why) != NULL, "%s", why);
}
END_TEST

START_TEST(no_library)
{
	struct counter_setup setup = { .events = EVENTS, .library = "libnone.so.3", .root = "", .max_threads = 4 };
	struct counter_about about;
	char why[COUNTER_WHY];
	void *state;
	ck_assert_int_eq(counter_papi.start(&setup, &state, &about, why), -ENOENT);
	ck_assert_str_eq(why, "libnone.so.3 can't be loaded: install PAPI (Debian: libpapi7.0)");
	setup.library = "libm.so.6";
	ck_assert_int_eq(counter_papi.start(&setup, &state, &about, why), -ENOSYS);
}
END_TEST

/* ---- the session --------------------------------------------------------------------------------------- */

/* A machine of two nodes with two CPUs each, a thread on every CPU. Threads 0 and 2 compute from memory that is
 * on the other's node; 1 and 3 do the same with as many samples, but in their caches: they count nothing. */
static struct {
	struct nsched_config config;
	struct fake_clock clock;
	struct fake_hands hands;
	struct registry registry;
	struct ranges ranges;
	struct session session;
	pthread_mutex_t lock;                      /* protects hands */
	_Atomic bool stop;
	_Atomic int ready;
	struct nsched_thread *thread[THREADS];
	bool computes[THREADS];
} job;

static int node_of(unsigned thread)
{
	const struct cpu_mask *mask = fake_hands_mask(&job.hands, job.thread[thread]->tid);
	bool first = mask_has(mask, 0) || mask_has(mask, 1), second = mask_has(mask, 2) || mask_has(mask, 3);
	return first && second ? (int)thread / 2 : second;
}

/* A thread's memory: the slice of the thread across. */
static unsigned slice_of(unsigned thread)
{
	return (thread + 2) % THREADS * SLICE;
}

/* 10 accesses a microsecond, local or remote as pages and thread lie. */
static void access_memory(unsigned me, uint64_t ns)
{
	pthread_mutex_lock(&job.lock);
	int node = node_of(me);
	unsigned local = fake_hands_count(&job.hands, slice_of(me), SLICE, node);
	pthread_mutex_unlock(&job.lock);
	if (job.computes[me]) return;
	counted[COUNTER_LOCAL] += (long long)(ns / 100 * local / SLICE);
	counted[COUNTER_REMOTE] += (long long)(ns / 100 * (SLICE - local) / SLICE);
}

static void *work(void *arg)
{
	unsigned me = (unsigned)(uintptr_t)arg;
	struct timespec now, then;
	pid_t tid = (pid_t)syscall(SYS_gettid);
	struct cpu_mask all;
	mask_clear(&all);
	for (unsigned c = 0; c < 4; c++) mask_add(&all, c);
	pthread_mutex_lock(&job.lock);
	fake_hands_thread(&job.hands, tid, &all);
	job.thread[me] = registry_add(&job.registry, tid, true);
	job.thread[me]->node = (int)me / 2;
	pthread_mutex_unlock(&job.lock);
	atomic_fetch_add(&job.ready, 1);
	clock_gettime(CLOCK_MONOTONIC, &then);
	while (!atomic_load(&job.stop)) {
		usleep(2000);
		clock_gettime(CLOCK_MONOTONIC, &now);
		access_memory(me, (uint64_t)(now.tv_sec - then.tv_sec) * 1000000000 + (uint64_t)now.tv_nsec - (uint64_t)then.tv_nsec);
		then = now;
		registry_place(job.thread[me]);        /* where it reads its counters; the hands bind from outside */
	}
	registry_bye(job.thread[me]);
	return NULL;
}

static void begin_session(const char *events)
{
	static const struct source_ops *const sources[] = { &fake_source_ops, NULL };
	struct session_setup setup = { .config = &job.config, .clock = &clock_linux, .hands = &fake_hands_ops, .hands_state = &job.hands,
	                               .sources = sources, .counters = &counter_papi, .registry = &job.registry, .ranges = &job.ranges };
	ck_assert_int_eq(nsched_config_set(&job.config, "counters", events ? "on" : "off", NULL), 0);
	ck_assert_int_eq(nsched_config_set(&job.config, "events", events ? events : "", NULL), 0);
	made_machine(&setup.machine, 2, 2);
	for (unsigned c = 0; c < 4; c++) mask_add(&setup.allowed, c);
	ck_assert_int_eq(session_init(&job.session, &setup), 0);
	ck_assert_msg(job.session.counters.on == (events != NULL), "%s", job.session.counters.why);
}

static void step(unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		usleep(STEP_MS * 1000);
		fake_clock_pass(&job.clock, STEP_MS * 1000000ull, THREADS);
		pthread_mutex_lock(&job.lock);
		ck_assert_int_ge(session_step(&job.session), 0);
		pthread_mutex_unlock(&job.lock);
	}
}

/* Runs it for so long; `may_move_pages` as the option. */
static void run(const char *events, bool may_move_pages, unsigned steps, pthread_t thread[THREADS])
{
	job.clock.now_ns = 1000000000000;
	fake_source.clock = &job.clock;
	job.hands.first_page = 0x7f1234400ull;
	pthread_mutex_init(&job.lock, NULL);
	for (unsigned t = 0; t < THREADS; t++) fake_hands_pages(&job.hands, t * SLICE, SLICE, (int)t / 2);
	config_defaults(&job.config);
	if (!may_move_pages) ck_assert_int_eq(nsched_config_set(&job.config, "move_pages", "0", NULL), 0);
	registry_init(&job.registry);
	ranges_init(&job.ranges, 64, 64);
	for (uintptr_t t = 0; t < THREADS; t++) {
		ck_assert_int_eq(pthread_create(&thread[t], NULL, work, (void *)t), 0);
		while (atomic_load(&job.ready) <= (int)t) usleep(200);
	}
	begin_session(events);
	step(6);                                       /* the counters come to be known */
	for (unsigned t = 0; t < THREADS; t++)
		fake_source_feed(job.thread[t]->number, (job.hands.first_page + slice_of(t)) << 12, SLICE << 12);
	step(steps);
}

static void end(pthread_t thread[THREADS])
{
	atomic_store(&job.stop, true);
	for (unsigned t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
	session_stop(&job.session);
	session_free(&job.session);
	ranges_free(&job.ranges);
}

/* Memory may not move: the two that suffer change places, those that compute stay, and the counters see that it
 * helped. */
START_TEST(who_suffers_is_moved)
{
	pthread_t thread[THREADS];
	ck_assert(define_events());
	job.computes[1] = job.computes[3] = true;
	run(EVENTS, false, 35, thread);
	ck_assert_int_eq(node_of(0), 1);
	ck_assert_int_eq(node_of(2), 0);
	ck_assert_int_eq(node_of(1), 0);
	ck_assert_int_eq(node_of(3), 1);
	ck_assert_uint_eq(job.session.totals.thread_moves, 2);
	ck_assert_uint_eq(job.session.counters.remote_permille_first, 1000);
	ck_assert_uint_lt(job.session.counters.remote_permille_now, 500);
	ck_assert_uint_eq(job.session.counters.helped, 2);
	ck_assert_uint_eq(job.session.counters.no_help, 0);
	end(thread);
}
END_TEST

/* A program that only computes is left alone, whatever its samples look like: no page and no thread moves. The
 * same without counters: everything does. */
START_TEST(compute_bound)
{
	pthread_t thread[THREADS];
	ck_assert(define_events());
	for (unsigned t = 0; t < THREADS; t++) job.computes[t] = true;
	run(_i ? NULL : EVENTS, true, 12, thread);
	if (_i) ck_assert_uint_gt(job.session.totals.thread_moves + job.session.totals.moved_pages, 0);
	else ck_assert_uint_eq(job.session.totals.thread_moves + job.hands.asked + job.hands.calls[FAKE_SET_MASK], 0);
	end(thread);
}
END_TEST

/* ---- attached, with a PMU that is made up ----------------------------------------------------------------- */

/* Where PAPI can attach event sets, the stepping thread has them all; chosen by CPU, from a made-up /proc and /sys. */
START_TEST(attached)
{
	void *fake = dlopen("tests/papi/.libs/fake_papi.so", RTLD_NOW);
	int (*open_sets)(void);
	struct counter_setup setup = { .events = "", .library = "tests/papi/.libs/fake_papi.so", .root = "papi_root", .max_threads = 8 };
	struct counter_about about;
	char why[COUNTER_WHY] = "";
	uint64_t at, value[COUNTERS];
	void *state;
	ck_assert_msg(fake != NULL, "%s", dlerror());
	*(void **)&open_sets = dlsym(fake, "fake_papi_open_sets");
	made_root("AuthenticAMD", 25, 17);
	ck_assert_int_eq(counter_papi.start(&setup, &state, &about, why), -EBUSY);   /* it is loaded, by us: maybe in use */
	ck_assert_str_eq(why, "the program has PAPI loaded and may be counting itself; counters=on counts beside it");
	setup.insist = true;
	ck_assert_msg(counter_papi.start(&setup, &state, &about, why) == 0, "%s", why);
	ck_assert(!about.by_itself && !about.named && !about.demand);
	ck_assert_ptr_nonnull(strstr(about.events, "DRAM_IO_NEAR"));
	ck_assert_int_eq(open_sets(), 0);
	for (unsigned round = 0; round < 3; round++) {
		ck_assert_int_eq(counter_papi.thread_add(state, 3, 1000), 0);
		ck_assert_int_eq(counter_papi.thread_add(state, 4, 2000), 0);
		ck_assert_int_eq(counter_papi.thread_add(state, 5, 666), -EIO);
		ck_assert_int_eq(open_sets(), 2);
		counter_papi.look(state, 3);                                            /* not theirs to read */
		ck_assert_int_eq(counter_papi.read(state, 4, &at, value), 0);
		ck_assert_uint_eq(value[COUNTER_LOCAL], 20000);
		ck_assert_uint_eq(value[COUNTER_REMOTE], 2000);
		ck_assert_int_eq(counter_papi.read(state, 5, &at, value), -EIO);
		ck_assert_int_eq(counter_papi.read(state, 6, &at, value), -EAGAIN);
		counter_papi.leave(state, 3);
		counter_papi.thread_remove(state, 3);
		counter_papi.thread_remove(state, 4);
		ck_assert_int_eq(open_sets(), 0);
	}
	ck_assert_int_eq(counter_papi.thread_add(state, 3, 1000), 0);
	counter_papi.stop(state);
	ck_assert_int_eq(open_sets(), 0);
	made_root("AuthenticAMD", 21, 2);
	ck_assert_int_eq(counter_papi.start(&setup, &state, &about, why), -ENOENT);
	ck_assert_str_eq(why, "no events are known for AuthenticAMD family 21 model 0x2; events=LOCAL,REMOTE names them");
	ck_assert_int_eq(rmdir("papi_root/sys/bus/event_source/devices/cpu"), 0);
	ck_assert_int_eq(counter_papi.start(&setup, &state, &about, why), -ENODEV);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, each_reads_for_itself);
	made_loop(tcase, wrong_events, wrong_cases);
	tcase_add_test(tcase, no_library);
	tcase_add_test(tcase, attached);
	tcase_add_test(tcase, who_suffers_is_moved);
	tcase_add_loop_test(tcase, compute_bound, 0, 2);
}

int main(void)
{
	return made_main("papi", add);
}
