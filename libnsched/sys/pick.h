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

/* The rings of all threads, whatever they are made of. */
struct pick_rings {
	bool (*is_open)(const void *arg, unsigned thread);
	unsigned (*poll)(void *arg, unsigned thread, unsigned most); /* takes in `most` accesses at the most; how many it did */
	void *arg;
	unsigned least; /* accesses that one sample can give */
};

/* Polls each open ring below `end`, from `*turn` on, with its part of `most` accesses, `least` or more; what one does not need goes to
 * the others. Where not all can have their part, those that had none come first the next time. The sum. */
unsigned pick_from_each(const struct pick_rings *rings, unsigned end, unsigned *turn, unsigned most);

#endif
