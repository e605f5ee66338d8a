/* /proc/self/task: the text of stat, whatever a thread is called, and the real thing. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "made.h"
#include "sys/threads.h"

#define UP_TO_UTIME " S 1 2 3 4 5 6 7 8 9 10 "
#define BEHIND_STIME " 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 "

static const struct stat_case { const char *text; int result; uint64_t ticks; unsigned cpu; } cases[] = {
	{ "7 (cat)" UP_TO_UTIME "100 20" BEHIND_STIME "5 40 41\n", 0, 120, 5 },
	{ "7 (cat)" UP_TO_UTIME "100 20" BEHIND_STIME "5", 0, 120, 5 },
	{ "7 (a) b)" UP_TO_UTIME "1 2" BEHIND_STIME "63 40\n", 0, 3, 63 },
	{ "7 () S 9 9 (x\n)" UP_TO_UTIME "1 2" BEHIND_STIME "63 40\n", 0, 3, 63 },
	{ "7 ()" UP_TO_UTIME "0 0" BEHIND_STIME "0 40\n", 0, 0, 0 },
	{ "7 (big)" UP_TO_UTIME "4294967296 1" BEHIND_STIME "4095 40\n", 0, 4294967297, 4095 },
	{ "7 (neg) S 1 -1 3 4 5 6 7 8 9 10 1 2 -3" BEHIND_STIME "5 40\n", 0, 3, 38 },
	{ "", -EINVAL }, { "7 (cat", -EINVAL }, { "7 (cat)", -EINVAL }, { "7 (cat) S", -EINVAL },
	{ "7 (cat)" UP_TO_UTIME "100 20", -EINVAL },
	{ "7 (cat)" UP_TO_UTIME "100 20" BEHIND_STIME, -EINVAL },
	{ "7 (cat)" UP_TO_UTIME "100 20" BEHIND_STIME "x", -EINVAL },
	{ "7 (cat)X" UP_TO_UTIME "100 20" BEHIND_STIME "5", -EINVAL },
};

START_TEST(stat_text)
{
	const struct stat_case *c = &cases[_i];
	struct thread_times times;
	ck_assert_msg(threads_parse_stat(c->text, &times) == c->result, "%s", c->text);
	if (c->result) return;
	ck_assert_uint_eq(times.ticks, c->ticks);
	ck_assert_uint_eq(times.cpu_os, c->cpu);
}
END_TEST

static void found(void *arg, pid_t tid)
{
	pid_t *seen = arg;
	for (unsigned i = 0; i < 8; i++)
		if (seen[i] == tid || !seen[i]) {
			seen[i] = tid;
			return;
		}
}

static pthread_barrier_t barrier;
static pid_t child_tid;

static void *child(void *arg)
{
	(void)arg;
	child_tid = (pid_t)syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), "(a) b) 1 2 3");
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static bool has(const pid_t *seen, pid_t tid)
{
	for (unsigned i = 0; i < 8; i++)
		if (seen[i] == tid) return true;
	return false;
}

START_TEST(real)
{
	pid_t seen[8] = { 0 };
	pthread_t thread;
	struct thread_times times, own;
	pthread_barrier_init(&barrier, NULL, 2);
	ck_assert_int_eq(pthread_create(&thread, NULL, child, NULL), 0);
	pthread_barrier_wait(&barrier);
	ck_assert_int_ge(threads_scan(found, seen), 2);
	ck_assert(has(seen, (pid_t)syscall(SYS_gettid)) && has(seen, child_tid));
	ck_assert_int_eq(threads_times(child_tid, &times), 0);
	ck_assert_uint_lt(times.cpu_os, MACHINE_CPUS);
	ck_assert_int_eq(threads_times((pid_t)syscall(SYS_gettid), &own), 0);
	ck_assert_int_eq(threads_first_named("(a) b) 1 2 3"), child_tid);
	pthread_setname_np(pthread_self(), "(a) b) 1 2 3");
	ck_assert_int_eq(threads_first_named("(a) b) 1 2 3"), child_tid < getpid() ? child_tid : getpid());
	ck_assert_int_eq(threads_first_named("(a) b) 1 2"), 0);
	ck_assert_int_eq(threads_state((pid_t)syscall(SYS_gettid)), 'R');
	ck_assert(threads_state(child_tid) == 'S' || threads_state(child_tid) == 'R');
	ck_assert_int_eq(threads_state(1 << 30), 0);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	int ret = 0;
	for (unsigned i = 0; i < 1000 && ret == 0; i++) {   /* it is in /proc for a moment longer */
		ret = threads_times(child_tid, &times);
		sched_yield();
		usleep(1000);
	}
	ck_assert(ret == -ENOENT || ret == -ESRCH);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, stat_text, cases);
	tcase_add_test(tcase, real);
}

int main(void)
{
	return made_main("threads", add);
}
