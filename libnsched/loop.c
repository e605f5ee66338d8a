#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sys/threads.h"

enum { ALONE_MS = 1000 };  /* how often it looks at the least whether it is the last thread */
enum { STACK_BYTES = 1024 * 1024 };  /* a step's arrays take 100 KiB, the unwinder and Capstone the like; pages not used cost nothing */

static bool wait_or_stop(struct loop *l, uint64_t ms)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(ms / 1000);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&l->lock);
	int ret = 0;
	while (!l->stop && ret != ETIMEDOUT) ret = pthread_cond_timedwait(&l->wake, &l->lock, &until);
	bool stop = l->stop;
	pthread_mutex_unlock(&l->lock);
	return stop;
}

/* Has every thread but this one ended (main by pthread_exit)? The process would end then, if this one did not live. The
 * number of threads is in the links of a folder: a microsecond. */
static bool is_alone(void)
{
	enum { FOLDER_LINKS = 2, FIRST_AND_HELPER = 2 };
	struct stat folder;
	return !stat("/proc/self/task", &folder) && folder.st_nlink <= FOLDER_LINKS + FIRST_AND_HELPER && threads_state(getpid()) == 'Z';
}

static bool wait_or_end(struct loop *l, uint64_t ms)
{
	if (ms == LOOP_END || is_alone()) return true;
	for (; ms > ALONE_MS; ms -= ALONE_MS)
		if (wait_or_stop(l, ALONE_MS) || is_alone()) return true;
	return wait_or_stop(l, ms);
}

static void *run(void *arg)
{
	struct loop *l = arg;
	pid_t self = (pid_t)syscall(SYS_gettid);
	if (l->ops->begin) l->ops->begin(l->arg);
	while (!wait_or_end(l, l->ops->step(l->arg, self)))
		;
	if (l->ops->end) l->ops->end(l->arg);
	return NULL;
}

int loop_start(struct loop *l, const struct loop_ops *ops, void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_condattr_t monotonic;
	if (l->running) return 0;
	l->stop = false;
	l->ops = ops;
	l->arg = arg;
	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&l->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES > PTHREAD_STACK_MIN ? STACK_BYTES : PTHREAD_STACK_MIN);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int ret = pthread_create(&l->thread, &attr, run, l);
	if (!ret) pthread_setname_np(l->thread, LOOP_THREAD_NAME);   /* from here: who looks for it after this finds it */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	l->running = ret == 0;
	return -ret;
}

void loop_stop(struct loop *l)
{
	if (!l->running) return;
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->lock);
	if (!pthread_equal(l->thread, pthread_self())) pthread_join(l->thread, NULL);
	l->running = false;
}
