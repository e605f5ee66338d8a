/* The code around a sample: read, put in step, decoded. */
#ifndef NSCHED_OPERAND_WINDOW_H
#define NSCHED_OPERAND_WINDOW_H

#include "operand_code.h"
#include "operand_insn.h"

enum {
	WINDOW_BACK = 640,  /* bytes of code looked at before the sample... */
	WINDOW_AHEAD = 768, /* ...and behind it: most loops, and not over 100 us to decode */
};

/* A stretch of code as it was read. */
struct window {
	uint64_t start;
	uint32_t bytes;                /* 0: nothing could be read */
	struct operand_function function;
	bool in_step;                  /* start is where an instruction begins */
	uint8_t code[WINDOW_BACK + WINDOW_AHEAD];
};

/* Reads what can be had of the code around ip. False if not even ip's own place could be read. */
bool window_read(struct window *window, const struct operand_code *code, uint64_t ip);

/* Decodes it into insns, `most` at the most, such that insns[*at] begins at ip. Goes on behind ip until a
 * loop round it that touches memory has closed. Returns how many, 0 if there is no instruction. */
unsigned window_decode(const struct window *window, const struct operand_arch *arch, void *arch_state, uint64_t ip,
                       struct insn *insns, unsigned most, unsigned *at);

/* A hash of the window's code, to see later whether it is still the same. */
uint32_t window_hash(const struct window *window);

/* Reads the same stretch anew; false if it can't be read or differs. */
bool window_same(struct window *window, const struct operand_code *code, uint64_t start, uint32_t bytes, uint32_t hash);

#endif
