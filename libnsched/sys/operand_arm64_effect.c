/* What AArch64 instructions do to registers, as far as it is followed: the few that compute addresses. An
 * architecture's table; what is not in it loses its target. */
#include "operand_arm64.h"

#if REGS_ARM64

struct arm64_gpr arm64_gpr(unsigned reg)
{
	switch (reg) {
	case ARM64_REG_X29: return (struct arm64_gpr){ GPR_FP, 8, false };
	case ARM64_REG_X30: return (struct arm64_gpr){ GPR_LR, 8, false };
	case ARM64_REG_SP: return (struct arm64_gpr){ GPR_SP, 8, false };
	case ARM64_REG_WSP: return (struct arm64_gpr){ GPR_SP, 4, false };
	case ARM64_REG_XZR: return (struct arm64_gpr){ INSN_NO_REG, 8, true };
	case ARM64_REG_WZR: return (struct arm64_gpr){ INSN_NO_REG, 4, true };
	default: break;
	}
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return (struct arm64_gpr){ (uint8_t)(reg - ARM64_REG_X0), 8, false };
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return (struct arm64_gpr){ (uint8_t)(reg - ARM64_REG_W0), 4, false };
	return (struct arm64_gpr){ INSN_NO_REG, 0, false };
}

static struct form times(const struct form *form, int64_t by)
{
	struct form zero = form_const(0);

	return form_sum(&zero, form, by);
}

/* A general register as it is; lost if it is none. */
static struct form plain(unsigned reg)
{
	struct arm64_gpr r = arm64_gpr(reg);

	if (r.zero)
		return form_const(0);
	return r.bytes ? form_source(r.gpr) : form_lost();
}

/* A factor of 2^shift; 0 where that is no address's. */
static int64_t scale_of(int64_t shift)
{
	return shift >= 0 && shift < 31 ? INT64_C(1) << shift : 0;
}

struct form arm64_operand(const cs_arm64_op *op)
{
	struct form form = plain(op->reg);
	int64_t scale = scale_of(op->shift.value);

	if (op->shift.type != ARM64_SFT_INVALID && op->shift.type != ARM64_SFT_LSL)
		return form_lost();
	if (op->ext == ARM64_EXT_SXTW)
		form = form_half(&form, CUT_SIGN32);
	else if (op->ext == ARM64_EXT_UXTW)
		form = form_half(&form, CUT_ZERO32);
	else if (op->ext != ARM64_EXT_INVALID && op->ext != ARM64_EXT_UXTX && op->ext != ARM64_EXT_SXTX)
		return form_lost();
	return scale ? times(&form, scale) : form_lost();
}

/* The operands that the table's functions look at. */
struct arm64_do {
	const cs_insn *in;
	const cs_arm64_op *op;
	unsigned ops;
	struct arm64_gpr to; /* the first operand */
	struct insn *out;
};

static bool set(struct arm64_do *d, struct form value)
{
	d->out->sets = d->to.gpr;
	d->out->value = value;
	d->out->cut = d->to.bytes == 4 ? CUT_ZERO32 : CUT_NONE;
	return form_known(&value);
}

/* An operand that is a register or a number, with its shift. */
static struct form value_of(const cs_arm64_op *op)
{
	if (op->type == ARM64_OP_REG)
		return arm64_operand(op);
	if (op->type != ARM64_OP_IMM || op->shift.value > 48)
		return form_lost();
	return form_const((int64_t)((uint64_t)op->imm << op->shift.value));
}

static bool do_mov(struct arm64_do *d)
{
	return set(d, value_of(&d->op[1]));
}

static bool do_movn(struct arm64_do *d)
{
	struct form value = value_of(&d->op[1]);

	value.add = ~value.add;
	return set(d, value);
}

static bool add_signed(struct arm64_do *d, int sign)
{
	struct form a, b;

	if (d->ops < 3)
		return false;
	a = plain(d->op[1].reg);
	b = value_of(&d->op[2]);
	return set(d, form_sum(&a, &b, sign));
}

static bool do_add(struct arm64_do *d)
{
	return add_signed(d, 1);
}

static bool do_sub(struct arm64_do *d)
{
	return add_signed(d, -1);
}

static bool do_neg(struct arm64_do *d)
{
	struct form value = value_of(&d->op[1]);

	return set(d, times(&value, -1));
}

static bool do_sxtw(struct arm64_do *d)
{
	struct form value = plain(d->op[1].reg);

	return set(d, form_half(&value, CUT_SIGN32));
}

static bool do_lsl(struct arm64_do *d)
{
	struct form value = plain(d->op[1].reg);
	int64_t scale = d->ops == 3 && d->op[2].type == ARM64_OP_IMM ? scale_of(d->op[2].imm) : 0;

	return scale && set(d, times(&value, scale));
}

/* The low half of a register, extended and shifted: what an int becomes that indexes an array. */
static bool set_half(struct arm64_do *d, enum form_cut cut)
{
	struct form value = plain(d->op[1].reg);
	int64_t scale;

	if (d->ops != 4 || d->op[3].imm != 32 || d->to.bytes != 8)
		return false;
	value = form_half(&value, cut);
	scale = scale_of(d->op[2].imm);
	return scale && set(d, times(&value, scale));
}

static bool do_sbfiz(struct arm64_do *d)
{
	return set_half(d, CUT_SIGN32);
}

static bool do_ubfiz(struct arm64_do *d)
{
	return set_half(d, CUT_ZERO32);
}

/* ubfx and sbfx: only from bit 0 on. */
static bool do_ubfx(struct arm64_do *d)
{
	return d->ops == 4 && d->op[2].imm == 0 && set_half(d, CUT_ZERO32);
}

static bool do_sbfx(struct arm64_do *d)
{
	return d->ops == 4 && d->op[2].imm == 0 && set_half(d, CUT_SIGN32);
}

/* op[1] times op[2], plus op[3] if there is one; cut says what of the factors counts. */
static bool multiply(struct arm64_do *d, enum form_cut cut)
{
	struct form value = plain(d->op[1].reg);
	struct arm64_gpr factor = arm64_gpr(d->op[2].reg), plus = arm64_gpr(d->ops > 3 ? d->op[3].reg : ARM64_REG_XZR);

	if (d->ops < 3 || factor.zero || !factor.bytes || !plus.bytes)
		return false;
	d->out->factor = factor.gpr;
	d->out->factor_cut = (uint8_t)cut;
	d->out->plus = plus.zero ? INSN_NO_REG : plus.gpr;
	return set(d, form_half(&value, cut));
}

static bool do_madd(struct arm64_do *d)
{
	return multiply(d, CUT_NONE);
}

static bool do_smaddl(struct arm64_do *d)
{
	return multiply(d, CUT_SIGN32);
}

static bool do_umaddl(struct arm64_do *d)
{
	return multiply(d, CUT_ZERO32);
}

static const struct effect {
	unsigned id;
	bool (*apply)(struct arm64_do *d);
} effects[] = {
	{ ARM64_INS_MOV, do_mov },       { ARM64_INS_MOVZ, do_mov },      { ARM64_INS_MOVN, do_movn },
	{ ARM64_INS_ADR, do_mov },       { ARM64_INS_ADRP, do_mov },      { ARM64_INS_ADD, do_add },
	{ ARM64_INS_SUB, do_sub },       { ARM64_INS_NEG, do_neg },       { ARM64_INS_SXTW, do_sxtw },
	{ ARM64_INS_LSL, do_lsl },       { ARM64_INS_SBFIZ, do_sbfiz },   { ARM64_INS_UBFIZ, do_ubfiz },
	{ ARM64_INS_SBFX, do_sbfx },     { ARM64_INS_UBFX, do_ubfx },     { ARM64_INS_MUL, do_madd },
	{ ARM64_INS_MADD, do_madd },     { ARM64_INS_SMULL, do_smaddl },  { ARM64_INS_SMADDL, do_smaddl },
	{ ARM64_INS_UMULL, do_umaddl },  { ARM64_INS_UMADDL, do_umaddl },
};

/* ---- loads and stores --------------------------------------------------------------------------------- */

/* Loads into general registers. Bytes 0: as wide as the register. */
static const struct {
	unsigned id;
	uint8_t bytes;
	bool is_signed;
} loads[] = {
	{ ARM64_INS_LDR, 0, false },   { ARM64_INS_LDUR, 0, false },  { ARM64_INS_LDP, 0, false },
	{ ARM64_INS_LDNP, 0, false },  { ARM64_INS_LDAR, 0, false },  { ARM64_INS_LDXR, 0, false },
	{ ARM64_INS_LDAXR, 0, false }, { ARM64_INS_LDRB, 1, false },  { ARM64_INS_LDURB, 1, false },
	{ ARM64_INS_LDRH, 2, false },  { ARM64_INS_LDURH, 2, false }, { ARM64_INS_LDRSB, 1, true },
	{ ARM64_INS_LDURSB, 1, true }, { ARM64_INS_LDRSH, 2, true },  { ARM64_INS_LDURSH, 2, true },
	{ ARM64_INS_LDRSW, 4, true },  { ARM64_INS_LDURSW, 4, true }, { ARM64_INS_LDPSW, 4, true },
};

static void take_load(const struct arm64_do *d)
{
	struct arm64_gpr second = arm64_gpr(d->op[1].type == ARM64_OP_REG ? d->op[1].reg : ARM64_REG_INVALID);

	for (unsigned i = 0; i < sizeof(loads) / sizeof(*loads); i++) {
		if (loads[i].id != d->in->id || !d->to.bytes || d->to.zero)
			continue;
		d->out->sets = d->to.gpr;
		d->out->value = form_const(0);
		d->out->load = 1;
		d->out->load_bytes = loads[i].bytes ? loads[i].bytes : d->to.bytes;
		d->out->load_signed = loads[i].is_signed;
		d->out->cut = d->to.bytes == 4 ? CUT_ZERO32 : CUT_NONE;
		if (second.bytes && !second.zero)
			d->out->loads_too = second.gpr;
	}
}

/* A register on its way to be restored, or spilled. */
static void take_save(const struct arm64_do *d, int mem)
{
	unsigned base = d->op[mem].mem.base;
	struct arm64_gpr second = arm64_gpr(mem > 1 ? d->op[1].reg : ARM64_REG_INVALID);

	if ((d->in->id != ARM64_INS_STR && d->in->id != ARM64_INS_STP && d->in->id != ARM64_INS_STUR) ||
	    (base != ARM64_REG_SP && base != ARM64_REG_X29))
		return;
	d->out->saved_at = SAVED_AT_MEM;
	if (d->to.bytes == 8 && !d->to.zero)
		d->out->saves = d->to.gpr;
	if (second.bytes == 8 && !second.zero)
		d->out->saves_too = second.gpr;
}

/* [x1, #8]! and [x1], #8: the base moves. */
static void take_move(const struct arm64_do *d, int mem)
{
	const cs_arm64_op *at = &d->op[mem];
	bool behind = (unsigned)mem + 1 < d->ops;
	struct arm64_gpr base = arm64_gpr(at->mem.base);
	int64_t by = behind ? at[1].imm : at->mem.disp;

	if (!d->in->detail->arm64.writeback || base.bytes != 8 || (behind && at[1].type != ARM64_OP_IMM) || by > INT16_MAX ||
	    by < INT16_MIN)
		return;
	if (d->out->sets == INSN_NO_REG) {
		d->out->sets = base.gpr;
		d->out->value = form_source(base.gpr);
		d->out->value.add = by;
	} else if (d->out->sets != base.gpr) {
		d->out->moves = base.gpr;
		d->out->moved = (int16_t)by;
	}
}

/* Forgets what an attempt left. */
static void set_nothing(struct insn *out)
{
	out->sets = out->factor = out->plus = INSN_NO_REG;
	out->factor_cut = out->cut = CUT_NONE;
}

void arm64_effect(const cs_insn *in, int mem, struct insn *out)
{
	const cs_arm64 *arm64 = &in->detail->arm64;
	struct arm64_do d = { in, arm64->operands, arm64->op_count, { INSN_NO_REG, 0, false }, out };

	if (d.ops && d.op[0].type == ARM64_OP_REG)
		d.to = arm64_gpr(d.op[0].reg);
	if (mem >= 0 || out->mems) {
		take_load(&d);
		if (mem >= 0) {
			take_save(&d, mem);
			take_move(&d, mem);
		}
		return;
	}
	for (unsigned i = 0; i < sizeof(effects) / sizeof(*effects) && d.ops >= 2; i++)
		if (effects[i].id == in->id && d.to.bytes && !d.to.zero && !effects[i].apply(&d))
			set_nothing(out);
}

#endif
