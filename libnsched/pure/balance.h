/* Moving threads by load, as the schedulers did that balanced run queues: what more than one policy does.
 *
 * A kernel takes tasks from a run queue and a new one starts wherever it is put. Here the system has started the thread
 * already, and the CPUs inside a node are the system's to give. So a node's threads are its run queue, a move is
 * a binding to another node, and a thread that nobody has placed yet is a new one. */
#ifndef NSCHED_BALANCE_H
#define NSCHED_BALANCE_H

#include <stddef.h>

#include "pure/draft.h"

/* Which thread of a crowded node goes: the one with the highest value for the node that it would go to, then the one that has had
 * least of a CPU of late, then the one that was moved longest ago, then the one that came last. NULL: all are alike. */
struct balance_taste {
	float (*value)(const void *arg, const struct draft *draft, unsigned thread, unsigned to);
	const void *arg;
};

/* The thread of node `from` that goes to `to`, or -1 if none may. */
int balance_choose(const struct draft *draft, unsigned from, unsigned to, const struct balance_taste *taste);

/* New threads go to the least loaded nodes, the last first, if that evens the load out. */
void balance_new(struct draft *draft, const char *why);

/* While a node has more threads than CPUs (`cores`: than cores) and another fewer, one of them goes there. */
void balance_relieve(struct draft *draft, bool cores, const struct balance_taste *taste, const char *why);

/* While it evens the load out, and the node with the most, where some wait for a CPU, is more than `ratio` times as full as the one with the
 * least: one thread goes. */
void balance_over(struct draft *draft, float ratio, const struct balance_taste *taste, const char *why);

/* Nodes that are short of threads take from fuller ones where some wait, the emptiest first; each has to wait, the longer the less it is short
 * and the farther the other is (the situation's past says how long it has). */
void balance_steal(struct draft *draft, const struct balance_taste *taste, const char *why);

/* The two costs of those who look at load alone: unevenness, and no memory. */
int balance_cost(const struct estimate *placement, struct policy_cost *cost);

#endif
