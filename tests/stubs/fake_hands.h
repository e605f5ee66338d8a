/* Hands over a table: threads with masks, pages with nodes. Every call can be made to fail, any time. */
#ifndef TESTS_STUBS_FAKE_HANDS_H
#define TESTS_STUBS_FAKE_HANDS_H

#include <stdbool.h>

#include "fake_clock.h"
#include "sys/actuator.h"

enum { FAKE_HANDS_THREADS = 1024, FAKE_HANDS_PAGES = 1 << 16, FAKE_HANDS_NS_A_PAGE = 1000 };

enum fake_hands_call { FAKE_GET_MASK, FAKE_SET_MASK, FAKE_LOCATE, FAKE_MOVE, FAKE_HAS_POLICY, FAKE_HANDS_CALLS };

struct fake_hands {
	struct fake_clock *clock;       /* moving takes CPU time of it; NULL: none */

	struct { pid_t tid; struct cpu_mask mask; } thread[FAKE_HANDS_THREADS];
	unsigned n_threads;             /* all others are gone: -ESRCH */

	uint64_t first_page;            /* pages from here on */
	unsigned n_pages;
	int16_t node_os[FAKE_HANDS_PAGES];  /* -ENOENT: not there */
	int16_t refuses[FAKE_HANDS_PAGES];  /* what a page says when it is moved; 0: it moves */
	bool policy[FAKE_HANDS_PAGES];
	uint64_t forbidden;             /* nodes (bits): a call with a page for one ends there with -EACCES */

	/* the calls from `at` (counted from 0) on return `error`, `times` of them */
	struct { int error; uint64_t at, times; } fail[FAKE_HANDS_CALLS];

	uint64_t calls[FAKE_HANDS_CALLS];
	uint64_t moved, asked;          /* pages that moved; that were told to */
};

extern const struct actuator_ops fake_hands_ops; /* state: struct fake_hands */

/* A thread that may run on `mask`. */
void fake_hands_thread(struct fake_hands *hands, pid_t tid, const struct cpu_mask *mask);
void fake_hands_gone(struct fake_hands *hands, pid_t tid);

/* NULL where it is gone. */
const struct cpu_mask *fake_hands_mask(const struct fake_hands *hands, pid_t tid);

/* Puts `n` pages from the i-th on to a node. */
void fake_hands_pages(struct fake_hands *hands, unsigned i, unsigned n, int node_os);

/* How many of these pages are on the node. */
unsigned fake_hands_count(const struct fake_hands *hands, unsigned i, unsigned n, int node_os);

#endif
