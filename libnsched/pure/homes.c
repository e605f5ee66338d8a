#include "pure/homes.h"

#include <errno.h>
#include <stdlib.h>

#include "pure/balance.h"
#include "pure/pure.h"

#define PAGE_BYTES 4096.0

double *homes_resident(const struct situation *s)
{
	unsigned nodes = s->machine->n_nodes;
	double *bytes = calloc((size_t)(s->n_threads + 1) * nodes, sizeof *bytes);
	for (unsigned c = 0; bytes && c < s->n_chunks; c++) {
		const struct situation_chunk *chunk = &s->chunk[c];
		double all = (double)situation_traffic(s, chunk);
		if (!(all > 0)) continue;
		for (unsigned u = chunk->first_use; u < chunk->first_use + chunk->n_uses; u++)
			for (unsigned k = 0; k < SITUATION_WHERE && chunk->where[k].node >= 0; k++)
				bytes[s->use[u].thread * nodes + (unsigned)chunk->where[k].node] +=
					PAGE_BYTES * chunk->pages * (double)chunk->where[k].share * (double)s->use[u].rate / all;
	}
	return bytes;
}

static bool is_away(const struct draft *d, const int16_t *home, unsigned t)
{
	return draft_may_thread(d, t) && home[t] >= 0 && d->after.thread_node[t] != home[t];
}

static int find_exchange(const struct draft *d, const int16_t *home, unsigned t)
{
	for (unsigned u = t + 1; u < d->s->n_threads; u++)
		if (is_away(d, home, u) && home[u] == d->after.thread_node[t] && d->after.thread_node[u] == home[t]) return (int)u;
	return -1;
}

static void draw_back(struct draft *d, const int16_t *home)
{
	for (unsigned t = 0; t < d->s->n_threads; t++) {
		if (!is_away(d, home, t)) continue;
		unsigned here = (unsigned)d->after.thread_node[t], to = (unsigned)home[t];
		int other = find_exchange(d, home, t);
		if (load_gain(&d->load, here, to) >= 0 && d->load.running[to] < load_part(&d->load, to)) {
			draft_thread(d, t, to, "back to its home node");
		} else if (other >= 0) {
			draft_thread(d, t, to, "back to its home node");
			draft_thread(d, (unsigned)other, here, "back to its home node");
		}
	}
}

/* 2: the thief is its home; 1: it is away from home here, too; 0: at home. */
static float worth_stealing(const void *arg, const struct draft *d, unsigned t, unsigned to)
{
	const int16_t *home = arg;
	return home[t] == (int)to ? 2 : home[t] >= 0 && home[t] != d->after.thread_node[t] ? 1 : 0;
}

void homes_balance(struct draft *d, const int16_t *home)
{
	struct balance_taste taste = { worth_stealing, home };
	draw_back(d, home);
	balance_steal(d, &taste, "stolen by an emptier node");
}

int homes_decide(const struct homes_rule *rule, const struct policy_ops *policy, const struct situation *s,
                 const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	int16_t *home = rule->find(s);
	int ret = home ? draft_begin(&d, s, rules) : -ENOMEM;
	if (!ret) {
		balance_new(&d, "new: to the least loaded node");
		homes_balance(&d, home);
		if (rule->memory) rule->memory(&d, home);
		draft_hold(&d, "hold where it was placed");
		ret = draft_end(&d, policy, plan);
	}
	free(home);
	return ret;
}

int homes_cost(const struct homes_rule *rule, const struct estimate *placement, struct policy_cost *cost)
{
	int16_t *home = rule->find(placement->situation);
	if (!home) return -ENOMEM;
	balance_cost(placement, cost);
	for (unsigned t = 0; t < placement->situation->n_threads; t++)
		cost->memory += home[t] >= 0 && placement->thread_node[t] >= 0 && placement->thread_node[t] != home[t];
	free(home);
	return 0;
}
