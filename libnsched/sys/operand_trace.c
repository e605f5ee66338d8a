#include "operand_trace.h"

#include <stdlib.h>
#include <string.h>

#include "operand_path.h"
#include "operand_state.h"

enum {
	WAY_LOOP = 128,  /* instructions followed round a loop; longer bodies are followed in part */
	WAY_LINE = 40,   /* operands taken on the way back outside of loops: what ran longer ago is over; the
	                  * way itself goes on, to find the caller */
	AHEAD_LINE = 24, /* forwards outside of loops */
	LOOP_TRIES = 3,  /* enclosing loops tried while the inner ones touch no data */
	LOG_MOST = 4 * WAY_LOOP, /* registers changed on the way back: most instructions change one */
	SAME_BYTES = 4096, /* operands this near to each other are one: same page, most likely same array */
};

static const uint32_t ALL_REGS = (uint32_t)((UINT64_C(1) << GPRS) - 1);

/* An operand that was not known on the way back, and is on the way forwards. */
struct found {
	struct form at;
	uint8_t way; /* index */
};

/* The way back is not kept state by state: a log tells what each step changed, so that the states can be
 * had again in the opposite order. */
struct trace {
	struct trace_ask ask;
	struct path path;
	uint8_t done[RANGE_PLACES];     /* bit i: operand i is in the recipe or was passed over */

	uint16_t way[WAY_LOOP];         /* backwards from the sample */
	unsigned ways;
	struct form was[LOG_MOST];      /* what a register was known to be behind a step */
	uint8_t reg[LOG_MOST];
	uint16_t logged[WAY_LOOP];      /* log entries up to and with that step's */
	unsigned log;
	struct form reached[GPRS];      /* the registers at the end of the way */
	unsigned end;                   /* where it ended */

	struct found found[INSN_MEMS * WAY_LOOP];
	struct recipe_draft draft;
};

struct trace *trace_create(void)
{
	return calloc(1, sizeof(struct trace));
}

void trace_destroy(struct trace *trace)
{
	free(trace);
}

/* ---- collecting operands ---------------------------------------------------------------------------- */

/* No data: the frame's own variables (a constant away from the stack or frame pointer), literals, and
 * tables, which the first sample's registers tell. */
static bool no_data(const struct trace *t, const struct form *at)
{
	const struct range *range = t->ask.range;
	uint64_t fixed_bytes = range->fixed_end - range->fixed_start;

	if (at->terms == 1 && at->times[0] == 1 && (form_from(at, 0) == GPR_SP || form_from(at, 0) == t->ask.frame))
		return true;
	return !(form_needs(at) & ~t->ask.known) && form_value(at, t->ask.regs, NULL) - range->fixed_start < fixed_bytes;
}

static bool have_already(const struct recipe_draft *draft, const struct form *at)
{
	for (unsigned i = 0; i < draft->operands; i++) {
		uint64_t apart = (uint64_t)draft->operand[i].add - (uint64_t)at->add;

		if (apart + SAME_BYTES < 2 * SAME_BYTES && form_parallel(&draft->operand[i], at))
			return true;
	}
	return false;
}

static void keep_operand(struct trace *t, const struct form *at)
{
	struct recipe_draft *draft = &t->draft;

	if (draft->operands < RECIPE_OPERANDS && !no_data(t, at) && !have_already(draft, at))
		draft->operand[draft->operands++] = *at;
}

/* The next operand of an instruction that is not taken yet and known in this state; false if there is none. */
static bool take(struct trace *t, unsigned i, const struct insn *insn, const struct form state[GPRS], struct form *at)
{
	for (unsigned m = 0; m < insn->mems; m++) {
		if (t->done[i] & 1u << m)
			continue;
		*at = form_substitute(&insn->mem[m], state);
		if (!form_known(at))
			continue;
		t->done[i] |= (uint8_t)(1u << m);
		return true;
	}
	return false;
}

static void collect(struct trace *t, unsigned i, const struct insn *insn, const struct form state[GPRS])
{
	struct form at;

	t->draft.gathers |= insn->gather;
	while (take(t, i, insn, state, &at))
		keep_operand(t, &at);
}

/* ---- the ways --------------------------------------------------------------------------------------- */

static void at_sample(struct form state[GPRS])
{
	for (unsigned r = 0; r < GPRS; r++)
		state[r] = form_source(r);
}

/* Remembers what the step back over insn may change; false if there is no room. */
static bool log_step(struct trace *t, const struct insn *insn, const struct form state[GPRS])
{
	uint32_t maybe_known = state_undo_infers(insn);

	if (t->log + GPRS > LOG_MOST)
		return false;
	for (uint32_t regs = maybe_known | (insn->lost & ALL_REGS); regs; regs &= regs - 1) {
		unsigned r = (unsigned)__builtin_ctz(regs);

		if (!form_known(&state[r]) && !(maybe_known & 1u << r))
			continue; /* lost before, lost behind */
		t->was[t->log] = state[r];
		t->reg[t->log++] = (uint8_t)r;
	}
	t->logged[t->ways] = (uint16_t)t->log;
	return true;
}

/* From the state before way[k] to the one behind it; returns a bit for each register that changed. */
static uint32_t unlog_step(const struct trace *t, unsigned k, struct form state[GPRS])
{
	uint32_t changed = 0;

	for (unsigned i = k ? t->logged[k - 1] : 0; i < t->logged[k]; i++) {
		state[t->reg[i]] = t->was[i];
		changed |= UINT32_C(1) << t->reg[i];
	}
	return changed;
}

/* Goes back from the sample: in a loop round it to the sample again, else to the function's entry. Operands are
 * taken on the first `collecting` steps; returns how many of these there were. */
static unsigned go_back(struct trace *t, int at, const struct loop *loop, unsigned collecting)
{
	struct range *range = t->ask.range;
	uint64_t seen[RANGE_PLACES / 64] = { 0 };

	at_sample(t->reached);
	t->ways = 0;
	t->log = 0;
	t->end = (unsigned)at;
	for (int i = path_back(&t->path, at, loop); i >= 0 && t->ways < WAY_LOOP; i = path_back(&t->path, i, loop)) {
		const struct insn *insn = range_insn(range, (unsigned)i);
		uint64_t bit = UINT64_C(1) << (i & 63);

		if (seen[i / 64] & bit || !log_step(t, insn, t->reached))
			break;
		seen[i / 64] |= bit;
		t->end = (unsigned)i;
		t->way[t->ways++] = (uint16_t)i;
		state_undo(&t->draft.slots, insn, t->reached);
		if (t->ways <= collecting)
			collect(t, (unsigned)i, insn, t->reached);
		if (i == at)
			break;
	}
	return t->ways < collecting ? t->ways : collecting;
}

static void merge(struct form state[GPRS], const struct form known[GPRS], uint32_t regs)
{
	for (; regs; regs &= regs - 1) {
		unsigned r = (unsigned)__builtin_ctz(regs);

		if (form_known(&known[r]))
			state[r] = known[r];
	}
}

/* Keeps what was found, the nearest first. */
static void keep_found(struct trace *t, unsigned count)
{
	while (count) {
		unsigned first = count - 1;

		while (first > 0 && t->found[first - 1].way == t->found[first].way)
			first--;
		for (unsigned i = first; i < count; i++)
			keep_operand(t, &t->found[i].at);
		count = first;
	}
}

/* Runs the nearest `ways` of the same way forwards: registers lost on the way back may be loaded from the
 * frame on it. Then takes the operands that this makes known. */
static void replay(struct trace *t, unsigned ways)
{
	struct form back[GPRS], state[GPRS];
	uint32_t changed = ALL_REGS;
	unsigned found = 0;

	memcpy(back, t->reached, sizeof(back));
	for (unsigned k = t->ways; k-- > ways;)
		unlog_step(t, k, back);
	state_lose(state, UINT32_MAX);
	for (unsigned k = ways; k-- > 0;) {
		const struct insn *insn = range_insn(t->ask.range, t->way[k]);

		merge(state, back, changed);
		while (take(t, t->way[k], insn, state, &t->found[found].at))
			t->found[found++].way = (uint8_t)k;
		state_step(&t->draft.slots, insn, state);
		changed = (state_step_changes(insn) & ALL_REGS) | unlog_step(t, k, back);
	}
	keep_found(t, found);
}

static void go_ahead(struct trace *t, int at, const struct loop *loop)
{
	struct range *range = t->ask.range;
	unsigned most = loop->edge >= 0 ? WAY_LOOP : AHEAD_LINE;
	struct form state[GPRS];
	int i = at;

	at_sample(state);
	for (unsigned k = 0; k < most && i >= 0; k++) {
		const struct insn *insn = range_insn(range, (unsigned)i);

		collect(t, (unsigned)i, insn, state);
		state_step(&t->draft.slots, insn, state);
		i = path_ahead(&t->path, i, loop);
		if (i == at)
			break;
	}
}

/* ---- the recipe ------------------------------------------------------------------------------------- */

/* Returns how far back operands were taken. */
static unsigned follow(struct trace *t, int at, const struct loop *loop)
{
	unsigned ways;

	memset(t->done, 0, t->ask.range->places);
	t->draft.slots.count = 0;
	ways = go_back(t, at, loop, loop->edge >= 0 ? WAY_LOOP : WAY_LINE);
	replay(t, ways);
	go_ahead(t, at, loop);
	return ways;
}

static bool touches_lost(const struct trace *t, unsigned ways)
{
	for (unsigned i = 0; i < ways; i++) {
		unsigned at = t->way[i], all = (1u << range_insn(t->ask.range, at)->mems) - 1;

		if ((t->done[at] & all) != all)
			return true;
	}
	return false;
}

/* The caller, if the way went back to the entry and the return address can be found. What nothing leads
 * to counts as an entry: stubs of the procedure linkage table, functions without unwind tables. (What
 * a jump table leads to is taken for one too, but no return address is where it would be.) */
static void find_caller(struct trace *t, const struct loop *loop)
{
	const struct range *range = t->ask.range;
	bool entry = t->end == 0 ? range->begins : path_back(&t->path, (int)t->end, loop) < 0;

	if (!entry || !form_known(&t->reached[GPR_SP]) ||
	    (range->arch->link != INSN_NO_REG && !form_known(&t->reached[range->arch->link])))
		return;
	memcpy(t->draft.caller, t->reached, sizeof(t->draft.caller));
	t->draft.leads_out = true;
}

/* What is read by pointers that are read first may turn out to be tables, in a function like exp, which the
 * samples of a loop that calls it land in. */
static bool may_be_tables(const struct recipe_draft *draft)
{
	uint64_t registers = (UINT64_C(1) << FORM_SLOT) - 1;

	for (unsigned i = 0; i < draft->operands; i++)
		if (!(form_needs(&draft->operand[i]) & ~registers))
			return false;
	return draft->operands != 0;
}

static bool found_any(const struct recipe_draft *draft)
{
	return draft->operands || draft->gathers;
}

const struct recipe_draft *trace_recipe(struct trace *t, const struct trace_ask *ask)
{
	struct loop loop = { -1, -1, false };
	int at = (int)ask->at;
	unsigned ways = 0;

	t->ask = *ask;
	t->draft.operands = 0;
	t->draft.gathers = t->draft.leads_out = false;
	t->path = path_begin(ask->range, at);
	for (unsigned tries = 0; tries <= LOOP_TRIES; tries++) {
		if (tries < LOOP_TRIES)
			loop = path_loop(&t->path, at, &loop);
		else
			loop.edge = -1;
		ways = follow(t, at, &loop);
		if (!found_any(&t->draft) && loop.edge >= 0) {
			loop.jumps_first = true;
			ways = follow(t, at, &loop);
		}
		if (found_any(&t->draft) || loop.edge < 0)
			break;
	}
	t->draft.lost = touches_lost(t, ways);
	if (loop.edge >= 0 && may_be_tables(&t->draft)) {
		loop = (struct loop){ -1, -1, false };
		go_back(t, at, &loop, 0);
	}
	if (loop.edge < 0 && !t->draft.gathers)
		find_caller(t, &loop);
	return &t->draft;
}
