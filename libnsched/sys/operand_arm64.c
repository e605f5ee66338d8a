/* AArch64 for the operand decoder. Capstone says what an instruction reads and writes, operand_arm64_effect.c
 * what it makes of the registers; length and flow are read from the encoding, which is regular. */
#include "operand_arm64.h"

#if REGS_ARM64

static uint32_t word_of(const uint8_t *code)
{
	return (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

/* ---- outlines --------------------------------------------------------------------------------------- */

/* A signed field of the encoding that counts instructions, in bytes. */
static int32_t offset_of(uint32_t word, unsigned from, unsigned bits)
{
	return ((int32_t)(word << (32 - from - bits)) >> (32 - bits)) * 4;
}

static const struct {
	uint32_t mask, value;
	uint8_t flow;
	uint8_t from, bits; /* the field with the target; bits 0: it is in a register */
} flows[] = {
	{ 0xfc000000, 0x14000000, FLOW_JUMP, 0, 26 },   /* b */
	{ 0xfc000000, 0x94000000, FLOW_CALL, 0, 0 },    /* bl */
	{ 0xff000000, 0x54000000, FLOW_BRANCH, 5, 19 }, /* b.cond */
	{ 0x7e000000, 0x34000000, FLOW_BRANCH, 5, 19 }, /* cbz, cbnz */
	{ 0x7e000000, 0x36000000, FLOW_BRANCH, 5, 14 }, /* tbz, tbnz */
	{ 0xfee00000, 0xd6200000, FLOW_CALL, 0, 0 },    /* blr, and with a signed pointer */
	{ 0xfe000000, 0xd6000000, FLOW_END, 0, 0 },     /* br, ret, eret */
};

/* brk, hlt: compilers put it where control never comes. udf is what padding of zeros is. */
static bool is_trap(uint32_t word)
{
	return (word & 0xffe0001f) == 0xd4200000 || (word & 0xffe0001f) == 0xd4400000;
}

static bool arm64_outline(void *state, const uint8_t *code, size_t bytes, struct outline *outline)
{
	uint32_t word;

	(void)state;
	if (bytes < ARM64_BYTES)
		return false;
	word = word_of(code);
	*outline = (struct outline){ .bytes = ARM64_BYTES, .flow = is_trap(word) ? FLOW_END : FLOW_NEXT };
	for (unsigned i = 0; i < sizeof(flows) / sizeof(*flows) && outline->flow == FLOW_NEXT; i++) {
		if ((word & flows[i].mask) != flows[i].value)
			continue;
		outline->flow = flows[i].flow;
		outline->direct = flows[i].bits != 0;
		if (outline->direct)
			outline->jump = offset_of(word, flows[i].from, flows[i].bits) - ARM64_BYTES;
	}
	return word >> 16 != 0;
}

/* ---- what it does ------------------------------------------------------------------------------------- */

/* The address of a memory operand. */
static struct form address_of(const cs_arm64_op *op)
{
	struct arm64_gpr base = arm64_gpr(op->mem.base), index = arm64_gpr(op->mem.index);
	struct form form = form_const(op->mem.disp), part;

	if (base.bytes != 8 || base.zero)
		return form_lost();
	part = form_source(base.gpr);
	form = form_sum(&form, &part, 1);
	if (index.bytes) {
		cs_arm64_op as_register = *op;

		as_register.type = ARM64_OP_REG;
		as_register.reg = op->mem.index;
		part = arm64_operand(&as_register);
		form = form_sum(&form, &part, 1);
	}
	return form;
}

/* Takes the memory operand; returns its index in Capstone's list, or -1. */
static int take_memory(const cs_insn *in, struct insn *out)
{
	const cs_arm64 *arm64 = &in->detail->arm64;

	for (unsigned i = 0; i < arm64->op_count; i++) {
		if (arm64->operands[i].type != ARM64_OP_MEM)
			continue;
		out->mem[out->mems++] = address_of(&arm64->operands[i]);
		return (int)i;
	}
	/* A literal: ldr x0, label. */
	if ((in->id == ARM64_INS_LDR || in->id == ARM64_INS_LDRSW) && arm64->op_count == 2 &&
	    arm64->operands[1].type == ARM64_OP_IMM)
		out->mem[out->mems++] = form_const(arm64->operands[1].imm);
	/* dc zva: a block of zeros, as memset writes it. */
	if (in->id == ARM64_INS_DC && arm64->op_count == 2 && arm64_gpr(arm64->operands[1].reg).bytes)
		out->mem[out->mems++] = form_source(arm64_gpr(arm64->operands[1].reg).gpr);
	return -1;
}

static bool only_compares(unsigned id)
{
	return id == ARM64_INS_CMP || id == ARM64_INS_CMN || id == ARM64_INS_TST || id == ARM64_INS_CCMP ||
	       id == ARM64_INS_CCMN;
}

static bool is_call(unsigned id)
{
	return id == ARM64_INS_BL || id == ARM64_INS_BLR;
}

/* The registers that the procedure call standard lets a callee change: x0 to x18, and the call x30. */
#define CALLEE_MAY_CHANGE ((UINT32_C(1) << 19) - 1u + (UINT32_C(1) << GPR_LR))

static uint32_t bit_of(uint8_t reg)
{
	return reg == INSN_NO_REG ? 0 : UINT32_C(1) << reg;
}

static void take_lost(const struct capstone_state *a, const cs_insn *in, struct insn *out)
{
	cs_regs read, written;
	uint8_t reads = 0, writes = 0;

	if (is_call(in->id)) {
		out->lost = CALLEE_MAY_CHANGE;
		return;
	}
	if (in->id == ARM64_INS_SVC)
		out->lost = bit_of(GPR_X0);
	if (!only_compares(in->id) && cs_regs_access(a->handle, in, read, &reads, written, &writes) == CS_ERR_OK)
		for (unsigned i = 0; i < writes; i++) {
			struct arm64_gpr reg = arm64_gpr(written[i]);

			if (reg.bytes && !reg.zero)
				out->lost |= bit_of(reg.gpr);
		}
	out->lost &= ~(bit_of(out->sets) | bit_of(out->moves));
	out->lost |= bit_of(out->loads_too);
}

static bool arm64_decode(void *state, const uint8_t *code, size_t bytes, uint64_t at, struct insn *insn)
{
	struct capstone_state *a = state;
	uint32_t word;

	if (bytes < ARM64_BYTES)
		return false;
	word = word_of(code);
	*insn = insn_blank;
	insn->bytes = ARM64_BYTES;
	bytes = ARM64_BYTES;
	if (cs_disasm_iter(a->handle, &code, &bytes, &at, a->insn)) {
		arm64_effect(a->insn, take_memory(a->insn, insn), insn);
		take_lost(a, a->insn, insn);
	} else {
		arm64_decode_newer(word, insn);
	}
	return word >> 16 != 0;
}

static unsigned arm64_call_before(const uint8_t *code)
{
	struct outline outline;

	return arm64_outline(NULL, code + CALL_BYTES - ARM64_BYTES, ARM64_BYTES, &outline) && outline.flow == FLOW_CALL ?
	       ARM64_BYTES : 0;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static void *arm64_open(void)
{
	static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };

	return capstone_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, nop, sizeof(nop));
}

const struct operand_arch operand_arch_native = {
	.longest = ARM64_BYTES,
	.frame = GPR_FP,
	.link = GPR_LR,
	.open = arm64_open,
	.close = capstone_close,
	.outline = arm64_outline,
	.decode = arm64_decode,
	.call_before = arm64_call_before,
};

#endif
