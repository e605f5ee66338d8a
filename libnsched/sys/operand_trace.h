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

enum {
	RECIPE_OPERANDS = 8, /* addresses kept; a loop with more is sampled often enough to show the others */
	RECIPE_SLOTS = 4,    /* pieces of memory read for one sample */
	TRACE_INSNS = 320,   /* instructions looked at around a sample */
};

/* Memory that is read when the recipe is used: `at` is over registers only. */
struct slot {
	struct form at;
	uint8_t bytes;
	bool is_signed;
};

struct recipe {
	struct form operand[RECIPE_OPERANDS];
	struct slot slot[RECIPE_SLOTS];
	uint8_t operands;
	uint8_t slots;
	bool gathers; /* there were operands with vector indices */
	bool lost;    /* there were operands whose registers were lost */
	bool fixed;   /* operands are constant addresses only: globals, literals */
};

struct trace; /* working memory, about 100 KiB */

struct trace *trace_create(void);
void trace_destroy(struct trace *trace);

/* Where the code to look at is put, TRACE_INSNS of them. */
struct insn *trace_insns(struct trace *trace);

/* Makes the recipe of a sample at insns[at], of `count` instructions that lie one behind the other.
 * `frame` is the register that holds the frame pointer there, or GPRS for none. */
void trace_recipe(struct trace *trace, unsigned count, unsigned at, unsigned frame, struct recipe *recipe);

#endif
