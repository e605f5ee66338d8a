/* Threads that hand things to each other (messages between ranks), drawn together. Where one of a pair is better off
 * depends on where the other is, which the transport of joint_threads.c cannot see: so pairs are looked at one by
 * one, and one of them moves to the other, or changes places with a thread there, if all that these two threads cost
 * falls by more than the price of moving them. */
#include "pure/joint.h"
#include "pure/pure.h"

enum { ROUNDS = 4 };  /* a pair that was drawn together may have torn another one apart */

/* Moves `t` to `node`; with `c` not -1, `c` goes to where `t` was. */
static void change(struct joint *j, unsigned t, unsigned node, int c)
{
	unsigned from = (unsigned)j->e.thread_node[t];
	estimate_move_thread(&j->e, t, node);
	if (c >= 0) estimate_move_thread(&j->e, (unsigned)c, from);
}

/* What the change saves each second; it is undone again. */
static float gain_of(struct joint *j, unsigned t, unsigned node, int c)
{
	unsigned from = (unsigned)j->e.thread_node[t];
	float before = estimate_thread(&j->e, t) + (c < 0 ? 0 : estimate_thread(&j->e, (unsigned)c));
	change(j, t, node, c);
	float after = estimate_thread(&j->e, t) + (c < 0 ? 0 : estimate_thread(&j->e, (unsigned)c));
	change(j, t, from, c);
	return before - after - j->thread_price[t] - (c < 0 ? 0 : j->thread_price[c]);
}

/* Brings `t` to the node of `other`, the best way there is. */
static bool bring(struct joint *j, unsigned t, unsigned other)
{
	unsigned node = (unsigned)j->e.thread_node[other];
	float best = 0;
	int with = -2;   /* -1: into free room */
	if (j->e.threads_on[node] < j->cap[node] && (best = gain_of(j, t, node, -1)) > 0) with = -1;
	for (unsigned c = 0; c < j->s->n_threads; c++) {
		if (c == other || j->e.thread_node[c] != (int)node || !joint_may_thread(j, c)) continue;
		float gain = gain_of(j, t, node, (int)c);
		if (!(gain > best) || gain <= 0) continue;
		best = gain;
		with = (int)c;
	}
	if (with == -2) return false;
	change(j, t, node, with);
	return true;
}

bool joint_talks(struct joint *j)
{
	bool moved = false, again = j->s->n_talks > 0 && j->rules->threads;
	for (unsigned round = 0; again && round < ROUNDS; round++) {
		again = false;
		for (unsigned t = 0; t < j->s->n_threads; t++) {
			const struct situation_thread *th = &j->s->thread[t];
			for (unsigned k = th->first_talk; k < th->first_talk + th->n_talks; k++) {
				unsigned other = j->s->talk[k].other;
				if (!joint_may_thread(j, t) || j->e.thread_node[other] < 0 || j->e.thread_node[other] == j->e.thread_node[t]) continue;
				again |= bring(j, t, other);
			}
		}
		moved |= again;
	}
	return moved;
}
