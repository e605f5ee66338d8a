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
	RECIPE_SLOTS = 8,    /* pieces of memory read and products made for one sample */
	TRACE_INSNS = 320,   /* instructions looked at around a sample */
};

/* What is worked out when the recipe is used, in this order: each may need those before it. */
struct slot {
	struct form at;   /* memory is read here... */
	struct form by;
	uint8_t bytes;    /* ...so much of it, or, if 0, the slot is at times by */
	bool is_signed;
};

/* The registers in the caller at the call that led here, over the recipe's slots too; those not known
 * are lost. The return address lies at gpr[GPR_SP]. */
struct passage {
	struct form gpr[GPRS];
};

struct recipe {
	struct form operand[RECIPE_OPERANDS];
	struct slot slot[RECIPE_SLOTS];
	uint8_t operands;
	uint8_t slots;
	bool gathers; /* there were operands with vector indices */
	bool lost;    /* there were operands whose registers were lost */
	bool leads_out; /* the sample is in no loop of its function, and the way back reached the caller */
};

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
	unsigned frame;          /* the register that holds the frame pointer there, or GPRS for none */
	uint64_t fixed_start;    /* constant addresses from here... */
	uint64_t fixed_end;      /* ...to here are literals and jump tables, no data */
};

/* The passage is filled if recipe->leads_out. */
void trace_recipe(struct trace *trace, const struct trace_ask *ask, struct recipe *recipe, struct passage *passage);

#endif
