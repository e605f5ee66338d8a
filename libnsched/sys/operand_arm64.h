/* Between the files of the AArch64 decoder, the only ones beside x86's that know Capstone. */
#ifndef NSCHED_OPERAND_ARM64_H
#define NSCHED_OPERAND_ARM64_H

#include <capstone.h>

#include "operand_insn.h"

enum { ARM64_BYTES = 4 };

/* A register as far as it is followed. */
struct arm64_gpr {
	uint8_t gpr;   /* enum gpr, or INSN_NO_REG */
	uint8_t bytes; /* 8 or 4; 0: it is no general register */
	bool zero;     /* it is the one that is always 0 */
};

struct arm64_gpr arm64_gpr(unsigned reg);

/* A register operand as it is shifted and extended; lost if that is not linear. */
struct form arm64_operand(const cs_arm64_op *op);

/* Fills what the instruction makes of general registers; mem is the index of its memory operand in Capstone's
 * list, whose address is out->mem[0], or -1. */
void arm64_effect(const cs_insn *in, int mem, struct insn *out);

/* What Capstone 4 lacks: atomics of ARMv8.1, and SVE. Only their addresses are followed. */
void arm64_decode_newer(uint32_t word, struct insn *out);

#endif
