/* Between the files of the x86-64 decoder, the only ones that know Capstone. */
#ifndef NSCHED_OPERAND_X86_H
#define NSCHED_OPERAND_X86_H

#include <capstone.h>

#include "operand_insn.h"

enum { NOT_GPR = 0xff, X86_OPERANDS = 8, X86_LONGEST = 15 };

/* One operand, as far as it is followed. */
struct gpr_part {
	uint8_t gpr;   /* enum gpr, or NOT_GPR */
	uint8_t bytes; /* how much of it is meant */
};

/* The general register that one of Capstone's is, or is part of. */
struct gpr_part x86_part(unsigned reg);

/* The address of a memory operand; lost for 32-bit addressing. */
struct form x86_address(const cs_insn *in, const cs_x86_op *op);

/* Fills what the instruction sets; mem_at[i] is 1 + the index of operand i in out->mem, or 0. */
void x86_effect(const cs_insn *in, const uint8_t mem_at[X86_OPERANDS], struct insn *out);

/* An EVEX or VEX instruction, by itself; false if the bytes are none. */
bool x86_vex_decode(const uint8_t *code, size_t bytes, uint64_t at, struct insn *insn);

/* True if it computes in general registers (BMI), which x86_vex_decode does not follow. */
bool x86_vex_general(const uint8_t *code, size_t bytes);

/* The outline of any other; false if it is not in the tables, or the bytes are none. */
bool x86_outline(const uint8_t *code, size_t bytes, struct outline *outline);

#endif
