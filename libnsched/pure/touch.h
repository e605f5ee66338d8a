/* Pages that follow who touches them, as the kernel's NUMA balancing lets them: what more than one policy does.
 *
 * The kernel takes a page's access away now and then, and the fault that follows tells who touches it; the page moves if the
 * last two faults came from the same node. Here nobody sees single touches: what is known is who used a chunk in the
 * time before a look, and how much. So the node whose threads used it most, at this look and at the one before, is
 * taken for the same node twice in a row. A page that two nodes touch alike stays, where the kernel's would bounce. */
#ifndef NSCHED_TOUCH_H
#define NSCHED_TOUCH_H

#include "pure/draft.h"

/* Moves the chunks that the same node touched at both looks to that node, if more than `most` of their traffic comes from it
 * (and more than from where they lie), and their users run where they did. `leave` (NULL: none): chunks that are left alone. */
void touch_follow(struct draft *draft, float most, const bool *leave, const char *why);

/* Accesses per ns that go to other memory than the nearest to the thread. */
double touch_remote(const struct estimate *placement);

/* The share of what the thread touches that lies on the node, 0 to 1; where it touches nothing, 0. */
float touch_share(const struct estimate *placement, unsigned thread, unsigned node);

#endif
