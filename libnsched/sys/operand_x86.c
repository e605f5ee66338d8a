/* x86-64 for the operand decoder: the only file that knows Capstone. Capstone says which registers an
 * instruction changes; the table at the end says, for the few instructions that compute addresses,
 * what they change them to. What is not in the table loses its target. */
#include "operand_insn.h"

#if defined(__x86_64__)

#include <capstone.h>
#include <stdlib.h>

enum { NOT_GPR = 0xff };

struct x86 {
	csh handle;
	cs_insn *insn; /* Capstone's room for one instruction, used anew each time */
};

/* One operand, as far as it is followed. */
struct gpr_part {
	uint8_t gpr;   /* enum gpr, or NOT_GPR */
	uint8_t bytes; /* how much of it is meant */
};

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

static struct gpr_part reg_of(unsigned reg)
{
	if (reg < X86_REG_ENDING && reg_table[reg].bytes)
		return reg_table[reg];
	return (struct gpr_part){ NOT_GPR, 0 };
}

static bool is_vector(x86_reg reg)
{
	return (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31) || (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31) ||
	       (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31);
}

/* Adds times * reg to a form; false if the register is none that a sample has. */
static bool add_reg(struct form *form, unsigned reg, int64_t times)
{
	struct gpr_part x = reg_of(reg);
	struct form source;

	if (x.gpr == NOT_GPR || x.bytes != 8)
		return false;
	source = form_source(x.gpr);
	*form = form_sum(form, &source, times);
	return form_known(form);
}

/* The address of a memory operand; lost for 32-bit addressing. */
static struct form mem_form(const cs_insn *in, const cs_x86_op *op)
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

/* Names memory without touching data: addresses computed, padding, pointers to code. */
static bool names_memory_only(unsigned id)
{
	return id == X86_INS_LEA || id == X86_INS_NOP || id == X86_INS_JMP || id == X86_INS_CALL;
}

/* Collects the memory operands; operand_at[i] becomes 1 + index into mem, or 0. */
static void take_memory(const cs_insn *in, struct insn *out, uint8_t operand_at[8])
{
	const cs_x86 *x86 = &in->detail->x86;

	for (unsigned i = 0; i < x86->op_count && i < 8; i++) {
		const cs_x86_op *op = &x86->operands[i];

		operand_at[i] = 0;
		if (op->type != X86_OP_MEM || names_memory_only(in->id))
			continue;
		if (op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS)
			continue; /* thread-local storage goes where the thread goes */
		if (is_vector(op->mem.index)) {
			out->gather = true;
		} else if (out->mems < INSN_MEMS) {
			out->mem[out->mems++] = mem_form(in, op);
			operand_at[i] = out->mems;
		}
	}
}

/* ---- what instructions do to registers ------------------------------------------------------------ */

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
	struct gpr_part from = reg_of(d->op[1].type == X86_OP_REG ? (unsigned)d->op[1].reg : X86_REG_INVALID);

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
	from = reg_of(d->op[1].reg);
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
	return set(d, mem_form(d->in, &d->op[1]));
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
	from = reg_of(d->op[1].reg);
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
		from = reg_of(d->op[1].reg);
		return from.bytes == d->to.bytes && set(d, scaled(from.gpr, d->op[2].imm));
	}
	if (d->ops == 3 || d->op[1].type == X86_OP_IMM)
		return d->ops == 2 && set(d, scaled(d->to.gpr, d->op[1].imm));
	d->out->factor = d->to.gpr;
	if (d->op[1].type == X86_OP_MEM)
		return set_load(d, 1, form_const(0), d->to.bytes == 4);
	from = reg_of(d->op[1].reg);
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
		d->out->saved_at = form_source(GPR_SP);
		d->out->saved_at.add = -8;
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

static void take_effect(const cs_insn *in, struct insn *out, const uint8_t mem_at[8])
{
	const cs_x86 *x86 = &in->detail->x86;
	struct x86_do d = { in, x86->operands, x86->op_count, mem_at, { NOT_GPR, 0 }, out };

	if (x86->op_count && x86->operands[0].type == X86_OP_REG)
		d.to = reg_of(x86->operands[0].reg);
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

/* mov [rsp + x], reg: a register on its way to be restored, or spilled. */
static void take_save(const cs_insn *in, struct insn *out)
{
	const cs_x86_op *op = in->detail->x86.operands;
	struct gpr_part from;

	if (in->id != X86_INS_MOV || op[0].type != X86_OP_MEM || op[1].type != X86_OP_REG || out->mems == 0 ||
	    (op[0].mem.base != X86_REG_RSP && op[0].mem.base != X86_REG_RBP))
		return;
	from = reg_of(op[1].reg);
	if (from.bytes != 8)
		return;
	out->saves = from.gpr;
	out->saved_at = out->mem[0];
}

/* ---- registers lost and control flow -------------------------------------------------------------- */

static void lose(struct insn *out, unsigned reg)
{
	struct gpr_part x = reg_of(reg);

	if (x.gpr != NOT_GPR)
		out->lost |= UINT32_C(1) << x.gpr;
}

static bool only_reads(unsigned id)
{
	return id == X86_INS_CMP || id == X86_INS_TEST || id == X86_INS_PUSH || id == X86_INS_JMP || id == X86_INS_CALL ||
	       id == X86_INS_BT || id == X86_INS_NOP;
}

static void take_lost(const struct x86 *x, const cs_insn *in, struct insn *out)
{
	const cs_x86 *x86 = &in->detail->x86;
	cs_regs read, written;
	uint8_t reads = 0, writes = 0;

	if (cs_regs_access(x->handle, in, read, &reads, written, &writes) == CS_ERR_OK)
		for (unsigned i = 0; i < writes; i++)
			lose(out, written[i]);
	/* Capstone's access table has holes: a first operand that it says nothing about is written. */
	if (x86->op_count && x86->operands[0].type == X86_OP_REG && !x86->operands[0].access && !only_reads(in->id))
		lose(out, x86->operands[0].reg);
	if (in->id == X86_INS_SYSCALL)
		out->lost |= 1u << GPR_AX | 1u << GPR_CX | 1u << GPR_11;
	if (out->sets != INSN_NO_REG)
		out->lost &= ~(UINT32_C(1) << out->sets);
}

/* The registers that the System V ABI lets a callee change. */
#define CALLEE_MAY_CHANGE                                                                                              \
	(1u << GPR_AX | 1u << GPR_CX | 1u << GPR_DX | 1u << GPR_SI | 1u << GPR_DI | 1u << GPR_8 | 1u << GPR_9 |         \
	 1u << GPR_10 | 1u << GPR_11)

static void take_flow(const struct x86 *x, const cs_insn *in, struct insn *out)
{
	const cs_x86 *x86 = &in->detail->x86;
	bool direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;

	if (in->id == X86_INS_JMP) {
		out->flow = direct ? FLOW_JUMP : FLOW_END;
	} else if (cs_insn_group(x->handle, in, X86_GRP_JUMP)) {
		out->flow = FLOW_BRANCH;
	} else if (cs_insn_group(x->handle, in, X86_GRP_CALL)) {
		out->flow = FLOW_CALL;
		out->sets = INSN_NO_REG;
		out->lost = CALLEE_MAY_CHANGE; /* not the stack pointer: it is back after the return */
	} else if (cs_insn_group(x->handle, in, X86_GRP_RET) || in->id == X86_INS_UD2 || in->id == X86_INS_HLT ||
	           in->id == X86_INS_INT3) {
		out->flow = FLOW_END;
	}
	if (direct && (out->flow == FLOW_JUMP || out->flow == FLOW_BRANCH))
		out->target = (uint64_t)x86->operands[0].imm;
}

static bool x86_decode(void *state, const uint8_t *code, size_t bytes, uint64_t at, struct insn *insn)
{
	struct x86 *x = state;
	uint8_t mem_at[8] = { 0 };

	if (!cs_disasm_iter(x->handle, &code, &bytes, &at, x->insn))
		return false;
	*insn = (struct insn){ .at = x->insn->address, .bytes = (uint8_t)x->insn->size, .sets = INSN_NO_REG, .factor = INSN_NO_REG, .saves = INSN_NO_REG };
	take_memory(x->insn, insn, mem_at);
	take_effect(x->insn, insn, mem_at);
	take_save(x->insn, insn);
	take_lost(x, x->insn, insn);
	take_flow(x, x->insn, insn);
	return true;
}

/* e8 rel32, and ff /2 in the lengths that compilers use. */
static unsigned x86_call_before(const uint8_t *code)
{
	const uint8_t *end = code + CALL_BYTES;

	if (end[-5] == 0xe8)
		return 5;
	for (unsigned bytes = 2; bytes <= 7; bytes++) {
		uint8_t modrm = end[1 - (int)bytes];
		unsigned mode = modrm >> 6, rest = 0;

		if (end[-(int)bytes] != 0xff || (modrm >> 3 & 7) != 2)
			continue;
		rest = mode == 3 ? 0 : (modrm & 7) == 4; /* a SIB byte */
		if (mode == 1)
			rest += 1;
		else if (mode == 2 || (mode == 0 && (modrm & 7) == 5))
			rest += 4;
		if (rest + 2 == bytes)
			return bytes;
	}
	return 0;
}

static void x86_close(void *state)
{
	struct x86 *x = state;

	if (x->insn)
		cs_free(x->insn, 1);
	cs_close(&x->handle);
	free(x);
}

static void *x86_open(void)
{
	struct x86 *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &x->handle) != CS_ERR_OK) {
		free(x);
		return NULL;
	}
	if (cs_option(x->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
		x->insn = cs_malloc(x->handle);
	if (!x->insn) {
		x86_close(x);
		return NULL;
	}
	return x;
}

const struct operand_arch operand_arch_native = {
	.longest = 15,
	.frame = GPR_BP,
	.open = x86_open,
	.close = x86_close,
	.decode = x86_decode,
	.call_before = x86_call_before,
};

#else /* no table for this architecture yet */

static void *none_open(void)
{
	return NULL;
}

const struct operand_arch operand_arch_native = { .longest = 1, .frame = GPR_SP, .open = none_open };

#endif
