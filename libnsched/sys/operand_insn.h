/* What the decoder wants to know of an instruction, the same for every architecture; and the seam
 * that an architecture's decoder fills. Forms in it are over the registers before the instruction. */
#ifndef NSCHED_OPERAND_INSN_H
#define NSCHED_OPERAND_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operand_form.h"

enum flow {
	FLOW_NEXT,   /* goes on behind itself */
	FLOW_BRANCH, /* may jump to target */
	FLOW_JUMP,   /* jumps to target (0: not known) */
	FLOW_CALL,   /* goes on behind itself, the callee's registers lost */
	FLOW_END,    /* return, trap, jump through a register */
};

enum { INSN_MEMS = 2, INSN_SETS_NONE = 0xff };

/* What an instruction does to registers: `sets` becomes value, plus what is loaded from mem[load - 1]
 * (0: nothing), cut; every register of the mask `lost` changes in a way that is not followed. */
struct insn {
	uint64_t at;
	uint64_t target;             /* of a branch or jump */
	struct form mem[INSN_MEMS];  /* addresses of its memory operands; no lea, no segment override */
	struct form value;
	uint32_t lost;               /* a bit for each enum gpr */
	uint8_t bytes;
	uint8_t flow;                /* enum flow */
	uint8_t mems;
	uint8_t sets;                /* enum gpr, or INSN_SETS_NONE */
	uint8_t load;
	uint8_t load_bytes;          /* 1, 2, 4 or 8 */
	bool load_signed;
	uint8_t cut;                 /* enum form_cut */
	bool gather;                 /* addresses come from a vector register */
};

struct operand_arch {
	unsigned longest;            /* bytes of the longest instruction */
	enum gpr frame;              /* the register that may be a frame pointer */

	/* NULL: no memory, or the disassembler lacks the architecture. */
	void *(*open)(void);
	void (*close)(void *state);

	/* Decodes one instruction; false if the bytes are none. */
	bool (*decode)(void *state, const uint8_t *code, size_t bytes, uint64_t at, struct insn *insn);
};

extern const struct operand_arch operand_arch_native;

#endif
