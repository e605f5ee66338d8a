#include "pick.h"

/* One thread's part of what may still be taken in, where so many threads are still to come; 0: nothing is left for it. */
static unsigned share_of(unsigned left, unsigned threads, unsigned least)
{
	unsigned share = left / threads;

	if (share < least)
		share = least;
	return share > left ? 0 : share;
}

unsigned pick_from_each(const struct pick_rings *rings, unsigned end, unsigned *turn, unsigned most)
{
	unsigned open = 0, put = 0, next = end ? (*turn + 1) % end : 0;

	for (unsigned i = 0; i < end; i++)
		open += rings->is_open(rings->arg, i);
	for (unsigned i = 0; i < end; i++) {
		unsigned thread = (*turn + i) % end, share;

		if (!rings->is_open(rings->arg, thread))
			continue;
		share = share_of(most - put, open--, rings->least);
		if (!share) {
			next = thread;
			break;
		}
		put += rings->poll(rings->arg, thread, share);
	}
	*turn = next;
	return put;
}
