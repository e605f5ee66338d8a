/* The helper thread: calls a function, which says after how many ms it wants to be called again, until
 * it is stopped, or is the last thread that the process has. It blocks every signal, so that none of the program's is ever
 * delivered to it. */
#ifndef NSCHED_LOOP_H
#define NSCHED_LOOP_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What its thread is called: so a second copy of nsched in the process finds the first. */
#define LOOP_THREAD_NAME "nsched"

struct loop {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	_Atomic bool running;         /* any thread may ask */
	bool stop;                    /* under the lock */
	const struct loop_ops *ops;
	void *arg;
};

/* All in the helper thread, and any but `step` may be NULL. */
struct loop_ops {
	void (*begin)(void *arg);                         /* first of all */
	uint64_t (*step)(void *arg, pid_t self_tid);      /* LOOP_END: nothing more is to be done, the thread ends */
	void (*end)(void *arg);                           /* last of all */
};

#define LOOP_END UINT64_MAX

/* 0, or what pthread_create said, negated. A second start while running does nothing. */
int loop_start(struct loop *loop, const struct loop_ops *ops, void *arg);

/* Wakes the thread and waits for it; it may be in the middle of a step. Where all other threads have ended and the C library ends
 * the process for that, this is called in the helper thread itself. */
void loop_stop(struct loop *loop);

#endif
