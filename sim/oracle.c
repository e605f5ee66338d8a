#include "oracle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum {
	BATCH = 8,          /* placements tried at a time: they run side by side */
	STARTS = 4,         /* placements that the search begins with */
	CHANGES_MOST = 4,   /* places changed from one try to the next */
};

struct search {
	const struct sim_run *like;
	struct sim_run *run;
	struct placed *place;      /* of each run of a batch */
	struct placed *best;
	double least;              /* its time, by sim_ratio's way: less is better */
	unsigned jobs, tried, runs;
	void (*done)(void *arg, double share);
	void *arg;
};

static double value(const struct search *s, const struct sim_run *run)
{
	double m = run->result.metric;
	if (run->result.error || run->result.stuck_line) return 1e300;
	return s->like->workload->metric == METRIC_TIME ? m : m > 0 ? 1 / m : 1e300;
}

static void try_batch(struct search *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		s->run[i] = *s->like;
		s->run[i].placed = &s->place[i];
		s->run[i].trace = false;
		config_defaults(&s->run[i].config);
		s->run[i].config.sample_hz = 0;
		nsched_error_t error;
		if (nsched_config_set(&s->run[i].config, "policy", "stay", &error) < 0) s->run[i].result.error = -EINVAL;
	}
	sim_run_all(s->run, n, s->jobs, NULL, NULL);
	for (unsigned i = 0; i < n; i++) {
		double v = value(s, &s->run[i]);
		if (v >= s->least) continue;
		s->least = v;
		memcpy(s->best->node, s->place[i].node, s->best->n);
	}
	s->tried += n;
	if (s->done) s->done(s->arg, s->tried < s->runs ? (double)s->tried / s->runs : 1);
}

/* ---- all of them ----------------------------------------------------------------------------------------------------- */

/* The next assignment in which nodes are named in the order of their first use: alike nodes make no difference. False
 * behind the last. Only where all nodes are alike. */
static bool next_assignment(uint8_t *node, unsigned n, unsigned nodes)
{
	for (unsigned i = n; i-- > 1;) {
		unsigned most = 0;
		for (unsigned k = 0; k < i; k++)
			if (node[k] + 1u > most) most = node[k] + 1u;
		if (node[i] + 1u < nodes && node[i] < most) {
			node[i]++;
			memset(node + i + 1, 0, n - i - 1);
			return true;
		}
	}
	return false;
}

static bool all_alike(const struct machine *k)
{
	for (unsigned i = 0; i < k->n_nodes; i++)
		for (unsigned j = 0; j < k->n_nodes; j++)
			if (k->node[i].n_cpus != k->node[0].n_cpus || (i != j && (k->latency_ns[i][j] > k->latency_ns[0][1] || k->latency_ns[i][j] < k->latency_ns[0][1])))
				return false;
	return true;
}

/* Are there no more than `most`? */
static bool is_small(const struct placed *p, unsigned most)
{
	uint8_t *node = calloc(p->n + 1, 1);
	unsigned count = 1;
	while (node && p->n < 32 && count <= most && next_assignment(node, p->n, p->nodes)) count++;
	free(node);
	return node && p->n < 32 && count <= most;
}

static void try_all(struct search *s)
{
	uint8_t node[32] = { 0 };
	bool more = true;
	while (more) {
		unsigned n = 0;
		for (; more && n < BATCH; n++) {
			memcpy(s->place[n].node, node, s->best->n);
			more = next_assignment(node, s->best->n, s->best->nodes);
		}
		try_batch(s, n);
	}
}

/* ---- some of them ---------------------------------------------------------------------------------------------------- */

static void fill_start(struct placed *p, enum oracle_rule rule, const struct machine *k)
{
	unsigned packed = 0, on_node = 0;
	for (unsigned i = 0; i < p->n; i++) {
		struct place place = placed_at(p, i);
		switch (rule) {
		case ORACLE_BLOCKS: p->node[i] = (uint8_t)((uint64_t)place.index * p->nodes / place.count); break;
		case ORACLE_TURNS: p->node[i] = (uint8_t)(place.index % p->nodes); break;
		case ORACLE_PROCESSES: p->node[i] = (uint8_t)(place.process % p->nodes); break;
		case ORACLE_PACKED:
			for (; on_node >= k->node[packed].n_cpus && packed + 1 < p->nodes; packed++) on_node = 0;
			p->node[i] = (uint8_t)packed;
			on_node += place.count > 1;   /* a thread alone only starts and awaits the others */
			break;
		}
	}
}

/* Some places exchanged or moved, from the best so far. */
static void change(struct chance *c, const struct placed *best, struct placed *p)
{
	memcpy(p->node, best->node, best->n);
	for (unsigned k = 1 + (unsigned)chance_below(c, CHANGES_MOST); k; k--) {
		unsigned a = (unsigned)chance_below(c, p->n), b = (unsigned)chance_below(c, p->n);
		uint8_t node = p->node[a];
		p->node[a] = chance_unit(c) < 0.5 ? p->node[b] : (uint8_t)chance_below(c, p->nodes);
		if (p->node[a] == p->node[b]) p->node[b] = node;
	}
}

static void try_some(struct search *s)
{
	struct chance chance;
	chance_seed(&chance, s->like->seed + 7);
	for (unsigned i = 0; i < STARTS; i++) fill_start(&s->place[i], (enum oracle_rule)i, &s->like->machine->known);
	try_batch(s, STARTS);
	while (s->tried < s->runs) {
		unsigned n = s->runs - s->tried < BATCH ? s->runs - s->tried : BATCH;
		for (unsigned i = 0; i < n; i++) change(&chance, s->best, &s->place[i]);
		try_batch(s, n);
	}
}

int oracle_search(const struct sim_run *like, unsigned runs, unsigned jobs, struct placed *best, char how[ORACLE_HOW],
                  void (*done)(void *arg, double share), void *arg)
{
	struct sim_run run[BATCH];
	struct placed place[BATCH] = { { 0 } };
	struct search s = { .like = like, .run = run, .place = place, .best = best, .least = 1e301, .jobs = jobs, .runs = runs, .done = done, .arg = arg };
	unsigned nodes = like->machine->known.n_nodes;
	int ret = placed_init(best, like->workload, nodes);
	for (unsigned i = 0; !ret && i < BATCH; i++) ret = placed_init(&place[i], like->workload, nodes);
	bool small = !ret && all_alike(&like->machine->known) && is_small(best, runs);
	if (!ret && small) try_all(&s);
	else if (!ret) try_some(&s);
	if (small) snprintf(how, ORACLE_HOW, "the best of all %u placements of threads, memory with its users", s.tried);
	else snprintf(how, ORACLE_HOW, "the best of a search over %u placements of threads, memory with its users", s.tried);
	for (unsigned i = 0; i < BATCH; i++) free(place[i].node);
	if (ret) free(best->node);
	return ret;
}

int oracle_rule(const struct workload *workload, const struct machine *machine, enum oracle_rule rule, struct placed *placed)
{
	int ret = placed_init(placed, workload, machine->n_nodes);
	if (!ret) fill_start(placed, rule, machine);
	return ret;
}
