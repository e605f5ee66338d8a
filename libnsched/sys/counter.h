/* Counters: how many of a thread's accesses went to its own node's memory, and how many to another's.
 * They know no addresses, so they are no source (source.h): they say how much memory matters to a thread,
 * which threads suffer, and whether a move helped.
 *
 * Two kinds: those that the stepping thread reads from outside, and those that each thread must read for
 * itself (software-defined ones, whose callback answers for the thread that asks). For these `look` is called
 * by the threads, once in each step, from where they place themselves. */
#ifndef NSCHED_COUNTER_H
#define NSCHED_COUNTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { COUNTER_LOCAL, COUNTER_REMOTE, COUNTERS };
enum { COUNTER_WHY = 256 };

struct counter_setup {
	const char *events;     /* "LOCAL,REMOTE" by name; "": chosen by CPU */
	const char *library;    /* file name of the library; NULL: the usual one */
	bool insist;            /* even where the program has the library, and may be counting itself */
	const char *root;       /* in front of /proc and /sys; "" */
	unsigned max_threads;
};

/* What was started. */
struct counter_about {
	bool by_itself;         /* each thread reads for itself */
	bool demand;            /* misses that prefetchers save are not counted */
	bool named;             /* the user chose the events */
	char events[COUNTER_WHY];
};

struct counter_ops {
	const char *name;

	/* Probes by counting, and starts. 0, *state and *about; or a negated errno and the reason. */
	int (*start)(const struct counter_setup *setup, void **state, struct counter_about *about, char why[COUNTER_WHY]);

	/* By the stepping thread. */
	int (*thread_add)(void *state, unsigned thread, pid_t tid);
	void (*thread_remove)(void *state, unsigned thread);

	/* What was counted of the thread until *at_ns (monotonic clock). 0; -EAGAIN: nothing yet; else -errno. */
	int (*read)(void *state, unsigned thread, uint64_t *at_ns, uint64_t value[COUNTERS]);

	/* By the thread itself, when about.by_itself: reads its counters; the first time it makes them. And
	 * when it ends. No system call and no lock but the library's own, the first time and at the end. */
	void (*look)(void *state, unsigned thread);
	void (*leave)(void *state, unsigned thread);

	/* A thread may still be in `look` or `leave`, so what these need is never freed. */
	void (*stop)(void *state);

	/* In the child of a fork, in place of stop. */
	void (*forked)(void *state);
};

extern const struct counter_ops counter_papi;

#endif
