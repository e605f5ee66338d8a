#include "operand_state.h"

void state_lose(struct form state[GPRS], uint32_t lost)
{
	for (unsigned r = 0; r < GPRS; r++)
		if (lost & UINT32_C(1) << r)
			state[r] = form_lost();
}

static struct form product(struct slots *slots, const struct form *a, const struct form *b)
{
	struct form zero = form_const(0);
	struct slot slot = { .at = *a, .by = *b };

	if (form_known(a) && a->terms == 0)
		return form_sum(&zero, b, a->add);
	if (form_known(b) && b->terms == 0)
		return form_sum(&zero, a, b->add);
	return slots_source(slots, &slot);
}

/* What `sets` becomes, given the registers before. */
static struct form result(struct slots *slots, const struct insn *insn, const struct form state[GPRS])
{
	struct form value = form_substitute(&insn->value, state);

	if (insn->load) {
		struct slot slot = { .bytes = insn->load_bytes, .is_signed = insn->load_signed };
		struct form loaded;

		slot.at = form_substitute(&insn->mem[insn->load - 1], state);
		loaded = slots_source(slots, &slot);
		value = form_sum(&value, &loaded, 1);
	}
	if (insn->factor != INSN_NO_REG)
		value = product(slots, &value, &state[insn->factor]);
	return form_half(&value, (enum form_cut)insn->cut);
}

void state_step(struct slots *slots, const struct insn *insn, struct form state[GPRS])
{
	struct form value = form_lost();

	if (insn->sets != INSN_NO_REG)
		value = result(slots, insn, state);
	state_lose(state, insn->lost);
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
		unsigned r = form_from(&insn->value, i);

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
static void unsave(struct slots *slots, const struct insn *insn, struct form state[GPRS])
{
	struct slot slot = { .bytes = 8 };

	if (insn->saves == INSN_NO_REG || form_known(&state[insn->saves]))
		return;
	slot.at = form_substitute(insn->saved_at == SAVED_AT_MEM ? &insn->mem[0] : &insn->value, state);
	state[insn->saves] = slots_source(slots, &slot);
}

/* Takes back what the instruction does to `sets`. */
static void unset(const struct insn *insn, struct form state[GPRS])
{
	struct form after;

	state_lose(state, insn->lost);
	if (insn->sets == INSN_NO_REG)
		return;
	after = state[insn->sets];
	state[insn->sets] = form_lost();
	if (insn->load || insn->factor != INSN_NO_REG || !form_known(&after) || !form_known(&insn->value))
		return;
	infer(insn, &after, state);
}

void state_undo(struct slots *slots, const struct insn *insn, struct form state[GPRS])
{
	unset(insn, state);
	unsave(slots, insn, state);
}

uint32_t state_undo_infers(const struct insn *insn)
{
	uint32_t infers = 0;

	if (insn->sets != INSN_NO_REG) {
		infers |= UINT32_C(1) << insn->sets;
		if (!insn->load && insn->factor == INSN_NO_REG)
			infers |= (uint32_t)form_needs(&insn->value);
	}
	if (insn->saves != INSN_NO_REG)
		infers |= UINT32_C(1) << insn->saves;
	return infers;
}
