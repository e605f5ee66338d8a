/* How often each thread is sampled, so that all samples together cost no more than may be spent.
 *
 * Each thread may cost the same, and what one does not need is for the others: so a thread whose samples are many or dear (code that is
 * new again and again) is slowed alone, before any other. A thread that runs little gives few samples for each
 * second of the clock; it is sampled more often while it runs, as far as that costs next to nothing, so that it is seen at all. */
#ifndef NSCHED_THROTTLE_H
#define NSCHED_THROTTLE_H

#include <stdint.h>

/* All zero at the start: it is taken to be busy all the time. */
struct throttle_thread {
	uint64_t period_ns;   /* between two samples, of its CPU time; 0: it is not sampled */
	float idle;           /* 1 less the time that its samples stand for, per time: a mean; below 0 where more come than asked for */
	float price_ns;       /* what a sample of it takes, all in all; 0: not known yet */
	float decode_ns;      /* of it, at the last look: code that was new then */
};

/* What came of a thread since the last look. */
struct throttle_seen {
	unsigned samples;     /* that were taken in, and the accesses that they gave */
	unsigned accesses;
	uint64_t time_ns;     /* that they stand for, those that were lost too */
	uint64_t decode_ns;   /* what code took that was seen for the first time */
};

struct throttle_prices {
	float sample_ns;      /* of the thread that is sampled: an interrupt, a signal */
	float access_ns;      /* of who takes it in, for each access */
};

/* `passed_ns` since the last look, above 0. */
void throttle_learn(struct throttle_thread *thread, const struct throttle_seen *seen, const struct throttle_prices *prices, uint64_t passed_ns);

struct throttle_limits {
	uint64_t wanted_ns;   /* of a thread that is always busy, where that can be paid */
	uint64_t longest_ns;  /* slower would be blind */
	float budget;         /* ns for each ns of the clock, for all threads together */
	float price_ns;       /* of a sample of a thread whose own is not known */
};

/* The periods that the `n` threads should have, into `period_ns`; 0 for those that are not sampled. */
void throttle_share(const struct throttle_thread *thread, unsigned n, const struct throttle_limits *limits, uint64_t *period_ns);

/* So different that it is worth a system call. */
int throttle_differs(uint64_t period_ns, uint64_t wanted_ns);

#endif
