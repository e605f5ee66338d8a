/* A recipe: the addresses that are touched around an instruction, as forms over a sample's registers and
 * over slots, which are worked out when it is used. It is drafted with room for all that may turn up, and
 * kept as small as it is. */
#ifndef NSCHED_OPERAND_RECIPE_H
#define NSCHED_OPERAND_RECIPE_H

#include <stddef.h>

#include "operand_form.h"

enum {
	RECIPE_OPERANDS = 8, /* addresses kept; a loop with more is sampled often enough to show the others */
	RECIPE_SLOTS = 12,   /* pieces of memory read and products made for one sample */
	SLOTS = 32,          /* of a draft */
};

_Static_assert(FORM_SLOT + SLOTS <= FORM_SOURCES, "a form names every slot");

/* What is worked out when the recipe is used, in this order: each may need those before it. */
struct slot {
	struct form at;   /* memory is read here... */
	struct form by;
	uint8_t bytes;    /* ...so much of it, or, if 0, the slot is at times by */
	bool is_signed;
};

struct slots {
	struct slot slot[SLOTS];
	unsigned count;
};

/* A source for a new slot, or for one that is the same; lost if something in it is lost or there is no
 * room. */
struct form slots_source(struct slots *slots, const struct slot *slot);

struct recipe_draft {
	struct form operand[RECIPE_OPERANDS];
	struct slots slots;
	struct form caller[GPRS]; /* the registers in the caller at the call that led here, lost if not known; the
	                           * return address lies at caller[GPR_SP] */
	unsigned operands;
	bool gathers;   /* there were operands with vector indices */
	bool lost;      /* there were operands whose registers were lost */
	bool leads_out; /* the sample is in no loop of its function that surely touches data, and the way back reached
	                 * the caller */
};

/* What is kept of it. */
struct recipe {
	uint32_t caller;          /* a bit for each of the caller's registers that are known */
	uint8_t operands, slots;
	bool gathers, lost, leads_out;
	uint8_t slot_bytes[RECIPE_SLOTS];
	bool slot_signed[RECIPE_SLOTS];
	struct form form[];       /* the operands; `at` and `by` of each slot; the caller's known registers */
};

enum { RECIPE_FORMS = RECIPE_OPERANDS + 2 * RECIPE_SLOTS + GPRS };

static inline const struct form *recipe_slot_at(const struct recipe *recipe, unsigned slot)
{
	return &recipe->form[recipe->operands + 2 * slot];
}

static inline const struct form *recipe_slot_by(const struct recipe *recipe, unsigned slot)
{
	return recipe_slot_at(recipe, slot) + 1;
}

static inline const struct form *recipe_callers(const struct recipe *recipe)
{
	return recipe_slot_at(recipe, recipe->slots);
}

/* The bytes that a recipe takes. */
static inline size_t recipe_bytes(const struct recipe *recipe)
{
	return offsetof(struct recipe, form) +
	       (recipe->operands + 2u * recipe->slots + (unsigned)__builtin_popcount(recipe->caller)) * sizeof(struct form);
}

/* Fills the recipe, which has room for RECIPE_FORMS, with the draft and the slots that it needs; drops
 * operands, then registers of the caller, for whose slots there is no room. */
void recipe_settle(const struct recipe_draft *draft, struct recipe *recipe);

#endif
