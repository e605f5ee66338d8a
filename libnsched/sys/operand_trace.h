/* From the instructions around a sample to the addresses that they touch, as forms over the sample's
 * registers (a recipe), so that the next sample at the same instruction costs a few additions.
 *
 * A sample lands behind the load that stalls, or, under emulation, at the head of a block. So the
 * way goes back first, undoing what can be undone (a loop's index += 8), round the loop's back edge
 * and up to the sample again; then the same way is run forwards, which finds pointers that the code
 * loads anew from its frame; then forwards from the sample. Only what lies on these ways is decoded. */
#ifndef NSCHED_OPERAND_TRACE_H
#define NSCHED_OPERAND_TRACE_H

#include "operand_range.h"
#include "operand_recipe.h"

struct trace; /* working memory, about 30 KiB */

struct trace *trace_create(void);
void trace_destroy(struct trace *trace);

/* What is asked: the recipe of a sample at a place of a range. */
struct trace_ask {
	struct range *range;
	unsigned at;
	unsigned frame;          /* the register that holds the frame pointer there, or INSN_NO_REG */
	const struct regs *regs; /* of the first sample there... */
	uint64_t known;          /* ...and a bit for each that is known */
};

/* The draft holds until the next call. */
const struct recipe_draft *trace_recipe(struct trace *trace, const struct trace_ask *ask);

#endif
