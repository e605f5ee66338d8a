/* Which of the samples that are there are taken in, where not all can be: even ones, from every thread. Were the first
 * taken, the threads that come first would seem to use all memory. */
#ifndef NSCHED_PICK_H
#define NSCHED_PICK_H

#include <stdbool.h>

struct pick {
	unsigned all, keep; /* `keep` of `all` */
	unsigned sum;
};

/* Is this one of them? Asked once for each of `all`, it says so `keep` times, at even distances. */
static inline bool pick_next(struct pick *pick)
{
	if (pick->keep >= pick->all)
		return true;
	pick->sum += pick->keep;
	if (pick->sum < pick->all)
		return false;
	pick->sum -= pick->all;
	return true;
}

/* One thread's part of what may still be taken in, where so many threads are still to come; `least` is what a sample can need. 0:
 * nothing is left for it. */
static inline unsigned pick_share(unsigned left, unsigned threads, unsigned least)
{
	unsigned share = left / threads;

	if (share < least)
		share = least;
	return share > left ? 0 : share;
}

#endif
