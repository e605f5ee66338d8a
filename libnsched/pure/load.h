/* How full nodes are: the threads that want a CPU there, which are a run queue's length, and the CPU time that they
 * get. A thread that waits for a CPU gets less time than it wants, so the first decides who is crowded, and
 * the second who has time left. Nodes without CPUs are never short of anything. */
#ifndef NSCHED_LOAD_H
#define NSCHED_LOAD_H

#include <stdbool.h>

#include "pure/situation.h"

struct load {
	const struct machine *machine;
	unsigned threads;                   /* whose place is known */
	unsigned running[MACHINE_NODES];
	unsigned cores[MACHINE_NODES];      /* CPUs of one core count once */
	float busy[MACHINE_NODES];          /* CPUs' worth of time */
};

/* As in Linux 5.7 (fair.c: numa_classify). */
enum load_class { LOAD_SPARE, LOAD_BUSY, LOAD_OVERLOADED };

/* Where the threads run, or would if they ran at thread_node[] instead. */
void load_of(struct load *load, const struct situation *situation, const int16_t *thread_node);

/* Threads for each CPU; infinite where there is no CPU. */
float load_per_cpu(const struct load *load, unsigned node);

/* By how much the sum over nodes of running^2 / CPUs falls if a thread goes from one node to the other: above 0 it evens
 * the load out, and a series of such moves ends. To or from a node without CPUs: minus infinity. */
float load_gain(const struct load *load, unsigned from, unsigned to);
double load_unevenness(const struct load *load);

/* Has it fewer threads than it could have, while another node could give one? */
bool load_is_short(const struct load *load, unsigned node);

/* The threads that a node takes: as many as it has CPUs; where all together are more than CPUs, the same part
 * of them that it has of the CPUs. */
unsigned load_part(const struct load *load, unsigned node);

/* Threads that have no CPU of their own. */
unsigned load_queued(const struct load *load);

/* A load as one number: threads without a CPU first, and then `rest`, which is at most the square of the number
 * of threads. */
double load_cost(const struct load *load, double rest);

enum load_class load_class(const struct load *load, unsigned node);

/* A thread of this share of a CPU goes from one node (-1: none) to another. */
void load_move(struct load *load, int from, int to, float share);

#endif
