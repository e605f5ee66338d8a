#include "operand_trace.h"

#include <stdlib.h>
#include <string.h>

#include "operand_state.h"

enum {
	WAY_LOOP = 128,  /* instructions followed round a loop; longer bodies are followed in part */
	WAY_LINE = 40,   /* operands taken on the way back outside of loops: what ran longer ago is over; the
	                  * way itself goes on, to find the caller */
	AHEAD_LINE = 24, /* forwards outside of loops */
	LOOP_TRIES = 3,  /* enclosing loops tried while the inner ones touch no data */
	SAME_BYTES = 4096, /* operands this near to each other are one: same page, most likely same array */
};

/* A loop: from its head to the jump back. No loop: edge < 0. Where ways join, the way back goes on
 * above, or, with jumps_first, at a jump to here. */
struct loop {
	int head;
	int edge;
	bool jumps_first;
};

struct trace {
	struct insn insn[TRACE_INSNS];
	int target[TRACE_INSNS];      /* index of a jump's target, or -1 */
	bool dead[TRACE_INSNS];       /* comes after a return or jump, and nothing seen jumps there: padding */
	uint8_t done[TRACE_INSNS];    /* bit i: operand i is in the recipe or was passed over */
	struct trace_ask ask;

	int way[WAY_LOOP];            /* backwards from the sample */
	struct form before[WAY_LOOP][GPRS];
	unsigned ways;
	struct form reached[GPRS];    /* the registers at the end of the way */
	int end;                      /* where it ended */

	struct slots slots;
};

struct trace *trace_create(void)
{
	return calloc(1, sizeof(struct trace));
}

void trace_destroy(struct trace *trace)
{
	free(trace);
}

struct insn *trace_insns(struct trace *trace)
{
	return trace->insn;
}

/* ---- collecting operands ---------------------------------------------------------------------------- */

/* No data: the frame's own variables (a constant away from the stack or frame pointer), literals, and
 * tables, which the first sample's registers tell. */
static bool no_data(const struct trace *t, const struct form *at)
{
	uint64_t fixed_bytes = t->ask.fixed_end - t->ask.fixed_start;

	if (at->terms == 1 && at->times[0] == 1 && (at->from[0] == GPR_SP || at->from[0] == t->ask.frame))
		return true;
	return !(form_needs(at) & ~t->ask.known) && form_value(at, t->ask.regs, NULL) - t->ask.fixed_start < fixed_bytes;
}

static bool have_already(const struct recipe *recipe, const struct form *at)
{
	for (unsigned i = 0; i < recipe->operands; i++) {
		uint64_t apart = (uint64_t)recipe->operand[i].add - (uint64_t)at->add;

		if (apart + SAME_BYTES < 2 * SAME_BYTES && form_parallel(&recipe->operand[i], at))
			return true;
	}
	return false;
}

static void keep_operand(struct trace *t, struct recipe *recipe, const struct form *at)
{
	if (!no_data(t, at) && recipe->operands < RECIPE_OPERANDS && !have_already(recipe, at)) {
		recipe->operand[recipe->operands++] = *at;
	}
}

/* Takes the operands of an instruction that are not taken yet and known in this state. */
static void collect(struct trace *t, struct recipe *recipe, int i, const struct form state[GPRS])
{
	const struct insn *insn = &t->insn[i];

	recipe->gathers |= insn->gather;
	for (unsigned m = 0; m < insn->mems; m++) {
		struct form at;

		if (t->done[i] & 1u << m)
			continue;
		at = form_substitute(&insn->mem[m], state);
		if (!form_known(&at))
			continue;
		t->done[i] |= (uint8_t)(1u << m);
		keep_operand(t, recipe, &at);
	}
}

/* ---- the ways --------------------------------------------------------------------------------------- */

static bool falls_through(const struct insn *insn)
{
	return insn->flow == FLOW_NEXT || insn->flow == FLOW_BRANCH || insn->flow == FLOW_CALL;
}

/* The nearest jump to i that lies in the loop, if there is a loop; or -1. */
static int jump_to(const struct trace *t, int i, const struct loop *loop)
{
	int nearest = -1;

	for (int j = 0; j < (int)t->ask.count; j++) {
		bool inside = loop->edge < 0 || (j >= loop->head && j <= loop->edge);

		if (t->target[j] == i && inside && (nearest < 0 || abs(j - i) < abs(nearest - i)))
			nearest = j;
	}
	return nearest;
}

static int previous(const struct trace *t, int i, const struct loop *loop)
{
	bool above = i > 0 && falls_through(&t->insn[i - 1]) && !t->dead[i - 1];
	int jump;

	if (loop->edge >= 0 && i == loop->head)
		return loop->edge;
	if (loop->edge < 0 && i == 0 && t->ask.entry)
		return -1;
	if (above && !loop->jumps_first)
		return i - 1;
	jump = jump_to(t, i, loop);
	return jump < 0 && above ? i - 1 : jump;
}

static int next(const struct trace *t, int i, const struct loop *loop)
{
	const struct insn *insn = &t->insn[i];

	if (i == loop->edge)
		return loop->head;
	if (insn->flow == FLOW_JUMP)
		return t->target[i];
	if (insn->flow == FLOW_END || i + 1 == (int)t->ask.count)
		return -1;
	return i + 1;
}

static void at_sample(struct form state[GPRS])
{
	for (unsigned r = 0; r < GPRS; r++)
		state[r] = form_source(r);
}

/* Goes back from the sample: in a loop round it to the sample again, else to the function's entry. */
static void go_back(struct trace *t, struct recipe *recipe, int at, const struct loop *loop)
{
	unsigned collecting = loop->edge >= 0 ? WAY_LOOP : WAY_LINE;
	bool seen[TRACE_INSNS] = { false };
	struct form *state = t->reached;

	at_sample(state);
	t->ways = 0;
	t->end = at;
	for (int i = previous(t, at, loop); i >= 0 && t->ways < WAY_LOOP && !seen[i]; i = previous(t, i, loop)) {
		seen[i] = true;
		t->end = i;
		state_undo(&t->slots, &t->insn[i], state);
		t->way[t->ways] = i;
		memcpy(t->before[t->ways], state, sizeof(t->reached));
		t->ways++;
		if (t->ways <= collecting)
			collect(t, recipe, i, state);
		if (i == at)
			break;
	}
	if (t->ways > collecting)
		t->ways = collecting;
}

/* Runs the same way forwards: registers lost on the way back may be loaded from the frame on it. Then
 * takes the operands that this makes known, the nearest first. */
static void replay(struct trace *t, struct recipe *recipe)
{
	struct form state[GPRS];

	state_lose(state, UINT32_MAX);
	for (unsigned k = t->ways; k-- > 0;) {
		for (unsigned r = 0; r < GPRS; r++)
			if (form_known(&t->before[k][r]))
				state[r] = t->before[k][r];
		memcpy(t->before[k], state, sizeof(state));
		state_step(&t->slots, &t->insn[t->way[k]], state);
	}
	for (unsigned k = 0; k < t->ways; k++)
		collect(t, recipe, t->way[k], t->before[k]);
}

static void go_ahead(struct trace *t, struct recipe *recipe, int at, const struct loop *loop)
{
	unsigned most = loop->edge >= 0 ? WAY_LOOP : AHEAD_LINE;
	struct form state[GPRS];
	int i = at;

	at_sample(state);
	for (unsigned k = 0; k < most && i >= 0; k++) {
		collect(t, recipe, i, state);
		state_step(&t->slots, &t->insn[i], state);
		i = next(t, i, loop);
		if (i == at)
			break;
	}
}

/* ---- the recipe ------------------------------------------------------------------------------------- */

static int index_of(const struct trace *t, uint64_t address)
{
	unsigned low = 0, high = t->ask.count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (t->insn[middle].at < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->ask.count && t->insn[low].at == address ? (int)low : -1;
}

static void find_targets(struct trace *t)
{
	unsigned count = t->ask.count;

	for (unsigned i = 0; i < count; i++) {
		t->target[i] = t->insn[i].target ? index_of(t, t->insn[i].target) : -1;
		t->dead[i] = true;
	}
	for (unsigned i = 0; i < count; i++)
		if (t->target[i] >= 0)
			t->dead[t->target[i]] = false;
	t->dead[0] = false;
	t->dead[t->ask.at] = false; /* sampled: it may be reached by a jump table */
	for (unsigned i = 1; i < count; i++)
		if (falls_through(&t->insn[i - 1]) && !t->dead[i - 1])
			t->dead[i] = false;
}

/* The smallest loop around `at` that is larger than `inner`. */
static struct loop loop_around(const struct trace *t, int at, const struct loop *inner)
{
	int more_than = inner->edge < 0 ? -1 : inner->edge - inner->head;
	struct loop best = { -1, -1, false };

	for (int edge = at; edge < (int)t->ask.count; edge++) {
		int head = t->target[edge];

		if (head < 0 || head > at || edge - head <= more_than)
			continue;
		if (best.edge < 0 || edge - head < best.edge - best.head)
			best = (struct loop){ head, edge, false };
	}
	return best;
}

static void follow(struct trace *t, struct recipe *recipe, int at, const struct loop *loop)
{
	memset(t->done, 0, sizeof(t->done));
	t->slots.count = 0;
	go_back(t, recipe, at, loop);
	replay(t, recipe);
	go_ahead(t, recipe, at, loop);
}

static bool touches_lost(const struct trace *t)
{
	for (unsigned i = 0; i < t->ways; i++) {
		int at = t->way[i];

		if ((t->done[at] & ((1u << t->insn[at].mems) - 1)) != (1u << t->insn[at].mems) - 1)
			return true;
	}
	return false;
}

/* The caller, if the way went back to the entry and the return address can be found. What nothing leads
 * to counts as an entry: stubs of the procedure linkage table, functions without unwind tables. (What
 * a jump table leads to is taken for one too, but no return address is where it would be.) */
static void find_caller(const struct trace *t, const struct loop *loop, struct recipe *recipe, struct passage *passage)
{
	bool entry = t->end == 0 ? t->ask.entry : previous(t, t->end, loop) < 0;

	if (!entry || !form_known(&t->reached[GPR_SP]))
		return;
	memcpy(passage->gpr, t->reached, sizeof(passage->gpr));
	recipe->leads_out = true;
}

void trace_recipe(struct trace *t, const struct trace_ask *ask, struct recipe *recipe, struct passage *passage)
{
	struct loop loop = { -1, -1, false };
	int at = (int)ask->at;

	memset(recipe, 0, sizeof(*recipe));
	t->ask = *ask;
	find_targets(t);
	for (unsigned tries = 0; tries <= LOOP_TRIES; tries++) {
		if (tries < LOOP_TRIES)
			loop = loop_around(t, at, &loop);
		else
			loop.edge = -1;
		follow(t, recipe, at, &loop);
		if (recipe->operands == 0 && !recipe->gathers && loop.edge >= 0) {
			loop.jumps_first = true;
			follow(t, recipe, at, &loop);
		}
		if (recipe->operands || recipe->gathers || loop.edge < 0)
			break;
	}
	recipe->lost = touches_lost(t);
	if (loop.edge < 0)
		find_caller(t, &loop, recipe, passage);
	recipe_settle(recipe, passage, &t->slots);
}
