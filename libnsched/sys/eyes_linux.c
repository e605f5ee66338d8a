#include <unistd.h>

#include "sys/eyes.h"

static int scan(void *state, threads_found *found, void *arg)
{
	(void)state;
	return threads_scan(found, arg);
}

static int times(void *state, pid_t tid, struct thread_times *t)
{
	(void)state;
	return threads_times(tid, t);
}

static unsigned ticks_per_s(void *state)
{
	(void)state;
	return (unsigned)sysconf(_SC_CLK_TCK);
}

static int balancing(void *state)
{
	(void)state;
	return kernel_balancing("");
}

static int faults(void *state, pid_t tid, struct kernel_faults *f, kernel_faults_node *node, void *arg)
{
	(void)state;
	return kernel_faults_read(tid ? tid : getpid(), f, node, arg);
}

const struct eyes_ops eyes_linux = { scan, times, ticks_per_s, balancing, faults };
