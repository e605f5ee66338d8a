#include "pure/load.h"

#include <math.h>
#include <string.h>

#include "pure/pure.h"

/* What a node's CPU time may be stretched before it counts as full: 12 % of headroom, the kernel's imbalance_pct
 * between nodes (NUMA_IMBALANCE of sched domains is 117 at most; 112 is what fair.c classes by). */
#define HEADROOM 1.12f

/* CPUs of one core need not be neighbours; where the numbers only grow, nothing has to be searched. */
static unsigned count_cores(const struct machine *m, const struct machine_node *node)
{
	unsigned cores = 0, end = (unsigned)node->first_cpu + node->n_cpus;
	int highest = -1;
	for (unsigned c = node->first_cpu; c < end; c++) {
		bool before = false;
		for (unsigned i = c; m->cpu[c].core <= highest && i > node->first_cpu && !before; i--) before = m->cpu[i - 1].core == m->cpu[c].core;
		cores += !before;
		if (m->cpu[c].core > highest) highest = m->cpu[c].core;
	}
	return cores;
}

void load_of(struct load *l, const struct situation *s, const int16_t *thread_node)
{
	memset(l, 0, sizeof *l);
	l->machine = s->machine;
	for (unsigned n = 0; n < s->machine->n_nodes; n++) l->cores[n] = count_cores(s->machine, &s->machine->node[n]);
	for (unsigned t = 0; t < s->n_threads; t++) {
		int node = thread_node ? thread_node[t] : s->thread[t].node;
		if (node < 0) continue;
		l->threads++;
		load_move(l, -1, node, s->thread[t].load);
	}
}

void load_move(struct load *l, int from, int to, float share)
{
	if (from >= 0) {
		l->running[from]--;
		l->busy[from] -= share;
	}
	l->running[to]++;
	l->busy[to] += share;
}

float load_per_cpu(const struct load *l, unsigned node)
{
	unsigned cpus = l->machine->node[node].n_cpus;
	return cpus ? (float)l->running[node] / (float)cpus : INFINITY;
}

float load_gain(const struct load *l, unsigned from, unsigned to)
{
	float a = (float)l->machine->node[from].n_cpus, b = (float)l->machine->node[to].n_cpus;
	if (from == to || !(a > 0) || !(b > 0) || !l->running[from]) return -INFINITY;
	return (2 * (float)l->running[from] - 1) / a - (2 * (float)l->running[to] + 1) / b;
}

double load_unevenness(const struct load *l)
{
	double sum = 0;
	for (unsigned n = 0; n < l->machine->n_nodes; n++)
		if (l->machine->node[n].n_cpus) sum += (double)l->running[n] * l->running[n] / l->machine->node[n].n_cpus;
	return sum;
}

bool load_is_short(const struct load *l, unsigned node)
{
	for (unsigned n = 0; n < l->machine->n_nodes; n++)
		if (load_gain(l, n, node) > 0) return true;
	return false;
}

unsigned load_part(const struct load *l, unsigned node)
{
	unsigned cpus = l->machine->node[node].n_cpus, all = l->machine->n_cpus;
	return l->threads <= all ? cpus : (l->threads * cpus + all - 1) / all;
}

unsigned load_queued(const struct load *l)
{
	unsigned queued = 0;
	for (unsigned n = 0; n < l->machine->n_nodes; n++) {
		unsigned cpus = l->machine->node[n].n_cpus;
		if (l->running[n] > cpus) queued += l->running[n] - cpus;
	}
	return queued;
}

double load_cost(const struct load *l, double rest)
{
	return load_queued(l) + rest / ((double)l->threads * l->threads + 1);
}

enum load_class load_class(const struct load *l, unsigned node)
{
	unsigned cpus = l->machine->node[node].n_cpus;
	bool time_left = HEADROOM * l->busy[node] < (float)cpus;
	if (l->running[node] > cpus && !time_left) return LOAD_OVERLOADED;
	return l->running[node] < cpus || time_left ? LOAD_SPARE : LOAD_BUSY;
}
