/* A recipe: the addresses that are touched around an instruction, as forms over a sample's registers and
 * over slots, which are worked out when it is used. */
#ifndef NSCHED_OPERAND_RECIPE_H
#define NSCHED_OPERAND_RECIPE_H

#include "operand_form.h"

enum {
	RECIPE_OPERANDS = 8, /* addresses kept; a loop with more is sampled often enough to show the others */
	RECIPE_SLOTS = 12,    /* pieces of memory read and products made for one sample */
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

/* Slots while a recipe is made: more than it keeps. */
enum { SLOTS = 32 };

struct slots {
	struct slot slot[SLOTS];
	unsigned count;
};

/* A source for a new slot, or for one that is the same; lost if something in it is lost or there is no
 * room. */
struct form slots_source(struct slots *slots, const struct slot *slot);

/* Moves the slots that the recipe's operands and the passage (if it leads out) need into the recipe.
 * Drops operands, then registers of the caller, for which there is no room. */
void recipe_settle(struct recipe *recipe, struct passage *passage, const struct slots *slots);

#endif
