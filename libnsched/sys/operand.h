/* The operand decoder: which data addresses the code around a sample touches.
 *
 * Belongs to one thread at a time, and never to a signal handler: it reads code with a system call.
 * Code is read and taken apart once for all samples near to each other, and what each of its instructions
 * touches is worked out once, as a recipe. Both are kept as long as there is room (CACHE_BYTES). */
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
	uint64_t unreadable;     /* code that is gone, or is none, or for which there was no memory */
	uint64_t cached;         /* came from the cache, of all */
};

/* Makes a decoder; `code` is copied, its `arg` must live as long.
 * -ENOMEM   no memory
 * -ENOTSUP  there is no decoder for this architecture
 * -ELIBACC  Capstone can't be loaded */
int operand_open(const struct operand_code *code, struct operand_decoder **decoder);
void operand_close(struct operand_decoder *decoder);

/* Puts up to `most` data addresses into addrs, nearest to the sample first, and returns how many; 0
 * where there is none, and the reason is counted. They come from the loop or block around the
 * sample, so they are as likely before it as behind it, and in equal parts. Addresses in the
 * thread's own frames are left out. */
unsigned operand_resolve(struct operand_decoder *decoder, const struct regs *regs, uint64_t addrs[], unsigned most);

/* What resolving a sample at `ip` takes. */
enum operand_price {
	OPERAND_KNOWN, /* its recipe is at hand: well under a microsecond */
	OPERAND_NEAR,  /* its code is: a few microseconds */
	OPERAND_NEW,   /* neither is: tens of microseconds */
	OPERAND_PRICES,
};
enum operand_price operand_price(struct operand_decoder *decoder, uint64_t ip);

/* Time goes on: what was not checked against the code for some calls of this (FRESH_TICKS) is
 * checked at its next use, so that a dlclose or a JIT compiler is noticed. Called once a poll. */
void operand_tick(struct operand_decoder *decoder);

void operand_counts(const struct operand_decoder *decoder, struct operand_counts *counts);

#endif
