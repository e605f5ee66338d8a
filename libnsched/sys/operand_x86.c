/* x86-64 for the operand decoder. Capstone says what an instruction reads and writes, operand_x86_effect.c
 * what it makes of the registers, operand_x86_outline.c how long it is and where it goes on. */
#include "operand_x86.h"

#if REGS_X86

enum { EVEX = 0x62, VEX_2 = 0xc5, VEX_3 = 0xc4 }; /* first bytes of AVX; in 64-bit code of nothing else */

static bool is_vector(x86_reg reg)
{
	return (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31) || (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31) ||
	       (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31);
}

/* Names memory without touching data: addresses computed, padding, pointers to code. */
static bool names_memory_only(unsigned id)
{
	return id == X86_INS_LEA || id == X86_INS_NOP || id == X86_INS_JMP || id == X86_INS_CALL;
}

/* Collects the memory operands; operand_at[i] becomes 1 + index into mem, or 0. */
static void take_memory(const cs_insn *in, struct insn *out, uint8_t operand_at[X86_OPERANDS])
{
	const cs_x86 *x86 = &in->detail->x86;

	for (unsigned i = 0; i < x86->op_count && i < X86_OPERANDS; i++) {
		const cs_x86_op *op = &x86->operands[i];

		operand_at[i] = 0;
		if (op->type != X86_OP_MEM || names_memory_only(in->id))
			continue;
		if (op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS)
			continue; /* thread-local storage goes where the thread goes */
		if (is_vector(op->mem.index)) {
			out->gather = true;
		} else if (out->mems < INSN_MEMS) {
			out->mem[out->mems++] = x86_address(in, op);
			operand_at[i] = out->mems;
		}
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
	from = x86_part(op[1].reg);
	if (from.bytes != 8)
		return;
	out->saves = from.gpr;
	out->saved_at = SAVED_AT_MEM;
}

/* ---- registers lost --------------------------------------------------------------------------------- */

static void lose(struct insn *out, unsigned reg)
{
	struct gpr_part x = x86_part(reg);

	if (x.gpr != NOT_GPR)
		out->lost |= UINT32_C(1) << x.gpr;
}

static bool only_reads(unsigned id)
{
	return id == X86_INS_CMP || id == X86_INS_TEST || id == X86_INS_PUSH || id == X86_INS_JMP || id == X86_INS_CALL ||
	       id == X86_INS_BT || id == X86_INS_NOP;
}

/* The registers that the System V ABI lets a callee change. */
#define CALLEE_MAY_CHANGE                                                                                              \
	(1u << GPR_AX | 1u << GPR_CX | 1u << GPR_DX | 1u << GPR_SI | 1u << GPR_DI | 1u << GPR_8 | 1u << GPR_9 |         \
	 1u << GPR_10 | 1u << GPR_11)

static void take_lost(const struct capstone_state *x, const cs_insn *in, struct insn *out)
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
	if (in->id == X86_INS_CALL || in->id == X86_INS_LCALL) {
		out->sets = INSN_NO_REG;
		out->lost = CALLEE_MAY_CHANGE; /* not the stack pointer: it is back after the return */
	}
	if (out->sets != INSN_NO_REG)
		out->lost &= ~(UINT32_C(1) << out->sets);
}

static bool is_vex(const uint8_t *code, size_t bytes)
{
	return bytes && (code[0] == EVEX || code[0] == VEX_2 || code[0] == VEX_3);
}

static bool x86_decode(void *state, const uint8_t *code, size_t bytes, uint64_t at, struct insn *insn)
{
	struct capstone_state *x = state;
	uint8_t mem_at[X86_OPERANDS] = { 0 };
	const uint8_t *begin = code;
	size_t whole = bytes;

	if (is_vex(code, bytes) && !x86_vex_general(code, bytes) && x86_vex_decode(code, bytes, at, insn))
		return true;
	if (!cs_disasm_iter(x->handle, &code, &bytes, &at, x->insn)) {
		if (!x86_vex_decode(begin, whole, at, insn))
			return false;
		insn->lost = UINT32_MAX;
		return true;
	}
	*insn = insn_blank;
	insn->bytes = (uint8_t)x->insn->size;
	take_memory(x->insn, insn, mem_at);
	x86_effect(x->insn, mem_at, insn);
	take_save(x->insn, insn);
	take_lost(x, x->insn, insn);
	return true;
}

static bool x86_outline_any(void *state, const uint8_t *code, size_t bytes, struct outline *outline)
{
	struct capstone_state *x = state;
	struct insn insn = { 0 };
	uint64_t at = 0;

	if (x86_outline(code, bytes, outline))
		return true;
	*outline = (struct outline){ .flow = FLOW_NEXT };
	if (is_vex(code, bytes) && x86_vex_decode(code, bytes, at, &insn))
		outline->bytes = insn.bytes;
	else if (cs_disasm_iter(x->handle, &code, &bytes, &at, x->insn))
		outline->bytes = (uint8_t)x->insn->size;
	return outline->bytes != 0;
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

static void *x86_open(void)
{
	static const uint8_t nop[] = { 0x90 };

	return capstone_open(CS_ARCH_X86, CS_MODE_64, nop, sizeof(nop));
}

const struct operand_arch operand_arch_native = {
	.longest = X86_LONGEST,
	.frame = GPR_BP,
	.link = INSN_NO_REG,
	.open = x86_open,
	.close = capstone_close,
	.outline = x86_outline_any,
	.decode = x86_decode,
	.call_before = x86_call_before,
};

#elif !REGS_KNOWN /* no table for this architecture yet */

static void *none_open(void)
{
	return NULL;
}

const struct operand_arch operand_arch_native = { .longest = 1, .frame = GPR_SP, .link = INSN_NO_REG, .open = none_open };

#endif
