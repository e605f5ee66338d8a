/* The helper thread: calls a function, which says after how many ms it wants to be called again, until
 * it is stopped. It blocks every signal, so that none of the program's is ever delivered to it. */
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
	bool running, stop;
	uint64_t (*step)(void *arg, pid_t self_tid);
	void *arg;
};

/* 0, or what pthread_create said, negated. A second start while running does nothing. */
int loop_start(struct loop *loop, uint64_t (*step)(void *arg, pid_t self_tid), void *arg);

/* Wakes the thread and waits for it; it may be in the middle of a step. */
void loop_stop(struct loop *loop);

#endif
