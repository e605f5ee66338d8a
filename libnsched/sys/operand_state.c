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

/* What is loaded from mem[load - 1], `further` bytes behind its start. */
static struct form loaded(struct slots *slots, const struct insn *insn, const struct form state[GPRS], int64_t further)
{
	struct slot slot = { .bytes = insn->load_bytes, .is_signed = insn->load_signed };

	slot.at = form_substitute(&insn->mem[insn->load - 1], state);
	slot.at.add += further;
	return slots_source(slots, &slot);
}

/* What `sets` becomes, given the registers before. */
static struct form result(struct slots *slots, const struct insn *insn, const struct form state[GPRS])
{
	struct form value = form_substitute(&insn->value, state), other;

	if (insn->load) {
		other = loaded(slots, insn, state, 0);
		value = form_sum(&value, &other, 1);
	}
	if (insn->factor != INSN_NO_REG) {
		other = form_half(&state[insn->factor], (enum form_cut)insn->factor_cut);
		value = product(slots, &value, &other);
	}
	if (insn->plus != INSN_NO_REG)
		value = form_sum(&value, &state[insn->plus], 1);
	return form_half(&value, (enum form_cut)insn->cut);
}

static uint32_t bit_of(uint8_t reg)
{
	return reg == INSN_NO_REG ? 0 : UINT32_C(1) << reg;
}

uint32_t state_step_changes(const struct insn *insn)
{
	return insn->lost | bit_of(insn->sets) | bit_of(insn->moves);
}

void state_step(struct slots *slots, const struct insn *insn, struct form state[GPRS])
{
	struct form value = form_lost(), second = form_lost();

	if (insn->sets != INSN_NO_REG)
		value = result(slots, insn, state);
	if (insn->loads_too != INSN_NO_REG) {
		second = loaded(slots, insn, state, insn->load_bytes);
		second = form_half(&second, (enum form_cut)insn->cut);
	}
	if (insn->moves != INSN_NO_REG)
		state[insn->moves].add += insn->moved;
	state_lose(state, insn->lost);
	if (insn->sets != INSN_NO_REG)
		state[insn->sets] = value;
	if (insn->loads_too != INSN_NO_REG)
		state[insn->loads_too] = second;
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
static void unsave(struct slots *slots, const struct insn *insn, uint8_t reg, int64_t further, struct form state[GPRS])
{
	struct slot slot = { .bytes = 8 };

	if (reg == INSN_NO_REG || form_known(&state[reg]))
		return;
	slot.at = form_substitute(insn->saved_at == SAVED_AT_MEM ? &insn->mem[0] : &insn->value, state);
	slot.at.add += further;
	state[reg] = slots_source(slots, &slot);
}

/* True if the result is a sum of registers, of which one can be told from the others. */
static bool is_sum(const struct insn *insn)
{
	return !insn->load && insn->factor == INSN_NO_REG && insn->plus == INSN_NO_REG;
}

/* Takes back what the instruction does to `sets` and `moves`. */
static void unset(const struct insn *insn, struct form state[GPRS])
{
	struct form after;

	if (insn->moves != INSN_NO_REG)
		state[insn->moves].add -= insn->moved;
	state_lose(state, insn->lost);
	if (insn->sets == INSN_NO_REG)
		return;
	after = state[insn->sets];
	state[insn->sets] = form_lost();
	if (!is_sum(insn) || !form_known(&after) || !form_known(&insn->value))
		return;
	infer(insn, &after, state);
}

void state_undo(struct slots *slots, const struct insn *insn, struct form state[GPRS])
{
	unset(insn, state);
	unsave(slots, insn, insn->saves, 0, state);
	unsave(slots, insn, insn->saves_too, 8, state);
}

uint32_t state_undo_infers(const struct insn *insn)
{
	uint32_t infers = bit_of(insn->sets) | bit_of(insn->moves) | bit_of(insn->saves) | bit_of(insn->saves_too);

	if (insn->sets != INSN_NO_REG && is_sum(insn))
		infers |= (uint32_t)form_needs(&insn->value);
	return infers;
}
