/* What x86-64 instructions do to registers, as far as it is followed: the few that compute addresses. An
 * architecture's table; what is not in it loses its target. */
#include "operand_x86.h"

#if REGS_X86

#define R(gpr, r64, r32, r16, r8)                                                                  \
	[X86_REG_##r64] = { GPR_##gpr, 8 }, [X86_REG_##r32] = { GPR_##gpr, 4 },                    \
	[X86_REG_##r16] = { GPR_##gpr, 2 }, [X86_REG_##r8] = { GPR_##gpr, 1 }
#define RN(n) R(n, R##n, R##n##D, R##n##W, R##n##B)

/* bytes is 0 where the register is no general one. */
static const struct gpr_part reg_table[X86_REG_ENDING] = {
	R(AX, RAX, EAX, AX, AL), R(BX, RBX, EBX, BX, BL), R(CX, RCX, ECX, CX, CL), R(DX, RDX, EDX, DX, DL),
	R(SI, RSI, ESI, SI, SIL), R(DI, RDI, EDI, DI, DIL), R(BP, RBP, EBP, BP, BPL), R(SP, RSP, ESP, SP, SPL),
	RN(8), RN(9), RN(10), RN(11), RN(12), RN(13), RN(14), RN(15),
	[X86_REG_AH] = { GPR_AX, 1 }, [X86_REG_BH] = { GPR_BX, 1 },
	[X86_REG_CH] = { GPR_CX, 1 }, [X86_REG_DH] = { GPR_DX, 1 },
};

struct gpr_part x86_part(unsigned reg)
{
	if (reg < X86_REG_ENDING && reg_table[reg].bytes)
		return reg_table[reg];
	return (struct gpr_part){ NOT_GPR, 0 };
}

/* Adds times * reg to a form; false if the register is none that a sample has. */
static bool add_reg(struct form *form, unsigned reg, int64_t times)
{
	struct gpr_part x = x86_part(reg);
	struct form source;

	if (x.gpr == NOT_GPR || x.bytes != 8)
		return false;
	source = form_source(x.gpr);
	*form = form_sum(form, &source, times);
	return form_known(form);
}

struct form x86_address(const cs_insn *in, const cs_x86_op *op)
{
	struct form form = form_const(op->mem.disp);

	if (op->mem.base == X86_REG_RIP)
		return form_const((int64_t)(in->address + in->size + (uint64_t)op->mem.disp));
	if (op->mem.base != X86_REG_INVALID && !add_reg(&form, op->mem.base, 1))
		return form_lost();
	/* Capstone names "no index" of a SIB byte RIZ (or EIZ). */
	if (op->mem.index != X86_REG_INVALID && op->mem.index != X86_REG_RIZ && op->mem.index != X86_REG_EIZ &&
	    !add_reg(&form, op->mem.index, op->mem.scale))
		return form_lost();
	return form;
}

/* The operands that the table's functions look at. */
struct x86_do {
	const cs_insn *in;
	const cs_x86_op *op;
	unsigned ops;
	const uint8_t *mem_at; /* see take_memory */
	struct gpr_part to;     /* the first operand, if a register */
	struct insn *out;
};

static bool set(struct x86_do *d, struct form value)
{
	d->out->sets = d->to.gpr;
	d->out->value = value;
	d->out->cut = d->to.bytes == 4 ? CUT_ZERO32 : CUT_NONE;
	return form_known(&value);
}

/* `value` plus what operand `i` loads; a load of half a register is cut by its own width. */
static bool set_load(struct x86_do *d, unsigned i, struct form value, bool is_signed)
{
	if (!d->mem_at[i] || d->op[i].size > 8)
		return false;
	d->out->load = d->mem_at[i];
	d->out->load_bytes = d->op[i].size;
	d->out->load_signed = is_signed;
	return set(d, value);
}

static struct form target(const struct x86_do *d)
{
	return form_source(d->to.gpr);
}

static struct form scaled(unsigned gpr, int64_t times)
{
	struct form zero = form_const(0);
	struct form source = form_source(gpr);

	return form_sum(&zero, &source, times);
}

static bool do_mov(struct x86_do *d)
{
	struct gpr_part from = x86_part(d->op[1].type == X86_OP_REG ? (unsigned)d->op[1].reg : X86_REG_INVALID);

	if (d->op[1].type == X86_OP_IMM)
		return set(d, form_const(d->op[1].imm));
	if (d->op[1].type == X86_OP_MEM)
		return set_load(d, 1, form_const(0), false);
	return from.gpr != NOT_GPR && from.bytes == d->to.bytes && set(d, form_source(from.gpr));
}

static bool do_movzx(struct x86_do *d)
{
	return d->op[1].type == X86_OP_MEM && set_load(d, 1, form_const(0), false);
}

static bool do_movsx(struct x86_do *d)
{
	struct gpr_part from;

	if (d->op[1].type == X86_OP_MEM)
		return set_load(d, 1, form_const(0), true);
	from = x86_part(d->op[1].reg);
	if (from.bytes != 4 || !set(d, form_source(from.gpr)))
		return false;
	d->out->cut = CUT_SIGN32;
	return true;
}

static bool do_cdqe(struct x86_do *d)
{
	d->to = (struct gpr_part){ GPR_AX, 8 };
	set(d, form_source(GPR_AX));
	d->out->cut = CUT_SIGN32;
	return true;
}

static bool do_lea(struct x86_do *d)
{
	return set(d, x86_address(d->in, &d->op[1]));
}

static bool add_signed(struct x86_do *d, int sign)
{
	struct form value = target(d);
	struct form other;
	struct gpr_part from;

	if (d->op[1].type == X86_OP_MEM)
		return sign > 0 && set_load(d, 1, value, d->to.bytes == 4);
	if (d->op[1].type == X86_OP_IMM) {
		other = form_const(d->op[1].imm);
		return set(d, form_sum(&value, &other, sign));
	}
	from = x86_part(d->op[1].reg);
	if (from.gpr == NOT_GPR || from.bytes != d->to.bytes)
		return false;
	other = form_source(from.gpr);
	return set(d, form_sum(&value, &other, sign));
}

static bool do_add(struct x86_do *d)
{
	return add_signed(d, 1);
}

static bool do_sub(struct x86_do *d)
{
	return add_signed(d, -1);
}

static bool add_one(struct x86_do *d, int64_t by)
{
	struct form value = target(d);

	value.add = by;
	return set(d, value);
}

static bool do_inc(struct x86_do *d)
{
	return add_one(d, 1);
}

static bool do_dec(struct x86_do *d)
{
	return add_one(d, -1);
}

static bool do_neg(struct x86_do *d)
{
	return set(d, scaled(d->to.gpr, -1));
}

static bool do_shl(struct x86_do *d)
{
	if (d->ops < 2)
		return set(d, scaled(d->to.gpr, 2)); /* shl reg, 1 has a form without the 1 */
	return d->op[1].type == X86_OP_IMM && d->op[1].imm >= 0 && d->op[1].imm < 31 &&
	       set(d, scaled(d->to.gpr, INT64_C(1) << d->op[1].imm));
}

static bool do_imul(struct x86_do *d)
{
	struct gpr_part from;

	if (d->ops == 3 && d->op[1].type == X86_OP_REG) {
		from = x86_part(d->op[1].reg);
		return from.bytes == d->to.bytes && set(d, scaled(from.gpr, d->op[2].imm));
	}
	if (d->ops == 3 || d->op[1].type == X86_OP_IMM)
		return d->ops == 2 && set(d, scaled(d->to.gpr, d->op[1].imm));
	d->out->factor = d->to.gpr;
	if (d->op[1].type == X86_OP_MEM)
		return set_load(d, 1, form_const(0), d->to.bytes == 4);
	from = x86_part(d->op[1].reg);
	return from.bytes == d->to.bytes && set(d, form_source(from.gpr));
}

static bool do_xor(struct x86_do *d)
{
	return d->op[1].type == X86_OP_REG && d->op[1].reg == d->op[0].reg && set(d, form_const(0));
}

static bool do_push(struct x86_do *d)
{
	if (d->to.bytes == 8) {
		d->out->saves = d->to.gpr;
		d->out->saved_at = SAVED_AT_VALUE;
	}
	d->to = (struct gpr_part){ GPR_SP, 8 };
	return add_one(d, -8);
}

static bool do_pop(struct x86_do *d)
{
	d->to = (struct gpr_part){ GPR_SP, 8 };
	return add_one(d, 8);
}

static bool do_leave(struct x86_do *d)
{
	struct form value = form_source(GPR_BP);

	d->to = (struct gpr_part){ GPR_SP, 8 };
	value.add = 8;
	return set(d, value);
}

/* An instruction that is followed. Those with implicit targets set `to` themselves. */
static const struct effect {
	unsigned id;
	bool implicit;
	unsigned least_ops;
	bool (*apply)(struct x86_do *d);
} effects[] = {
	{ X86_INS_MOV, false, 2, do_mov },     { X86_INS_MOVABS, false, 2, do_mov }, { X86_INS_MOVZX, false, 2, do_movzx },
	{ X86_INS_MOVSX, false, 2, do_movsx }, { X86_INS_MOVSXD, false, 2, do_movsx }, { X86_INS_LEA, false, 2, do_lea },
	{ X86_INS_ADD, false, 2, do_add },     { X86_INS_SUB, false, 2, do_sub },    { X86_INS_INC, false, 1, do_inc },
	{ X86_INS_DEC, false, 1, do_dec },     { X86_INS_NEG, false, 1, do_neg },    { X86_INS_SHL, false, 1, do_shl },
	{ X86_INS_SAL, false, 1, do_shl },     { X86_INS_IMUL, false, 2, do_imul },  { X86_INS_XOR, false, 2, do_xor },
	{ X86_INS_CDQE, true, 0, do_cdqe },    { X86_INS_PUSH, true, 0, do_push },   { X86_INS_POP, true, 0, do_pop },
	{ X86_INS_LEAVE, true, 0, do_leave },
};

void x86_effect(const cs_insn *in, const uint8_t mem_at[X86_OPERANDS], struct insn *out)
{
	const cs_x86 *x86 = &in->detail->x86;
	struct x86_do d = { in, x86->operands, x86->op_count, mem_at, { NOT_GPR, 0 }, out };

	if (x86->op_count && x86->operands[0].type == X86_OP_REG)
		d.to = x86_part(x86->operands[0].reg);
	for (unsigned i = 0; i < sizeof(effects) / sizeof(*effects); i++) {
		const struct effect *e = &effects[i];

		if (e->id != in->id)
			continue;
		if (x86->op_count < e->least_ops || (!e->implicit && (d.to.gpr == NOT_GPR || d.to.bytes < 4)) || !e->apply(&d)) {
			out->sets = INSN_NO_REG;
			out->factor = INSN_NO_REG;
			out->load = 0;
		}
		return;
	}
}

#endif
