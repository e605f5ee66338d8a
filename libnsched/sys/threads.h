/* The threads of this process as the kernel lists them. */
#ifndef NSCHED_THREADS_H
#define NSCHED_THREADS_H

#include <stdint.h>
#include <sys/types.h>

typedef void threads_found(void *arg, pid_t tid);

/* Calls `found` for every thread of /proc/self/task. Their number, or -errno. */
int threads_scan(threads_found *found, void *arg);

/* The lowest number among the threads that are called so: as a rule the oldest of them. 0: none. */
pid_t threads_first_named(const char *name);

/* The state of a thread, a letter of proc(5); 0: it can't be read. */
char threads_state(pid_t tid);

struct thread_times {
	unsigned cpu_os;   /* where it runs, or ran last */
	uint64_t ticks;    /* user and system time, in clock ticks */
};

/* From /proc/self/task/TID/stat. 0, or -errno (-ENOENT, -ESRCH: it is gone). */
int threads_times(pid_t tid, struct thread_times *times);

/* The same from the text of that file; -EINVAL where it is not one. */
int threads_parse_stat(const char *text, struct thread_times *times);

#endif
