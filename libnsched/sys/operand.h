/* The operand decoder: which data addresses the code around a sample touches.
 *
 * Belongs to one thread at a time, and never to a signal handler: it reads code with a system call.
 * What an instruction's neighbourhood touches is worked out once, as a recipe, and kept. */
#ifndef NSCHED_OPERAND_H
#define NSCHED_OPERAND_H

#include <stdbool.h>

#include "operand_code.h"
#include "regs.h"

enum { OPERAND_MOST = 8 }; /* addresses that one sample can give */

struct operand_decoder;

/* How samples went; all but `cached` add up to the calls of operand_resolve. */
struct operand_counts {
	uint64_t resolved;
	uint64_t no_memory;      /* the code around touches no data, or only the thread's own frame */
	uint64_t gather;         /* only addresses in vector registers, which no sample has */
	uint64_t lost_registers; /* operands there were, but their registers were overwritten */
	uint64_t unreadable;     /* code that is gone, or is none */
	uint64_t cached;         /* came from the cache, of all */
};

/* Makes a decoder; `code` is copied, its `arg` must live as long.
 * -ENOMEM   no memory
 * -ENOTSUP  there is no decoder for this architecture */
int operand_open(const struct operand_code *code, struct operand_decoder **decoder);
void operand_close(struct operand_decoder *decoder);

/* Puts up to `most` data addresses into addrs, nearest to the sample first, and returns how many; 0
 * where there is none, and the reason is counted. They come from the loop or block around the
 * sample, so they are as likely before it as behind it, and in equal parts. Addresses in the
 * thread's own frames are left out. */
unsigned operand_resolve(struct operand_decoder *decoder, const struct regs *regs, uint64_t addrs[], unsigned most);

/* Is the recipe for code at `ip` at hand? Without it operand_resolve has to decode: 16 to 75 us. */
bool operand_known(struct operand_decoder *decoder, uint64_t ip);

/* Time goes on: recipes not checked against the code for OPERAND_FRESH_TICKS calls of this are
 * checked at their next use, so that a dlclose or a JIT compiler is noticed. Called once a poll. */
void operand_tick(struct operand_decoder *decoder);

void operand_counts(const struct operand_decoder *decoder, struct operand_counts *counts);

#endif
