#include "obeys.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "pure/estimate.h"

static int find_thread(const struct situation *s, unsigned number)
{
	for (unsigned t = 0; t < s->n_threads; t++)
		if (s->thread[t].number == number) return (int)t;
	return -1;
}

static int find_chunk(const struct situation *s, uint64_t page)
{
	for (unsigned c = 0; c < s->n_chunks; c++)
		if (s->chunk[c].page == page) return (int)c;
	return -1;
}

/* Takes the move in the estimate; what is wrong with it, or NULL. */
static const char *take(struct estimate *e, const struct move *m, bool *thread_moved, bool *chunk_moved)
{
	const struct situation *s = e->situation;
	if (m->to < 0 || (unsigned)m->to >= s->machine->n_nodes) return "a move to a node that is not there";
	if (m->kind == MOVE_THREAD) {
		int t = find_thread(s, m->thread);
		if (t < 0) return "a move of a thread that is not there";
		if (s->thread[t].fixed) return "a move of a fixed thread";
		if (s->thread[t].node != m->from) return "a thread's move from where it is not";
		if (thread_moved[t]) return "a thread moved twice";
		if (!s->machine->node[m->to].n_cpus) return "a thread on a node without CPUs";
		thread_moved[t] = true;
		estimate_move_thread(e, (unsigned)t, (unsigned)m->to);
		return NULL;
	}
	if (!s->machine->node[m->to].memory_bytes) return "pages on a node without memory";
	for (uint32_t done = 0; done < m->pages;) {
		int c = find_chunk(s, m->page + done);
		if (c < 0) return "a move of pages that are not those of chunks";
		if (s->chunk[c].fixed) return "a move of a fixed chunk";
		if (chunk_moved[c]) return "a chunk moved twice";
		chunk_moved[c] = true;
		estimate_move_chunk(e, (unsigned)c, (unsigned)m->to);
		done += s->chunk[c].pages;
		if (done > m->pages) return "a move of a part of a chunk";
	}
	return NULL;
}

static const char *take_all(struct estimate *e, const struct plan *plan)
{
	bool *thread_moved = calloc(e->situation->n_threads + 1, sizeof *thread_moved);
	bool *chunk_moved = calloc(e->situation->n_chunks + 1, sizeof *chunk_moved);
	const char *wrong = NULL;
	for (unsigned i = 0; i < plan->n && !wrong; i++) wrong = take(e, &plan->move[i], thread_moved, chunk_moved);
	free(thread_moved);
	free(chunk_moved);
	return wrong;
}

/* A node that gets a thread has at the most its part: its CPUs while there are enough, else the same
 * proportion as all. */
static const char *crowded(const struct estimate *e, const struct plan *plan)
{
	const struct machine *m = e->situation->machine;
	unsigned threads = 0;
	for (unsigned n = 0; n < m->n_nodes; n++) threads += e->threads_on[n];
	for (unsigned i = 0; i < plan->n; i++) {
		const struct move *move = &plan->move[i];
		if (move->kind != MOVE_THREAD || move->from == move->to) continue;
		unsigned cpus = m->node[move->to].n_cpus;
		unsigned part = threads <= m->n_cpus ? cpus : (threads * cpus + m->n_cpus - 1) / m->n_cpus;
		unsigned came = 0, left = 0;
		for (unsigned k = 0; k < plan->n; k++) {
			const struct move *other = &plan->move[k];
			if (other->kind != MOVE_THREAD || other->from == other->to) continue;
			came += other->to == move->to;
			left += other->from == move->to;
		}
		/* swaps keep a node that was crowded by fixed threads as it was */
		if (e->threads_on[move->to] > part && came > left) return "more threads on a node than its part";
	}
	return NULL;
}

double plan_cost_before(const struct situation *s)
{
	struct estimate e;
	ck_assert_int_eq(estimate_init(&e, s), 0);
	double cost = estimate_cost(&e);
	estimate_free(&e);
	return cost;
}

double plan_cost_after(const struct plan *plan, const struct situation *s)
{
	struct estimate e;
	ck_assert_int_eq(estimate_init(&e, s), 0);
	ck_assert_msg(!take_all(&e, plan), "the plan can't be taken");
	double cost = estimate_cost(&e);
	estimate_free(&e);
	return cost;
}

const char *plan_obeys(const struct plan *plan, const struct policy_ops *policy, const struct situation *s, const struct policy_rules *rules)
{
	struct estimate e;
	struct policy_cost before, after;
	for (unsigned i = 0; i < plan->n; i++) {
		if (plan->move[i].kind == MOVE_THREAD && !rules->threads) return "a thread moved against the rules";
		if (plan->move[i].kind == MOVE_PAGES && !rules->pages) return "pages moved against the rules";
		if (plan->move[i].support > 1000) return "a support above the whole";
	}
	ck_assert_int_eq(estimate_init(&e, s), 0);
	ck_assert_int_eq(policy->cost(&e, &before), 0);
	const char *wrong = take_all(&e, plan);
	if (!wrong) wrong = crowded(&e, plan);
	ck_assert_int_eq(policy->cost(&e, &after), 0);
	estimate_free(&e);
	return wrong ? wrong : policy_worse(&after, &before) ? "a plan that costs more than what is" : NULL;
}

static void carry_out_pages(const struct move *move, struct situation *s)
{
	for (unsigned c = 0; c < s->n_chunks; c++) {
		struct situation_chunk *chunk = &s->chunk[c];
		if (chunk->page < move->page || chunk->page >= move->page + move->pages) continue;
		for (unsigned k = 0; k < SITUATION_WHERE; k++) chunk->where[k].node = -1, chunk->where[k].share = 0;
		chunk->where[0].node = move->to;
		chunk->where[0].share = 1;
		chunk->moved_ms_ago = 0;
	}
}

void plan_carry_out(const struct plan *plan, struct situation *s)
{
	for (unsigned i = 0; i < plan->n; i++) {
		const struct move *move = &plan->move[i];
		if (move->kind == MOVE_PAGES) {
			carry_out_pages(move, s);
			continue;
		}
		struct situation_thread *t = &s->thread[find_thread(s, move->thread)];
		if (t->node != move->to) t->moved_ms_ago = 0;
		t->node = move->to;
		t->bound = true;
	}
}

bool plan_lacks(const struct situation *s)
{
	unsigned on[MACHINE_NODES] = { 0 }, ours[MACHINE_NODES] = { 0 };
	bool crowded_node = false, free_cpu = false;
	for (unsigned t = 0; t < s->n_threads; t++) {
		if (s->thread[t].node < 0) continue;
		on[s->thread[t].node]++;
		ours[s->thread[t].node] += !s->thread[t].fixed;
	}
	for (unsigned n = 0; n < s->machine->n_nodes; n++) {
		crowded_node |= on[n] > s->machine->node[n].n_cpus && ours[n];
		free_cpu |= on[n] < s->machine->node[n].n_cpus;
	}
	return crowded_node && free_cpu;
}
