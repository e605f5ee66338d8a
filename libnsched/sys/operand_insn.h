/* What the decoder wants to know of an instruction, the same for every architecture; and the seam
 * that an architecture's decoder fills. Forms in it are over the registers before the instruction. */
#ifndef NSCHED_OPERAND_INSN_H
#define NSCHED_OPERAND_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "operand_capstone.h"
#include "operand_form.h"

enum flow {
	FLOW_NEXT,   /* goes on behind itself */
	FLOW_BRANCH, /* may jump */
	FLOW_JUMP,   /* jumps */
	FLOW_CALL,   /* goes on behind itself, the callee's registers lost */
	FLOW_END,    /* return, trap, jump through a register */
};

/* How long an instruction is, and where it goes on: of every instruction, so it must be cheap. */
struct outline {
	uint8_t bytes;
	uint8_t flow;    /* enum flow */
	bool direct;     /* a branch or jump, whose target is known... */
	int32_t jump;    /* ...so far behind its own end */
};

enum { INSN_MEMS = 2, INSN_NO_REG = 0xff };

enum insn_saved { SAVED_AT_VALUE, SAVED_AT_MEM };

/* What an instruction does, asked of those only that the way from a sample leads over: `sets` becomes
 * value, plus what is loaded from mem[load - 1] (0: nothing), times the register `factor`, plus the register
 * `plus`, cut; every register of the mask `lost` changes in a way that is not followed. A register that is
 * saved to the frame can be had from there later. What x86 has not: a base register that `moves` beside
 * that, and a pair of registers loaded or saved. */
struct insn {
	struct form mem[INSN_MEMS];  /* addresses of its memory operands; no lea, no segment override */
	struct form value;
	uint32_t lost;               /* a bit for each enum gpr */
	uint8_t bytes;
	uint8_t mems;
	uint8_t sets;                /* enum gpr, or INSN_NO_REG */
	uint8_t factor;              /* likewise */
	uint8_t saves;               /* a register pushed or stored whole to the frame, likewise... */
	uint8_t saved_at;            /* ...where: enum insn_saved, value or mem[0] */
	uint8_t load;
	uint8_t load_bytes;          /* 1, 2, 4 or 8 */
	bool load_signed;
	uint8_t cut;                 /* enum form_cut */
	uint8_t factor_cut;          /* likewise, of the factor before it is multiplied */
	uint8_t plus;                /* a register, or INSN_NO_REG; so are the next three */
	uint8_t moves;               /* another than `sets`... */
	uint8_t loads_too;           /* from load_bytes behind; it is among the lost */
	uint8_t saves_too;           /* 8 bytes behind */
	int16_t moved;               /* ...by this */
	bool gather;                 /* addresses come from a vector register */
};

enum { CALL_BYTES = 8 };

struct operand_arch {
	unsigned longest;            /* bytes of the longest instruction */
	enum gpr frame;              /* the register that may be a frame pointer */
	uint8_t link;                /* that has the return address where a function begins, or INSN_NO_REG: it
	                              * is on top of the stack */

	/* NULL: no memory, or the disassembler lacks the architecture. */
	void *(*open)(void);
	void (*close)(void *state);

	/* The outline of one instruction; false if the bytes are none. */
	bool (*outline)(void *state, const uint8_t *code, size_t bytes, struct outline *outline);

	/* Decodes one instruction; false if the bytes are none. */
	bool (*decode)(void *state, const uint8_t *code, size_t bytes, uint64_t at, struct insn *insn);

	/* The length of the call that ends where these CALL_BYTES bytes end; 0 if none does. */
	unsigned (*call_before)(const uint8_t *code);
};

extern const struct operand_arch operand_arch_native;

/* One that does nothing; and one of which nothing is known: every register is lost. */
extern const struct insn insn_blank;
extern const struct insn insn_unknown;

#endif
