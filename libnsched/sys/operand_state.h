/* What instructions do to what is known of the registers, forwards and backwards. */
#ifndef NSCHED_OPERAND_STATE_H
#define NSCHED_OPERAND_STATE_H

#include "operand_insn.h"
#include "operand_recipe.h"

/* The registers of the mask are not known any more. */
void state_lose(struct form state[GPRS], uint32_t lost);

/* The state after an instruction, from the state before it. What it loads or multiplies becomes a slot. */
void state_step(struct slots *slots, const struct insn *insn, struct form state[GPRS]);

/* A bit for each register that state_step may change. */
uint32_t state_step_changes(const struct insn *insn);

/* The state before an instruction, from the state after it: a constant added is taken off, a register
 * that was copied is known by its copy, one that was saved by what is in memory. */
void state_undo(struct slots *slots, const struct insn *insn, struct form state[GPRS]);

/* A bit for each register that may be known before an instruction though it is not behind it, or that is
 * another one: all that state_undo changes but those that it loses. */
uint32_t state_undo_infers(const struct insn *insn);

#endif
