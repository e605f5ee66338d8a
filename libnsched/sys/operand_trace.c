#include "operand_trace.h"

#include <stdlib.h>
#include <string.h>

enum {
	WAY_LOOP = 128,  /* instructions followed round a loop; longer bodies are followed in part */
	WAY_LINE = 40,   /* back outside of loops: what ran longer ago has left the caches' queues */
	AHEAD_LINE = 24, /* forwards outside of loops */
	SLOTS = 16,      /* while a recipe is made; RECIPE_SLOTS of them are kept */
	LOOP_TRIES = 3,  /* enclosing loops tried while the inner ones touch no data */
	SAME_BYTES = 4096, /* operands this near to each other are one: same page, most likely same array */
};

/* A loop: from its head to the jump back. No loop: edge < 0. */
struct loop {
	int head;
	int edge;
};

struct trace {
	struct insn insn[TRACE_INSNS];
	int target[TRACE_INSNS];      /* index of a jump's target, or -1 */
	uint8_t done[TRACE_INSNS];    /* bit i: operand i is in the recipe or was passed over */
	unsigned count;
	unsigned frame;

	int way[WAY_LOOP];            /* backwards from the sample */
	struct form before[WAY_LOOP][GPRS];
	unsigned ways;

	struct slot slot[SLOTS];
	unsigned slots;
	struct form fixed;            /* a constant address, kept for want of better */
	bool has_fixed;
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

/* ---- what an instruction does to a state ------------------------------------------------------------ */

static void lose_all(struct form state[GPRS], uint32_t lost)
{
	for (unsigned r = 0; r < GPRS; r++)
		if (lost & UINT32_C(1) << r)
			state[r] = form_lost();
}

/* A source for what is at `at`; lost if it can't be a slot (addresses that come out of slots would
 * need reads one after the other) or there is no room. */
static struct form slot_source(struct trace *t, const struct form *at, const struct insn *insn)
{
	unsigned i = 0;

	if (!form_known(at) || form_has_slot(at))
		return form_lost();
	while (i < t->slots && (t->slot[i].bytes != insn->load_bytes || t->slot[i].is_signed != insn->load_signed ||
	                        t->slot[i].at.add != at->add || !form_parallel(&t->slot[i].at, at)))
		i++;
	if (i == SLOTS)
		return form_lost();
	if (i == t->slots)
		t->slot[t->slots++] = (struct slot){ *at, insn->load_bytes, insn->load_signed };
	return form_source(FORM_SLOT + i);
}

/* What `sets` becomes, given the registers before. */
static struct form result(struct trace *t, const struct insn *insn, const struct form state[GPRS])
{
	struct form value = form_substitute(&insn->value, state);

	if (insn->load) {
		struct form at = form_substitute(&insn->mem[insn->load - 1], state);
		struct form loaded = slot_source(t, &at, insn);

		value = form_sum(&value, &loaded, 1);
	}
	return form_half(&value, (enum form_cut)insn->cut);
}

static void step(struct trace *t, const struct insn *insn, struct form state[GPRS])
{
	struct form value = form_lost();

	if (insn->sets != INSN_SETS_NONE)
		value = result(t, insn, state);
	lose_all(state, insn->lost);
	if (insn->sets != INSN_SETS_NONE)
		state[insn->sets] = value;
}

/* If exactly one register of the value is not known before, the result tells it: after mov a, b the
 * value of b is a's. */
static void infer(const struct insn *insn, const struct form *after, struct form state[GPRS])
{
	struct form rest = form_const(insn->value.add);
	unsigned unknown = GPRS;

	for (unsigned i = 0; i < insn->value.terms; i++) {
		unsigned r = insn->value.from[i];

		if (form_known(&state[r])) {
			rest = form_sum(&rest, &state[r], insn->value.times[i]);
		} else {
			if (unknown != GPRS || insn->value.times[i] != 1)
				return;
			unknown = r;
		}
	}
	if (unknown != GPRS)
		state[unknown] = form_sum(after, &rest, -1);
}

/* The state before an instruction, from the state after it. */
static void undo(const struct insn *insn, struct form state[GPRS])
{
	struct form after;

	lose_all(state, insn->lost);
	if (insn->sets == INSN_SETS_NONE)
		return;
	after = state[insn->sets];
	state[insn->sets] = form_lost();
	if (insn->load || !form_known(&after) || !form_known(&insn->value))
		return;
	infer(insn, &after, state);
}

/* ---- collecting operands ---------------------------------------------------------------------------- */

/* The frame's own variables are no data: only a constant away from the stack or frame pointer. */
static bool in_frame(const struct trace *t, const struct form *at)
{
	return at->terms == 1 && at->times[0] == 1 && (at->from[0] == GPR_SP || at->from[0] == t->frame);
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
	if (at->terms == 0) {
		t->fixed = *at;
		t->has_fixed = true;
	} else if (!in_frame(t, at) && recipe->operands < RECIPE_OPERANDS && !have_already(recipe, at)) {
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

	for (int j = 0; j < (int)t->count; j++) {
		bool inside = loop->edge < 0 || (j >= loop->head && j <= loop->edge);

		if (t->target[j] == i && inside && (nearest < 0 || abs(j - i) < abs(nearest - i)))
			nearest = j;
	}
	return nearest;
}

static int previous(const struct trace *t, int i, const struct loop *loop)
{
	if (loop->edge >= 0 && i == loop->head)
		return loop->edge;
	if (i > 0 && falls_through(&t->insn[i - 1]))
		return i - 1;
	return jump_to(t, i, loop);
}

static int next(const struct trace *t, int i, const struct loop *loop)
{
	const struct insn *insn = &t->insn[i];

	if (i == loop->edge)
		return loop->head;
	if (insn->flow == FLOW_JUMP)
		return t->target[i];
	if (insn->flow == FLOW_END || i + 1 == (int)t->count)
		return -1;
	return i + 1;
}

static void at_sample(struct form state[GPRS])
{
	for (unsigned r = 0; r < GPRS; r++)
		state[r] = form_source(r);
}

/* Goes back from the sample, as far as round the loop to the sample again. */
static void go_back(struct trace *t, struct recipe *recipe, int at, const struct loop *loop)
{
	unsigned most = loop->edge >= 0 ? WAY_LOOP : WAY_LINE;
	bool seen[TRACE_INSNS] = { false };
	struct form state[GPRS];

	at_sample(state);
	t->ways = 0;
	for (int i = previous(t, at, loop); i >= 0 && t->ways < most && !seen[i]; i = previous(t, i, loop)) {
		seen[i] = true;
		undo(&t->insn[i], state);
		t->way[t->ways] = i;
		memcpy(t->before[t->ways], state, sizeof(state));
		t->ways++;
		collect(t, recipe, i, state);
		if (i == at)
			break;
	}
}

/* Runs the same way forwards: registers lost on the way back may be loaded from the frame on it. */
static void replay(struct trace *t, struct recipe *recipe)
{
	struct form state[GPRS];

	for (unsigned r = 0; r < GPRS; r++)
		state[r] = form_lost();
	for (unsigned k = t->ways; k-- > 0;) {
		for (unsigned r = 0; r < GPRS; r++)
			if (form_known(&t->before[k][r]))
				state[r] = t->before[k][r];
		collect(t, recipe, t->way[k], state);
		step(t, &t->insn[t->way[k]], state);
	}
}

static void go_ahead(struct trace *t, struct recipe *recipe, int at, const struct loop *loop)
{
	unsigned most = loop->edge >= 0 ? WAY_LOOP : AHEAD_LINE;
	struct form state[GPRS];
	int i = at;

	at_sample(state);
	for (unsigned k = 0; k < most && i >= 0; k++) {
		collect(t, recipe, i, state);
		step(t, &t->insn[i], state);
		i = next(t, i, loop);
		if (i == at)
			break;
	}
}

/* ---- the recipe ------------------------------------------------------------------------------------- */

static int index_of(const struct trace *t, uint64_t address)
{
	unsigned low = 0, high = t->count;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (t->insn[middle].at < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->count && t->insn[low].at == address ? (int)low : -1;
}

static void find_targets(struct trace *t)
{
	for (unsigned i = 0; i < t->count; i++)
		t->target[i] = t->insn[i].target ? index_of(t, t->insn[i].target) : -1;
}

/* The smallest loop around `at` that is larger than `inner`. */
static struct loop loop_around(const struct trace *t, int at, const struct loop *inner)
{
	int more_than = inner->edge < 0 ? -1 : inner->edge - inner->head;
	struct loop best = { -1, -1 };

	for (int edge = at; edge < (int)t->count; edge++) {
		int head = t->target[edge];

		if (head < 0 || head > at || edge - head <= more_than)
			continue;
		if (best.edge < 0 || edge - head < best.edge - best.head)
			best = (struct loop){ head, edge };
	}
	return best;
}

static void follow(struct trace *t, struct recipe *recipe, int at, const struct loop *loop)
{
	memset(t->done, 0, sizeof(t->done));
	t->slots = 0;
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

/* Moves the slot to the recipe's; RECIPE_SLOTS if there is no room. */
static unsigned keep_slot(const struct trace *t, struct recipe *recipe, uint8_t moved[SLOTS], unsigned slot)
{
	if (moved[slot] < RECIPE_SLOTS)
		return moved[slot];
	if (recipe->slots == RECIPE_SLOTS)
		return RECIPE_SLOTS;
	recipe->slot[recipe->slots] = t->slot[slot];
	moved[slot] = recipe->slots;
	return recipe->slots++;
}

/* Keeps the slots that operands use, and drops operands that need more than are kept. */
static void settle_slots(const struct trace *t, struct recipe *recipe)
{
	uint8_t moved[SLOTS];
	unsigned kept = 0;

	memset(moved, RECIPE_SLOTS, sizeof(moved));
	for (unsigned i = 0; i < recipe->operands; i++) {
		struct form form = recipe->operand[i];
		bool room = true;

		for (unsigned k = 0; k < form.terms; k++) {
			if (form.from[k] < FORM_SLOT)
				continue;
			unsigned slot = keep_slot(t, recipe, moved, form.from[k] - FORM_SLOT);

			room = room && slot < RECIPE_SLOTS;
			form.from[k] = (uint8_t)(FORM_SLOT + slot);
		}
		if (room)
			recipe->operand[kept++] = form;
	}
	recipe->operands = (uint8_t)kept;
}

void trace_recipe(struct trace *t, unsigned count, unsigned at, unsigned frame, struct recipe *recipe)
{
	struct loop loop = { -1, -1 };

	memset(recipe, 0, sizeof(*recipe));
	t->count = count;
	t->frame = frame;
	t->has_fixed = false;
	find_targets(t);
	for (unsigned tries = 0; tries <= LOOP_TRIES && recipe->operands == 0 && !recipe->gathers; tries++) {
		if (tries < LOOP_TRIES)
			loop = loop_around(t, (int)at, &loop);
		else
			loop.edge = -1;
		follow(t, recipe, (int)at, &loop);
		if (loop.edge < 0)
			break;
	}
	recipe->lost = touches_lost(t);
	settle_slots(t, recipe);
	if (recipe->operands == 0 && t->has_fixed) {
		recipe->operand[recipe->operands++] = t->fixed;
		recipe->fixed = true;
	}
}
