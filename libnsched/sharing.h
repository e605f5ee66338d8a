/* The segments through which ranks hand each other messages (sys/shared.h) follow the ranks that made them. Such a page was
 * first touched by its rank, and is written by it: it belongs beside it. When a rank was moved, its pages can only follow
 * while no other rank has them mapped. So it asks on the board for a meeting: at that time all ranks let go of these
 * pages for a moment, again and again, while the one that asked moves them. Letting go costs a rank a few page faults, and nobody loses
 * what lies beside him. Meetings are at round times of a clock that all have, so that several that ask are served at once.
 *
 * Not part of the session's steps, and not in its record: what it does shows there in where pages lie.
 * All of it belongs to the thread that steps. */
#ifndef NSCHED_SHARING_H
#define NSCHED_SHARING_H

#include "exchange.h"
#include "neighbours.h"
#include "session.h"

struct sharing {
	const struct actuator_ops *hands;   /* set before the first step. Not the session's: what these do is not in its record */
	void *hands_state;
	uint64_t asked_ns;          /* the meeting that we asked for; 0: none */
	uint64_t at_ns;             /* the next one that we come to; 0: none */
	uint64_t next_ns;           /* before, we do not look at our pages again */
	uint64_t rest_ms;           /* how long that is from one time to the next */
	int node_os;                /* where our threads were at the last look; -1: not on one node */
	int home_os;                /* where all that we have was brought to last */
};

/* Before each step of the session, which would make us late: the meeting, if it is time for one. */
void sharing_meet(struct sharing *sharing, struct session *session, struct neighbours *neighbours, struct exchange *exchange);

/* After each step, which has our threads' nodes: is there anything to ask for, and when is the next meeting? */
void sharing_step(struct sharing *sharing, struct session *session, struct neighbours *neighbours);

/* Not longer than until the next meeting. */
uint64_t sharing_wait_ms(const struct sharing *sharing, const struct session *session, uint64_t wait_ms);

#endif
