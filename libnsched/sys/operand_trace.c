#include "operand_trace.h"

#include <stdlib.h>
#include <string.h>

enum {
	WAY_LOOP = 128,  /* instructions followed round a loop; longer bodies are followed in part */
	WAY_LINE = 40,   /* operands taken on the way back outside of loops: what ran longer ago is over; the
	                  * way itself goes on, to find the caller */
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
	bool dead[TRACE_INSNS];       /* comes after a return or jump, and nothing seen jumps there: padding */
	uint8_t done[TRACE_INSNS];    /* bit i: operand i is in the recipe or was passed over */
	struct trace_ask ask;

	int way[WAY_LOOP];            /* backwards from the sample */
	struct form before[WAY_LOOP][GPRS];
	unsigned ways;
	struct form reached[GPRS];    /* the registers at the end of the way */
	int end;                      /* where it ended */

	struct slot slot[SLOTS];
	unsigned slots;
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

/* A source for a new slot, or for one that is the same; lost if something in it is lost or there is no
 * room. */
static struct form slot_source(struct trace *t, const struct slot *slot)
{
	unsigned i = 0;

	if (!form_known(&slot->at) || !form_known(&slot->by))
		return form_lost();
	while (i < t->slots && (t->slot[i].bytes != slot->bytes || t->slot[i].is_signed != slot->is_signed ||
	                        t->slot[i].at.add != slot->at.add || !form_parallel(&t->slot[i].at, &slot->at) ||
	                        t->slot[i].by.add != slot->by.add || !form_parallel(&t->slot[i].by, &slot->by)))
		i++;
	if (i == SLOTS)
		return form_lost();
	if (i == t->slots)
		t->slot[t->slots++] = *slot;
	return form_source(FORM_SLOT + i);
}

static struct form product(struct trace *t, const struct form *a, const struct form *b)
{
	struct form zero = form_const(0);
	struct slot slot = { .at = *a, .by = *b };

	if (form_known(a) && a->terms == 0)
		return form_sum(&zero, b, a->add);
	if (form_known(b) && b->terms == 0)
		return form_sum(&zero, a, b->add);
	return slot_source(t, &slot);
}

/* What `sets` becomes, given the registers before. */
static struct form result(struct trace *t, const struct insn *insn, const struct form state[GPRS])
{
	struct form value = form_substitute(&insn->value, state);

	if (insn->load) {
		struct slot slot = { .bytes = insn->load_bytes, .is_signed = insn->load_signed };
		struct form loaded;

		slot.at = form_substitute(&insn->mem[insn->load - 1], state);
		loaded = slot_source(t, &slot);
		value = form_sum(&value, &loaded, 1);
	}
	if (insn->factor != INSN_NO_REG)
		value = product(t, &value, &state[insn->factor]);
	return form_half(&value, (enum form_cut)insn->cut);
}

static void step(struct trace *t, const struct insn *insn, struct form state[GPRS])
{
	struct form value = form_lost();

	if (insn->sets != INSN_NO_REG)
		value = result(t, insn, state);
	lose_all(state, insn->lost);
	if (insn->sets != INSN_NO_REG)
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

/* A register that is lost from here to the sample, but was saved: it is what is in memory. */
static void unsave(struct trace *t, const struct insn *insn, struct form state[GPRS])
{
	struct slot slot = { .bytes = 8 };

	if (insn->saves == INSN_NO_REG || form_known(&state[insn->saves]))
		return;
	slot.at = form_substitute(&insn->saved_at, state);
	state[insn->saves] = slot_source(t, &slot);
}

/* Takes back what the instruction does to `sets`. */
static void unset(const struct insn *insn, struct form state[GPRS])
{
	struct form after;

	lose_all(state, insn->lost);
	if (insn->sets == INSN_NO_REG)
		return;
	after = state[insn->sets];
	state[insn->sets] = form_lost();
	if (insn->load || insn->factor != INSN_NO_REG || !form_known(&after) || !form_known(&insn->value))
		return;
	infer(insn, &after, state);
}

/* The state before an instruction, from the state after it. */
static void undo(struct trace *t, const struct insn *insn, struct form state[GPRS])
{
	unset(insn, state);
	unsave(t, insn, state);
}

/* ---- collecting operands ---------------------------------------------------------------------------- */

/* No data: the frame's own variables (a constant away from the stack or frame pointer), literals. */
static bool no_data(const struct trace *t, const struct form *at)
{
	if (at->terms == 0)
		return (uint64_t)at->add - t->ask.fixed_start < t->ask.fixed_end - t->ask.fixed_start;
	return at->terms == 1 && at->times[0] == 1 && (at->from[0] == GPR_SP || at->from[0] == t->ask.frame);
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
	if (loop->edge >= 0 && i == loop->head)
		return loop->edge;
	if (loop->edge < 0 && i == 0 && t->ask.entry)
		return -1;
	if (i > 0 && falls_through(&t->insn[i - 1]) && !t->dead[i - 1])
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
		undo(t, &t->insn[i], state);
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
	struct loop best = { -1, -1 };

	for (int edge = at; edge < (int)t->ask.count; edge++) {
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

/* A bit for each slot that the form needs, and that those need. */
static uint32_t slots_needed(const struct trace *t, const struct form *form)
{
	uint64_t needs = form_needs(form) >> FORM_SLOT;

	for (unsigned i = SLOTS; i-- > 0;) /* a slot needs earlier ones only */
		if (needs & 1u << i)
			needs |= (form_needs(&t->slot[i].at) | form_needs(&t->slot[i].by)) >> FORM_SLOT;
	return (uint32_t)needs;
}

static void renumber(struct form *form, const uint8_t moved[SLOTS])
{
	for (unsigned k = 0; form_known(form) && k < form->terms; k++)
		if (form->from[k] >= FORM_SLOT)
			form->from[k] = (uint8_t)(FORM_SLOT + moved[form->from[k] - FORM_SLOT]);
}

/* Adds what the form needs to the slots kept; false, and nothing added, if there is no room. */
static bool keep_slots(const struct trace *t, uint32_t *kept, const struct form *form)
{
	uint32_t with = *kept | slots_needed(t, form);

	if (__builtin_popcount(with) > RECIPE_SLOTS)
		return false;
	*kept = with;
	return true;
}

/* Drops operands, then registers of the caller, that need more slots than a recipe has; and the slots
 * that none needs. */
static void settle_slots(const struct trace *t, struct recipe *recipe, struct passage *passage)
{
	uint8_t moved[SLOTS] = { 0 };
	uint32_t kept = 0;
	unsigned operands = 0;

	for (unsigned i = 0; i < recipe->operands; i++)
		if (keep_slots(t, &kept, &recipe->operand[i]))
			recipe->operand[operands++] = recipe->operand[i];
	recipe->operands = (uint8_t)operands;
	for (unsigned r = 0; r < GPRS && recipe->leads_out; r++)
		if (form_known(&passage->gpr[r]) && !keep_slots(t, &kept, &passage->gpr[r]))
			passage->gpr[r] = form_lost();
	for (unsigned i = 0; i < SLOTS; i++) {
		if (!(kept & 1u << i))
			continue;
		moved[i] = recipe->slots;
		recipe->slot[recipe->slots] = t->slot[i];
		renumber(&recipe->slot[recipe->slots].at, moved);
		renumber(&recipe->slot[recipe->slots].by, moved);
		recipe->slots++;
	}
	for (unsigned i = 0; i < operands; i++)
		renumber(&recipe->operand[i], moved);
	for (unsigned r = 0; r < GPRS && recipe->leads_out; r++)
		renumber(&passage->gpr[r], moved);
}

/* The caller, if the way went back to the entry and the return address can be found. */
static void find_caller(const struct trace *t, struct recipe *recipe, struct passage *passage)
{
	if (!t->ask.entry || t->end != 0 || !form_known(&t->reached[GPR_SP]))
		return;
	memcpy(passage->gpr, t->reached, sizeof(passage->gpr));
	recipe->leads_out = true;
}

void trace_recipe(struct trace *t, const struct trace_ask *ask, struct recipe *recipe, struct passage *passage)
{
	struct loop loop = { -1, -1 };
	int at = (int)ask->at;

	memset(recipe, 0, sizeof(*recipe));
	t->ask = *ask;
	find_targets(t);
	for (unsigned tries = 0; tries <= LOOP_TRIES && recipe->operands == 0 && !recipe->gathers; tries++) {
		if (tries < LOOP_TRIES)
			loop = loop_around(t, at, &loop);
		else
			loop.edge = -1;
		follow(t, recipe, at, &loop);
		if (loop.edge < 0)
			break;
	}
	recipe->lost = touches_lost(t);
	if (loop.edge < 0)
		find_caller(t, recipe, passage);
	settle_slots(t, recipe, passage);
}
