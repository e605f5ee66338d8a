/* What a placement costs: the only place where accesses and distances become nanoseconds.
 *
 * cost = sum over threads and chunks of accesses x latency(node of thread, node of chunk) x stretch of
 * the chunk's node, where a node's memory that is asked for more than it serves stretches every access
 * to it by demand / service. What threads say to each other adds its lines x the latency between their
 * nodes, for each of them.
 *
 * That is what is sure. What a node serves is seldom known: samples are time, not traffic, and a thread that streams asks for many
 * times as much as one that follows pointers, with the same share of its time. So there is a second measure beside it, what is likely:
 * the stretch that is to be expected if a node may be full at an eighth, a quarter, a half, one or two streams for each of its
 * CPUs, each as likely as the others. The sure one decides where latency is at stake, the likely one between what costs no latency.
 *
 * The estimate holds a placement that may differ from the situation's, and
 * moves in it are tried and taken one at a time, each in a time that does not grow with the rest. */
#ifndef NSCHED_ESTIMATE_H
#define NSCHED_ESTIMATE_H

#include "pure/situation.h"

struct estimate {
	const struct situation *situation;
	int16_t *thread_node;                    /* of each thread, -1 not known */
	int16_t *chunk_node;                     /* of each chunk that was moved; -1: lies as in the situation */
	float *reach;                            /* [thread * n_nodes + node]: accesses per ns of the thread to that node's memory */
	double demand[MACHINE_NODES];            /* accesses per ns to each node's memory, */
	double weight[MACHINE_NODES];            /* and each with its latency: ns of thread time per ns, but for the stretch */
	double per_service[MACHINE_NODES];       /* 1 / lines_per_ns */
	unsigned threads_on[MACHINE_NODES];
};

/* The placement of the situation, which must outlive the estimate. 0 or -ENOMEM. */
int estimate_init(struct estimate *estimate, const struct situation *situation);
/* The same placement once more. 0 or -ENOMEM. */
int estimate_copy(struct estimate *copy, const struct estimate *estimate);
void estimate_free(struct estimate *estimate);

/* ns of thread time in each second that go to what threads hand to each other. */
double estimate_talks(const struct estimate *estimate);

/* ns of thread time in each second that go to memory, and to what threads hand to each other. */
double estimate_cost(const struct estimate *estimate);

/* The same with the stretch that is likely; and that stretch where so much of what a node surely serves is asked of it. */
double estimate_likely_cost(const struct estimate *estimate);
double estimate_likely(double demand_by_service);

/* What a chunk, a thread costs where it is (ns each second), and what it would on `node`. */
float estimate_chunk(const struct estimate *estimate, unsigned chunk);
float estimate_chunk_on(const struct estimate *estimate, unsigned chunk, unsigned node);
/* What a chunk would cost if it lay as in the situation, at the nodes' demand of this placement. */
float estimate_chunk_left(const struct estimate *estimate, unsigned chunk);
float estimate_thread(const struct estimate *estimate, unsigned thread);
float estimate_thread_on(const struct estimate *estimate, unsigned thread, unsigned node);

/* accesses x latency of a chunk's users (ns per ns), were it on each node, without stretch; `latency` has room for MACHINE_NODES. */
void estimate_latencies(const struct estimate *estimate, unsigned chunk, float *latency);

/* What all memory would cost less if the chunk, of this traffic (situation_traffic) and these latencies, were not there; and what it would
 * cost more again if it lay on `node`, of which its latency is this: the slowdown that it causes to others on a full node included, unlike above;
 * infinite where there is no memory, and never less than what the latency alone costs. */
double estimate_without(const struct estimate *estimate, unsigned chunk, double traffic, const float *latency);
double estimate_again(const struct estimate *estimate, unsigned chunk, unsigned node, double traffic, float latency);

/* Takes the move. */
void estimate_move_chunk(struct estimate *estimate, unsigned chunk, unsigned node);
void estimate_move_thread(struct estimate *estimate, unsigned thread, unsigned node);

/* How much a node's memory stretches accesses, if `more` accesses per ns were added: 1 or above. */
float estimate_stretch(const struct estimate *estimate, unsigned node, float more);

/* Is a node's memory asked for more than it serves? */
bool estimate_is_full(const struct estimate *estimate, unsigned node);

/* The share of chunk `chunk` that lies on `node` in this placement, 0 to 1. */
float estimate_share(const struct estimate *estimate, unsigned chunk, unsigned node);

#endif
