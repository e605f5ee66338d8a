/* The sources on this machine: what they see of a thread that touches one array, and that they leave
 * nothing behind. A source that is closed here is skipped, with its reason. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sys/cpu_timer.h"
#include "sys/source.h"

/* Sanitizers touch memory of their own beside each access. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool instrumented = true;
#else
static const bool instrumented = false;
#endif
/* The thread sanitizer hands on a signal when it sees fit, and several as one. */
#if defined(__SANITIZE_THREAD__)
static const bool signals_come_late = true;
#else
static const bool signals_come_late = false;
#endif

enum { BYTES = 64 << 20, PAGE = 4096, PERIOD_NS = 1000000 };

static char *array;
static _Atomic int tid;
static _Atomic bool stop;

static struct {
	unsigned inside, outside;
	unsigned kind[3];
	double weight_ns;
} seen;

static void take(void *arg, const struct access *access)
{
	(void)arg;
	ck_assert_uint_eq(access->thread, 3);
	ck_assert(access->weight_ns >= 0);
	if (access->addr - (uint64_t)(uintptr_t)array < BYTES) {
		seen.inside++;
		seen.weight_ns += (double)access->weight_ns;
		seen.kind[access->kind]++;
	} else {
		seen.outside++;
	}
}
static const struct sink sink = { take, NULL };

static void *touch(void *arg)
{
	volatile char *bytes = array;

	(void)arg;
	tid = (int)syscall(SYS_gettid);
	while (!stop)
		for (size_t i = 0; i < BYTES && !stop; i += 64)
			bytes[i]++;
	return NULL;
}

static void setup(void)
{
	memset(&seen, 0, sizeof(seen));
	tid = 0;
	stop = false;
	array = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(array != MAP_FAILED);
	madvise(array, BYTES, MADV_NOHUGEPAGE);
}

/* NULL if it is closed here. */
static void *start(const struct source_ops *ops)
{
	struct source_setup setup_ = { PERIOD_NS, 8 };
	char why[SOURCE_WHY] = "";
	void *state = NULL;
	int err = ops->start(&setup_, &state, why);

	if (err) {
		ck_assert_msg(why[0] != 0, "%s: no reason", ops->name);
		printf("%s is closed here: %s\n", ops->name, why);
	}
	return err ? NULL : state;
}

static pthread_t start_thread(void)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, touch, NULL), 0);
	while (!tid)
		usleep(100);
	return thread;
}

static void poll_for(const struct source_ops *ops, void *state, unsigned wanted)
{
	for (unsigned i = 0; i < 2000 && seen.inside < wanted; i++) {
		usleep(2000);
		ck_assert_int_ge(ops->poll(state, &sink, 1000), 0);
	}
	ck_assert_uint_ge(seen.inside, wanted);
}

static const struct source_ops *const clocks[] = { &source_clock_perf, &source_clock_timer };

START_TEST(clock_sees_the_array)
{
	const struct source_ops *ops = clocks[_i];
	void *state = start(ops);
	struct source_counts counts;
	pthread_t thread;

	if (!state)
		return;
	thread = start_thread();
	ck_assert_int_eq(ops->thread_add(state, 3, tid), 0);
	poll_for(ops, state, 30);
	ops->counts(state, &counts);
	ck_assert_uint_ge(counts.resolved, 30);
	if (!instrumented)
		ck_assert_uint_ge(seen.inside, 10 * seen.outside);
	ck_assert_uint_eq(seen.kind[ACCESS_SAMPLE], seen.inside);
	ck_assert(seen.weight_ns >= 0.5 * PERIOD_NS * seen.inside);

	ops->set_period(state, 3, 10000000000); /* of this thread none from now on, once the ring is empty */
	ops->set_period(state, 7, PERIOD_NS);   /* which is not watched */
	usleep(20000);
	(void)ops->poll(state, &sink, 1000);
	seen.inside = 0;
	usleep(50000);
	ck_assert_int_eq(ops->poll(state, &sink, 1000), 0);
	ops->set_period(state, 3, PERIOD_NS);
	poll_for(ops, state, 5);

	ops->thread_remove(state, 3);
	seen.inside = 0;
	usleep(20000);
	ck_assert_int_eq(ops->poll(state, &sink, 1000), 0);
	ck_assert_uint_eq(seen.inside, 0);
	ck_assert_int_lt(ops->thread_add(state, 8, tid), 0); /* beyond max_threads */
	ck_assert_int_eq(ops->thread_add(state, 3, tid), 0);
	ops->stop(state);
	stop = true;
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(thread_that_is_gone)
{
	void *state = start(clocks[_i]);
	pthread_t thread;

	if (!state)
		return;
	thread = start_thread();
	ck_assert_int_eq(clocks[_i]->thread_add(state, 3, tid), 0);
	stop = true;
	pthread_join(thread, NULL);
	ck_assert_int_ge(clocks[_i]->poll(state, &sink, 1000), 0);
	clocks[_i]->set_period(state, 3, 2 * PERIOD_NS);
	ck_assert_int_lt(clocks[_i]->thread_add(state, 4, tid), 0);
	clocks[_i]->stop(state);
}
END_TEST

/* Watched and left alone thousands of times, signals in flight all the while. */
START_TEST(add_and_remove_under_fire)
{
	void *state = start(clocks[_i]);
	pthread_t thread;

	if (!state)
		return;
	thread = start_thread();
	for (unsigned i = 0; i < 2000; i++) {
		ck_assert_int_eq(clocks[_i]->thread_add(state, 3, tid), 0);
		clocks[_i]->set_period(state, 3, 50000);
		if (i % 16 == 0)
			usleep(1000);
		(void)clocks[_i]->poll(state, &sink, 1000);
		clocks[_i]->thread_remove(state, 3);
	}
	clocks[_i]->stop(state);
	stop = true;
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(child_of_fork_is_clean)
{
	void *state = start(clocks[_i]);
	pthread_t thread;
	int status = 0;
	pid_t child;

	if (!state)
		return;
	thread = start_thread();
	ck_assert_int_eq(clocks[_i]->thread_add(state, 3, tid), 0);
	child = fork();
	if (child == 0) {
		struct sigaction urgent;

		clocks[_i]->forked(state);
		sigaction(SIGURG, NULL, &urgent);
		_exit(urgent.sa_handler == SIG_DFL ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	poll_for(clocks[_i], state, 10); /* the parent's go on */
	clocks[_i]->stop(state);
	stop = true;
	pthread_join(thread, NULL);
}
END_TEST

static void theirs(int signal)
{
	(void)signal;
}

START_TEST(timer_leaves_the_signal_to_the_program)
{
	struct source_setup setup_ = { PERIOD_NS, 8 };
	char why[SOURCE_WHY] = "";
	struct sigaction now;
	void *state;

	signal(SIGURG, theirs);
	ck_assert_int_eq(source_clock_timer.start(&setup_, &state, why), -EBUSY);
	ck_assert_str_eq(why, "the program uses SIGURG");
	signal(SIGURG, SIG_DFL);

	state = start(&source_clock_timer);
	if (!state)
		return;
	ck_assert_int_eq(source_clock_timer.thread_add(state, 3, (pid_t)syscall(SYS_gettid)), 0);
	ck_assert_int_eq(source_clock_timer.start(&setup_, &state, why), -EBUSY); /* once only */
	signal(SIGURG, theirs);
	ck_assert_int_eq(source_clock_timer.poll(state, &sink, 1000), -EBUSY);
	source_clock_timer.stop(state);
	sigaction(SIGURG, NULL, &now);
	ck_assert(now.sa_handler == theirs);
}
END_TEST

START_TEST(timer_gives_the_signal_back)
{
	void *state = start(&source_clock_timer);
	struct sigaction now;

	if (!state)
		return;
	raise(SIGURG); /* not a timer's: nothing happens */
	source_clock_timer.stop(state);
	sigaction(SIGURG, NULL, &now);
	ck_assert(now.sa_handler == SIG_DFL);
}
END_TEST

/* ---- what a sample takes -------------------------------------------------------------------------------------- */

enum { VALUE = 4711, WORK_NS = 100000 };

static volatile sig_atomic_t came, wrong;
static uint64_t work_ns;
static unsigned drained;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void handle(int signal, siginfo_t *info, void *context)
{
	uint64_t begin = cpu_ns();

	(void)signal;
	(void)context;
	came++;
	wrong |= info->si_code != SI_TIMER || info->si_value.sival_ptr != (void *)VALUE;
	while (work_ns && cpu_ns() - begin < work_ns)
		;
}

static void count_drained(void *arg)
{
	drained++;
	ck_assert_ptr_eq(arg, &drained);
}

static unsigned price_with(int timer, uint64_t ns)
{
	came = 0;
	work_ns = ns;
	return cpu_timer_price(timer, SIGUSR2, VALUE, count_drained, &drained);
}

/* It is that of all that happens, the handler's own work included; and where the calls are refused, it is not known. */
START_TEST(price_of_a_signal)
{
	struct sigaction ours = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
	int timer, none = 0;

	sigaction(SIGUSR2, &ours, NULL);
	ck_assert_int_eq(cpu_timer_create((pid_t)syscall(SYS_gettid), SIGUSR2, VALUE, &timer), 0);
	unsigned quick = price_with(timer, 0), signals = (unsigned)came;
	ck_assert_uint_gt(quick, 0);
	ck_assert_uint_ge(signals, signals_come_late ? 1 : 16);
	ck_assert_uint_gt(drained, 0);
	unsigned slow = price_with(timer, WORK_NS);
	ck_assert_uint_gt(slow, signals_come_late ? 0 : WORK_NS);
	ck_assert_uint_eq((unsigned)came, signals);
	ck_assert_msg(quick < WORK_NS || instrumented, "%u", quick);
	ck_assert(!wrong);
	work_ns = 0;
	usleep(1000);
	ck_assert_uint_eq((unsigned)came, signals); /* it is stopped */
	cpu_timer_delete(timer);
	ck_assert_uint_eq(price_with(timer, 0), 0); /* there is none of that number any more */
	ck_assert_int_lt(cpu_timer_create(-1, SIGUSR2, VALUE, &none), 0);
	signal(SIGUSR2, SIG_DFL);
}
END_TEST

/* Each clock says what a sample takes as it saw it. */
START_TEST(price_of_a_sample)
{
	void *state = start(clocks[_i]);

	if (!state)
		return;
	printf("%s: a sample takes %u ns of its thread\n", clocks[_i]->name, clocks[_i]->price(state));
	ck_assert_uint_ge(clocks[_i]->price(state), 500);
	clocks[_i]->stop(state);
}
END_TEST

/* ---- faults ---------------------------------------------------------------------------------------------- */

START_TEST(faults_tell_first_touch)
{
	void *state = start(&source_faults);
	struct source_counts counts;

	if (!state)
		return;
	ck_assert_int_eq(source_faults.thread_add(state, 3, (pid_t)syscall(SYS_gettid)), 0);
	for (unsigned i = 0; i < 500; i++)
		array[i * PAGE] = 1;
	ck_assert_int_ge(source_faults.poll(state, &sink, 1000), 500);
	/* a few may fall together; a sanitizer's own pages take half of the ring */
	ck_assert_uint_ge(seen.kind[ACCESS_FIRST_TOUCH], instrumented ? 150 : 400);
	ck_assert_int_eq(madvise(array, BYTES, MADV_DONTNEED), 0);
	seen.kind[ACCESS_FIRST_TOUCH] = 0;
	for (unsigned i = 0; i < 500; i++)
		array[i * PAGE] = 1;
	ck_assert_int_ge(source_faults.poll(state, &sink, 1000), 0);
	/* seen before; a sanitizer's own pages push some out of what the source remembers */
	ck_assert_uint_le(seen.kind[ACCESS_FIRST_TOUCH], instrumented ? 250 : 50);
	source_faults.counts(state, &counts);
	ck_assert_uint_ge(counts.samples, 1000);
	source_faults.stop(state);
}
END_TEST

START_TEST(flood_of_faults_is_throttled)
{
	void *state = start(&source_faults);
	unsigned first, last = 0, rounds = 100; /* on a busy machine faults come slowly, and it takes longer for a flood */

	if (!state)
		return;
	ck_assert_int_eq(source_faults.thread_add(state, 3, (pid_t)syscall(SYS_gettid)), 0);
	(void)source_faults.poll(state, &sink, 1);
	first = 0;
	for (unsigned round = 0; round < rounds && (round == 0 || last >= first / 2); round++) {
		struct source_counts before, after;

		madvise(array, BYTES, MADV_DONTNEED);
		for (unsigned i = 0; i < 4000; i++)
			array[(size_t)i * PAGE] = 1;
		source_faults.counts(state, &before);
		(void)source_faults.poll(state, &sink, 100000);
		source_faults.counts(state, &after);
		last = (unsigned)(after.samples - before.samples);
		if (round == 0)
			first = last;
	}
	ck_assert_uint_gt(first, 1000); /* what the ring holds */
	ck_assert_uint_lt(last, first / 2);
	source_faults.stop(state);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_loop_test(tcase, clock_sees_the_array, 0, 2);
	tcase_add_loop_test(tcase, thread_that_is_gone, 0, 2);
	tcase_add_loop_test(tcase, add_and_remove_under_fire, 0, 2);
	tcase_add_loop_test(tcase, child_of_fork_is_clean, 0, 2);
	tcase_add_test(tcase, timer_leaves_the_signal_to_the_program);
	tcase_add_test(tcase, timer_gives_the_signal_back);
	tcase_add_test(tcase, price_of_a_signal);
	tcase_add_loop_test(tcase, price_of_a_sample, 0, 2);
	tcase_add_test(tcase, faults_tell_first_touch);
	tcase_add_test(tcase, flood_of_faults_is_throttled);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
