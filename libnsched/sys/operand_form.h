/* Linear forms: what a register or an address is, in terms of the registers at the sample:
 *
 *   add + times[0] * from[0] + times[1] * from[1] + ...
 *
 * A source is a register of the sample or a slot: something that is worked out when the form is
 * evaluated, such as a spilled pointer that is read from memory. Numbers only; nothing here touches the machine. */
#ifndef NSCHED_OPERAND_FORM_H
#define NSCHED_OPERAND_FORM_H

#include <stdbool.h>
#include <stdint.h>

#include "regs.h"

enum {
	FORM_TERMS = 3,       /* base, index and one spilled pointer; more is given up as lost */
	FORM_LOST = 0xff,     /* in `terms`: the value is not known */
	FORM_SLOT = GPRS,     /* sources from here on are slots */
};

/* What is kept of a source before it is multiplied: 32-bit code keeps half a register. */
enum form_cut { CUT_NONE, CUT_ZERO32, CUT_SIGN32 };

/* 24 bytes: hundreds are kept, and the way they are worked out is bound by memory. */
struct form {
	int64_t add;
	int32_t times[FORM_TERMS];
	uint8_t part[FORM_TERMS]; /* a source, and what is kept of it: form_part */
	uint8_t terms;            /* in use, or FORM_LOST */
};

enum { FORM_CUT_SHIFT = 6, FORM_SOURCES = 1 << FORM_CUT_SHIFT };

static inline uint8_t form_part(unsigned from, enum form_cut cut)
{
	return (uint8_t)(from | (unsigned)cut << FORM_CUT_SHIFT);
}

static inline unsigned form_from(const struct form *form, unsigned term)
{
	return form->part[term] & (FORM_SOURCES - 1);
}

static inline enum form_cut form_cut(const struct form *form, unsigned term)
{
	return (enum form_cut)(form->part[term] >> FORM_CUT_SHIFT);
}

static inline bool form_known(const struct form *form)
{
	return form->terms != FORM_LOST;
}

struct form form_lost(void);
struct form form_const(int64_t value);
struct form form_source(unsigned from);

/* a + times * b; lost if either is, or if it takes more terms than there is room for. */
struct form form_sum(const struct form *a, const struct form *b, int64_t times);

/* The low half of a form. Exact for one plain register; else each 32-bit source is taken as signed
 * and the sum as not wrapping, which holds for array indices. */
struct form form_half(const struct form *form, enum form_cut cut);

/* True if the two differ in `add` only. */
bool form_parallel(const struct form *a, const struct form *b);

/* A bit for each source that the form needs, registers first; 0 for a lost one. */
uint64_t form_needs(const struct form *form);

/* A form over registers, put in terms of what those registers are in `state`. */
struct form form_substitute(const struct form *form, const struct form state[GPRS]);

/* The value, given the registers at the sample and the slots' values. */
uint64_t form_value(const struct form *form, const struct regs *regs, const uint64_t *slots);

#endif
