/* joint: nsched's own. Threads, pages and memory bandwidth decided together.
 *
 * What decides is the estimate: what memory costs all threads, by latency and by the load on each node's memory. Packing and
 * spreading, groups and interleaving come out of it and of no rule. What is moved is charged its move, over the time that the program
 * will probably go on, and must gain a little more, or what is seen is noise.
 *
 * The search lowers that figure from two beginnings. From what is: threads are first relieved of nodes with more than their
 * part, or with a queue while a CPU is free; then in turns threads go to the best nodes for memory as it lies, by
 * moves, exchanges and rings, and each chunk goes where it and those it would slow down cost least; at last those that talk to each
 * other are drawn together. And, where what that comes to is not nearly ideal, with their memory: threads with what they alone
 * use, and groups that share it, each go where they are likely to cost least; then the same turns. The better of the two is the
 * plan. docs/joint.md tells it at length, with an example. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/draft.h"
#include "pure/joint.h"
#include "pure/pure.h"

enum { ROUNDS = 4 };  /* turns of the search; it has come to rest after two or three on all that was tried */

/* A move must save this share of what the thing would cost were all that it uses local: below it, what is seen is noise. (Not of what
 * it costs now, or what lies well would be thought easier to move than what does not.) */
#define CHUNK_GAIN_LEAST 0.05f
#define THREAD_GAIN_LEAST 0.05f
#define THREAD_AGAIN_LEAST 0.3f   /* one that was bound stays unless it is clear: what has been seen of it is a part only */
#define THREAD_AGAIN_MOST 2.0f    /* and the clearer, the oftener it was moved, up to more than there is to gain: see situation_again */
/* A thread that waits for memory less than this (ns each second) is left to the system: where it runs
 * hardly matters, and a bound thread can't be balanced. */
#define THREAD_COST_LEAST 5e6f
/* What is within this much of all memory local and no node overloaded is not searched for better. */
#define NEARLY_IDEAL 1.02
/* What is likely to be better may cost this much more for sure: less than any way to another node costs. */
#define RISK 1.1
/* and it must save this share of all likely cost: demand is known to about that from look to look. */
#define LIKELY_GAIN_LEAST 0.03
#define SAME 1e-5             /* costs that differ by less are the same: sums of floats */

/* ---- the search --------------------------------------------------------------------------------------- */

/* `built`: threads have their new places, and go before memory does nowhere: first it comes after them. */
static int search(struct joint *j, bool built)
{
	int moved = 1;
	j->looked = false;
	if (built) joint_memory(j);
	for (unsigned round = 0; moved > 0 && round < ROUNDS; round++) {
		moved = joint_threads(j);
		if (moved < 0) return moved;
		if ((moved || (!round && !built)) && joint_memory(j)) moved = 1;
		else moved = 0;
	}
	if (joint_talks(j)) joint_memory(j);
	return 0;
}

/* Threads that have no CPU of their own, and those beyond their node's part. */
static unsigned count_crowd(const struct load *l)
{
	unsigned crowd = load_queued(l);
	for (unsigned n = 0; n < l->machine->n_nodes; n++)
		if (l->running[n] > load_part(l, n)) crowd += l->running[n] - load_part(l, n);
	return crowd;
}

static unsigned crowd_of(const struct estimate *e)
{
	struct load load;
	load_of(&load, e->situation, e->thread_node);
	return count_crowd(&load);
}

/* Is the other placement better? Clearly less likely cost, if it surely costs no more than what is, and hardly more than the best; or
 * as much, and less that is sure. */
static bool is_better(const struct joint *other, const struct joint *j)
{
	unsigned crowd = crowd_of(&j->e), others = crowd_of(&other->e);
	if (others != crowd) return others < crowd;
	double sure = estimate_cost(&other->e);
	if (sure > estimate_cost(j->before) * (1 + SAME) || sure > estimate_cost(&j->e) * RISK) return false;
	double others_prices = joint_prices(other), prices = joint_prices(j);
	double likely = estimate_likely_cost(&other->e) + others_prices, now = estimate_likely_cost(&j->e) + prices;
	if (likely < now * (1 - LIKELY_GAIN_LEAST)) return true;
	return likely <= now * (1 + SAME) && sure + others_prices < (estimate_cost(&j->e) + prices) * (1 - SAME);
}

/* Another beginning, and the search from there; it replaces j->e if it is better. */
static int search_anew(struct joint *j, const struct groups *groups)
{
	struct joint other = *j;
	int ret = estimate_copy(&other.e, j->before);
	if (ret) return ret;
	ret = joint_build(&other, groups);
	if (!ret) ret = search(&other, true);
	if (!ret && is_better(&other, j)) {
		struct estimate old = j->e;
		j->e = other.e;
		other.e = old;
	}
	estimate_free(&other.e);
	return ret;
}

static bool is_nearly_ideal(const struct joint *j)
{
	return estimate_likely_cost(&j->e) <= NEARLY_IDEAL * j->likely_ideal && estimate_cost(&j->e) + joint_prices(j) <= NEARLY_IDEAL * j->ideal;
}

/* But for what has to be moved. */
static bool is_nearly_ideal_then(const struct joint *j)
{
	return estimate_likely_cost(&j->e) <= NEARLY_IDEAL * j->likely_ideal && estimate_cost(&j->e) <= NEARLY_IDEAL * j->ideal;
}

/* Where much has to be moved, another beginning may come to the same with less of it. Groups first where there are any: if they
 * all find their place, threads one by one find none that is better. */
static int search_all(struct joint *j)
{
	struct groups groups;
	int ret = search(j, false);
	if (ret || !j->rules->threads || is_nearly_ideal(j)) return ret;
	ret = groups_find(&groups, j->s);
	if (ret) return ret;
	if (groups.n) ret = search_anew(j, &groups);
	bool found = groups.n && is_nearly_ideal_then(j);
	if (!ret && !found) ret = search_anew(j, NULL);
	groups_free(&groups);
	return ret;
}

/* What things would cost (ns each second) were all that they use local, and no node overloaded: of each thread and chunk, and
 * of all together in j->ideal. */
static void find_ideal(struct joint *j, float *thread, float *chunk)
{
	const struct situation *s = j->s;
	float local = INFINITY;
	for (unsigned n = 0; n < s->machine->n_nodes; n++)
		if (s->machine->latency_ns[n][n] < local) local = s->machine->latency_ns[n][n];
	memset(thread, 0, s->n_threads * sizeof *thread);
	for (unsigned c = 0; c < s->n_chunks; c++) {
		const struct situation_chunk *each = &s->chunk[c];
		chunk[c] = 0;
		for (unsigned u = each->first_use; u < each->first_use + each->n_uses && each->where[0].node >= 0; u++) {
			float cost = 1e9f * local * s->use[u].rate;
			thread[s->use[u].thread] += cost;
			chunk[c] += cost;
			j->ideal += (double)cost;
		}
	}
	for (unsigned k = 0; k < s->n_talks; k++) j->ideal += (double)(1e9f * local * s->talk[k].rate);
}

/* No placement is likely to cost less than where each node is asked for as much of what it serves: the likely stretch is convex. */
static void find_likely_ideal(struct joint *j)
{
	double demand = 0, service = 0;
	for (unsigned n = 0; n < j->s->machine->n_nodes; n++) {
		demand += j->e.demand[n];
		if (j->s->machine->node[n].memory_bytes) service += (double)j->s->machine->node[n].lines_per_ns;
	}
	j->likely_ideal = service > 0 ? j->ideal * estimate_likely(demand / service) : 0;
}

static void find_prices(struct joint *j, float *thread_price, float *chunk_price)
{
	float move = j->s->thread_move_ns * j->per_s;
	find_ideal(j, thread_price, chunk_price);
	for (unsigned t = 0; t < j->s->n_threads; t++) {
		thread_price[t] *= j->s->thread[t].bound ? situation_again(&j->s->thread[t], THREAD_AGAIN_LEAST, THREAD_AGAIN_MOST) : THREAD_GAIN_LEAST;
		if (thread_price[t] < move) thread_price[t] = move;
	}
	for (unsigned c = 0; c < j->s->n_chunks; c++) chunk_price[c] *= CHUNK_GAIN_LEAST;
}

/* ---- processes that begin ------------------------------------------------------------------------------ */

enum { PROCESSES = UINT16_MAX + 1, MANY = 2 };

static bool is_several(const struct situation *s)
{
	for (unsigned t = 1; t < s->n_threads; t++)
		if (s->thread[t].process != s->thread[0].process) return true;
	return false;
}

/* Of each process 0, 1 or MANY threads; NULL: there is no memory. */
static unsigned char *count_threads(const struct situation *s)
{
	unsigned char *count = calloc(PROCESSES, 1);
	for (unsigned t = 0; count && t < s->n_threads; t++)
		if (count[s->thread[t].process] < MANY) count[s->thread[t].process]++;
	return count;
}

/* Where there is most room for one more; of equals where it is. */
static unsigned emptiest(const struct joint *j, unsigned from)
{
	const struct machine *m = j->s->machine;
	unsigned best = from;
	for (unsigned n = 0; n < m->n_nodes; n++) {
		unsigned mine = j->e.threads_on[best] + (best != from), other = j->e.threads_on[n] + (n != from);
		if (m->node[n].n_cpus && other * m->node[best].n_cpus < mine * m->node[n].n_cpus) best = n;
	}
	return best;
}

/* A process that begins beside others has no memory yet: all that it and its children will touch comes to where it runs. It goes
 * where there is most room, and is held there. (One that has threads has them where its runtime put them.) */
static int place_beginners(struct joint *j, struct draft *d)
{
	if (!is_several(j->s)) return 0;
	unsigned char *count = count_threads(j->s);
	if (!count) return -ENOMEM;
	for (unsigned t = 0; t < j->s->n_threads; t++) {
		const struct situation_thread *th = &j->s->thread[t];
		if (count[th->process] == MANY || !draft_is_new(d, t) || !joint_may_thread(j, t) || !j->s->machine->node[th->node].n_cpus) continue;
		unsigned to = emptiest(j, (unsigned)th->node);
		if ((int)to != th->node) estimate_move_thread(&j->e, t, to);
		d->thread_why[t] = "begins, where there is most room";
	}
	free(count);
	return 0;
}

/* ---- the plan ------------------------------------------------------------------------------------------ */

/* What a thread is likely to lose were it on some other node with CPUs, any of them, ns each second. */
static float loss_elsewhere(const struct draft *d, unsigned t)
{
	const struct machine *m = d->s->machine;
	unsigned here = (unsigned)d->after.thread_node[t], others = 0;
	float sum = 0;
	for (unsigned n = 0; n < m->n_nodes; n++) {
		if (n == here || !m->node[n].n_cpus) continue;
		sum += estimate_thread_on(&d->after, t, n);
		others++;
	}
	return others ? sum / (float)others - estimate_thread_on(&d->after, t, here) : 0;
}

/* By how much more some node's CPUs are shared than all CPUs are, where there are more threads than CPUs: what threads lose that are bound there, since
 * the system would give all of them the same in turn. A share of their time. */
static float unevenness(const struct draft *d)
{
	const struct machine *m = d->s->machine;
	float all = (float)d->load.threads / (float)m->n_cpus, most = all;
	for (unsigned n = 0; n < m->n_nodes; n++)
		if (m->node[n].n_cpus && (float)d->after.threads_on[n] / (float)m->node[n].n_cpus > most) most = (float)d->after.threads_on[n] / (float)m->node[n].n_cpus;
	return all > 1 ? most / all - 1 : 0;
}

/* May a thread that goes stay after all, with no node beyond its part, and no CPU for nobody? */
static bool may_go_back(const struct draft *d, unsigned t)
{
	unsigned from = (unsigned)d->before.thread_node[t], to = (unsigned)d->after.thread_node[t];
	return d->after.threads_on[from] < load_part(&d->load, from) && d->after.threads_on[to] > d->s->machine->node[to].n_cpus;
}

static void explain_threads(struct draft *d)
{
	float least = 1e9f * unevenness(d);
	for (unsigned t = 0; t < d->s->n_threads; t++) {
		bool stays = d->after.thread_node[t] == d->before.thread_node[t];
		if (!draft_may_thread(d, t) || d->thread_why[t] || (stays && estimate_thread(&d->before, t) < THREAD_COST_LEAST)) continue;
		if (least > 0 && !d->s->thread[t].bound && (stays || may_go_back(d, t)) && loss_elsewhere(d, t) < least) {   /* left to the system */
			if (!stays) estimate_move_thread(&d->after, t, (unsigned)d->before.thread_node[t]);
			continue;
		}
		d->thread_why[t] = stays ? "hold beside its memory" : "to its memory, or to free CPUs";
	}
}

static void explain_chunks(struct draft *d)
{
	for (unsigned c = 0; c < d->s->n_chunks; c++) {
		const struct situation_chunk *chunk = &d->s->chunk[c];
		if (d->after.chunk_node[c] < 0) continue;
		bool main = draft_chunk_support(d, c, d->after.chunk_node[c]) >= 750;
		d->chunk_why[c] = chunk->n_uses == 1 ? "to its only user" : main ? "to its main users" : "off a full node, or between its users";
	}
}

static int decide_draft(struct draft *d, float *thread_price, float *chunk_price, int16_t *seen)
{
	struct joint j = { .s = d->s, .rules = d->rules, .before = &d->before, .e = d->after, .thread_price = thread_price,
	                   .chunk_price = chunk_price, .seen = seen, .per_s = 1e9f / (float)situation_horizon_ns(d->s),
	                   .scarce = d->load.threads > d->s->machine->n_cpus };
	for (unsigned n = 0; n < d->s->machine->n_nodes; n++) j.cap[n] = load_part(&d->load, n);
	memcpy(j.cores, d->load.cores, sizeof j.cores);
	find_prices(&j, thread_price, chunk_price);
	find_likely_ideal(&j);
	int ret = place_beginners(&j, d);
	if (!ret) ret = search_all(&j);
	d->after = j.e;
	if (ret) return ret;
	explain_threads(d);
	explain_chunks(d);
	return 0;
}

static int decide(const struct situation *s, const struct policy_rules *rules, struct plan *plan)
{
	struct draft d;
	float *thread_price = malloc((s->n_threads + 1) * sizeof *thread_price);
	float *chunk_price = malloc((s->n_chunks + 1) * sizeof *chunk_price);
	int16_t *seen = malloc((s->n_threads + 1) * sizeof *seen);
	int ret = thread_price && chunk_price && seen ? draft_begin(&d, s, rules) : -ENOMEM;
	if (!ret) {
		ret = decide_draft(&d, thread_price, chunk_price, seen);
		if (ret) draft_drop(&d);
		else ret = draft_end(&d, &policy_joint, plan);
	}
	free(thread_price);
	free(chunk_price);
	free(seen);
	return ret;
}

/* Threads without a CPU, and those beyond a node's part; then the estimate, and what sharing cores costs. */
static int cost(const struct estimate *placement, struct policy_cost *cost)
{
	struct load load;
	load_of(&load, placement->situation, placement->thread_node);
	unsigned sharing = joint_sharing(load.cores, load.running, load.machine->n_nodes);
	*cost = (struct policy_cost){ count_crowd(&load), estimate_cost(placement) + (double)JOINT_CORE_SHARED * sharing };
	return 0;
}

const struct policy_ops policy_joint = { .name = "joint", .decide = decide, .cost = cost, .settles = true };
