#include "pure/balance.h"

#include <math.h>

#include "pure/pure.h"

/* What a node that has nearly its part waits before it steals from one at the distance of the nearest: a few of the looks
 * at the default interval, as Focht's scheduler waits for a few of the kernel's balancing rounds. An
 * empty node does not wait. */
#define STEAL_WAIT_MS 500.0f

/* A run queue is stolen from its tail: who waits goes, who runs stays. What is known of that here is the share of a CPU that each thread
 * has had of late: tenths of it are told apart, since the kernel counts it in ticks. */
static int tenths(const struct draft *d, unsigned t)
{
	return (int)(10 * d->s->thread[t].load + 0.5f);
}

static bool goes_before(const struct draft *d, unsigned t, unsigned best)
{
	if (tenths(d, t) != tenths(d, best)) return tenths(d, t) < tenths(d, best);
	uint32_t a = d->s->thread[t].moved_ms_ago, b = d->s->thread[best].moved_ms_ago;
	return a != b ? a > b : t > best;
}

int balance_choose(const struct draft *d, unsigned from, unsigned to, const struct balance_taste *taste)
{
	int best = -1;
	float most = -INFINITY;
	for (unsigned t = 0; t < d->s->n_threads; t++) {
		if (d->after.thread_node[t] != (int)from || !draft_may_thread(d, t)) continue;
		float value = taste ? taste->value(taste->arg, d, t, to) : 0;
		if (best >= 0 && (value < most || (!(value > most) && !goes_before(d, t, (unsigned)best)))) continue;
		best = (int)t;
		most = value;
	}
	return best;
}

static bool take(struct draft *d, unsigned from, unsigned to, const struct balance_taste *taste, const char *why)
{
	int t = balance_choose(d, from, to, taste);
	if (t >= 0) draft_thread(d, (unsigned)t, to, why);
	return t >= 0;
}

/* Nobody's run queue has more than who runs: there is nobody to steal. */
static bool all_run(const struct draft *d, unsigned node)
{
	return d->load.running[node] <= d->s->machine->node[node].n_cpus;
}

/* Nodes that are not full enough to be taken from, or that nobody may leave, must not make others too full. */
static bool has_part_left(const struct draft *d, unsigned node)
{
	return d->load.running[node] < load_part(&d->load, node);
}

/* The least loaded node: after it has taken one more; of equals the nearest to `from`. */
static int least_loaded(const struct draft *d, unsigned from)
{
	const struct machine *m = d->s->machine;
	int best = -1;
	float least = INFINITY;
	for (unsigned n = 0; n < m->n_nodes; n++) {
		if (n == from || !m->node[n].n_cpus) continue;
		float load = (float)(d->load.running[n] + 1) / (float)m->node[n].n_cpus;
		if (load < least || (!(load > least) && m->latency_ns[from][n] < m->latency_ns[from][best])) {
			best = (int)n;
			least = load;
		}
	}
	return best;
}

void balance_new(struct draft *d, const char *why)
{
	for (unsigned t = d->s->n_threads; t-- > 0;) {
		if (!draft_is_new(d, t) || !draft_may_thread(d, t)) continue;
		unsigned from = (unsigned)d->after.thread_node[t];
		int to = least_loaded(d, from);
		if (to >= 0 && load_gain(&d->load, from, (unsigned)to) > 0 && has_part_left(d, (unsigned)to)) draft_thread(d, t, (unsigned)to, why);
	}
}

/* Two nodes between which a move gains most; of equals the nearest. `stuck` nodes have no thread to give. */
struct pair { int from, to; float gain; };

static bool may_pair(const struct draft *d, const bool *stuck, unsigned from, unsigned to, bool cores)
{
	unsigned a = cores ? d->load.cores[from] : d->s->machine->node[from].n_cpus;
	unsigned b = cores ? d->load.cores[to] : d->s->machine->node[to].n_cpus;
	return !stuck[from] && d->load.running[from] > a && d->load.running[to] < b;
}

static struct pair best_relief(const struct draft *d, const bool *stuck, bool cores)
{
	const struct machine *m = d->s->machine;
	struct pair best = { -1, -1, 0 };
	for (unsigned from = 0; from < m->n_nodes; from++)
		for (unsigned to = 0; to < m->n_nodes; to++) {
			if (!may_pair(d, stuck, from, to, cores)) continue;
			float gain = load_gain(&d->load, from, to);
			bool nearer = best.from >= 0 && !(gain < best.gain) && m->latency_ns[from][to] < m->latency_ns[best.from][best.to];
			if (gain > best.gain || nearer) best = (struct pair){ (int)from, (int)to, gain };
		}
	return best;
}

void balance_relieve(struct draft *d, bool cores, const struct balance_taste *taste, const char *why)
{
	bool stuck[MACHINE_NODES] = { false };
	for (;;) {
		struct pair pair = best_relief(d, stuck, cores);
		if (pair.from < 0) return;
		if (!take(d, (unsigned)pair.from, (unsigned)pair.to, taste, why)) stuck[pair.from] = true;
	}
}

void balance_over(struct draft *d, float ratio, const struct balance_taste *taste, const char *why)
{
	bool stuck[MACHINE_NODES] = { false };
	for (;;) {
		int most = -1, least = -1;
		for (unsigned n = 0; n < d->s->machine->n_nodes; n++) {
			if (!d->s->machine->node[n].n_cpus) continue;
			float load = load_per_cpu(&d->load, n);
			if (!stuck[n] && !all_run(d, n) && (most < 0 || load > load_per_cpu(&d->load, (unsigned)most))) most = (int)n;
			if (least < 0 || load < load_per_cpu(&d->load, (unsigned)least)) least = (int)n;
		}
		if (most < 0 || load_per_cpu(&d->load, (unsigned)most) <= ratio * load_per_cpu(&d->load, (unsigned)least)) return;
		if (!(load_gain(&d->load, (unsigned)most, (unsigned)least) > 0) || !has_part_left(d, (unsigned)least)) return;
		if (!take(d, (unsigned)most, (unsigned)least, taste, why)) stuck[most] = true;
	}
}

/* ---- stealing ----------------------------------------------------------------------------------------- */

static float nearest_ns(const struct machine *m, unsigned node)
{
	float nearest = INFINITY;
	for (unsigned n = 0; n < m->n_nodes; n++)
		if (n != node && m->node[n].n_cpus && m->latency_ns[node][n] < nearest) nearest = m->latency_ns[node][n];
	return nearest;
}

/* A node with its part of all threads is 1 full. */
static float wait_ms(const struct draft *d, unsigned from, unsigned to)
{
	const struct machine *m = d->s->machine;
	float mean = (float)d->load.threads / (float)m->n_cpus, fullness = load_per_cpu(&d->load, to) / mean;
	return STEAL_WAIT_MS * (fullness < 1 ? fullness : 1) * m->latency_ns[to][from] / nearest_ns(m, to);
}

/* The thief that is emptiest, and from whom it steals: the fullest of those for which it has waited long enough. */
static struct pair next_steal(const struct draft *d, const bool *stuck)
{
	const struct machine *m = d->s->machine;
	struct pair best = { -1, -1, 0 };
	for (unsigned to = 0; to < m->n_nodes; to++) {
		if (best.to >= 0 && load_per_cpu(&d->load, to) >= load_per_cpu(&d->load, (unsigned)best.to)) continue;
		struct pair mine = { -1, (int)to, 0 };
		for (unsigned from = 0; from < m->n_nodes; from++) {
			float gain = load_gain(&d->load, from, to);
			if (stuck[from] || all_run(d, from) || !(gain > mine.gain) || !has_part_left(d, to) || (float)d->s->past[to].short_ms < wait_ms(d, from, to)) continue;
			mine.from = (int)from;
			mine.gain = gain;
		}
		if (mine.from >= 0) best = mine;
	}
	return best;
}

void balance_steal(struct draft *d, const struct balance_taste *taste, const char *why)
{
	bool stuck[MACHINE_NODES] = { false };
	for (;;) {
		struct pair pair = next_steal(d, stuck);
		if (pair.from < 0) return;
		if (!take(d, (unsigned)pair.from, (unsigned)pair.to, taste, why)) stuck[pair.from] = true;
	}
}

int balance_cost(const struct estimate *placement, struct policy_cost *cost)
{
	struct load load;
	load_of(&load, placement->situation, placement->thread_node);
	*cost = (struct policy_cost){ .load = load_cost(&load, load_unevenness(&load)) };
	return 0;
}
