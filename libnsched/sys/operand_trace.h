/* From the instructions around a sample to the addresses that they touch, as forms over the sample's
 * registers (a recipe), so that the next sample at the same instruction costs a few additions.
 *
 * A sample lands behind the load that stalls, or, under emulation, at the head of a block. So the
 * way goes back first, undoing what can be undone (a loop's index += 8), round the loop's back edge
 * and up to the sample again; then the same way is run forwards, which finds pointers that the code
 * loads anew from its frame; then forwards from the sample. */
#ifndef NSCHED_OPERAND_TRACE_H
#define NSCHED_OPERAND_TRACE_H

#include "operand_insn.h"
#include "operand_recipe.h"

enum { TRACE_INSNS = 320 }; /* instructions looked at around a sample */

struct trace; /* working memory, about 100 KiB */

struct trace *trace_create(void);
void trace_destroy(struct trace *trace);

/* Where the code to look at is put, TRACE_INSNS of them. */
struct insn *trace_insns(struct trace *trace);

/* What is asked: the recipe of a sample at insns[at], of `count` instructions that lie one behind the
 * other. */
struct trace_ask {
	unsigned count;
	unsigned at;
	bool entry;              /* insns[0] is where the function begins */
	unsigned frame;          /* the register that holds the frame pointer there, or INSN_NO_REG */
	const struct regs *regs; /* of the first sample there... */
	uint64_t known;          /* ...and a bit for each that is known */
	uint64_t fixed_start;    /* addresses from here... */
	uint64_t fixed_end;      /* ...to here are literals and tables, no data */
};

/* The passage is filled if recipe->leads_out. */
void trace_recipe(struct trace *trace, const struct trace_ask *ask, struct recipe *recipe, struct passage *passage);

#endif
