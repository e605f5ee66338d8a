#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

static void *run(void *arg)
{
	struct loop *l = arg;
	pid_t self = (pid_t)syscall(SYS_gettid);
	while (!wait_or_stop(l, l->step(l->arg, self)))
		;
	return NULL;
}

int loop_start(struct loop *l, uint64_t (*step)(void *arg, pid_t self_tid), void *arg)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_condattr_t monotonic;
	if (l->running) return 0;
	memset(l, 0, sizeof *l);
	l->step = step;
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
	pthread_join(l->thread, NULL);
	l->running = false;
}
