/* The eyes: what /proc says of this process's threads, by way of a pointer, so that a replay has its own. */
#ifndef NSCHED_EYES_H
#define NSCHED_EYES_H

#include "sys/kernel_faults.h"
#include "sys/threads.h"

struct eyes_ops {
	/* threads_scan, threads_times. */
	int (*scan)(void *state, threads_found *found, void *arg);
	int (*times)(void *state, pid_t tid, struct thread_times *times);

	/* Of struct thread_times' ticks. */
	unsigned (*ticks_per_s)(void *state);

	/* kernel_balancing; kernel_faults_read (tid 0: of the first thread, to see whether there is such a thing). */
	int (*balancing)(void *state);
	int (*faults)(void *state, pid_t tid, struct kernel_faults *faults, kernel_faults_node *node, void *arg);
};

extern const struct eyes_ops eyes_linux; /* state: not used */

#endif
