#include "operand_form.h"

struct form form_lost(void)
{
	return (struct form){ .terms = FORM_LOST };
}

struct form form_const(int64_t value)
{
	return (struct form){ .add = value };
}

struct form form_source(unsigned from)
{
	struct form form = { .terms = 1 };

	form.times[0] = 1;
	form.part[0] = form_part(from, CUT_NONE);
	return form;
}

static void drop_term(struct form *form, unsigned at)
{
	form->terms--;
	form->times[at] = form->times[form->terms];
	form->part[at] = form->part[form->terms];
}

/* Adds one term in place; false if there is no room or the factor is out of range. */
static bool add_term(struct form *form, uint8_t part, int64_t times)
{
	unsigned at = 0;

	while (at < form->terms && form->part[at] != part)
		at++;
	if (at == FORM_TERMS)
		return false;
	if (at == form->terms) {
		form->part[at] = part;
		form->times[at] = 0;
		form->terms++;
	}
	times += form->times[at];
	if (times < INT32_MIN || times > INT32_MAX)
		return false;
	form->times[at] = (int32_t)times;
	if (times == 0)
		drop_term(form, at);
	return true;
}

struct form form_sum(const struct form *a, const struct form *b, int64_t times)
{
	struct form sum = *a;

	if (!form_known(a) || !form_known(b) || times < INT32_MIN || times > INT32_MAX)
		return form_lost();
	/* Unsigned, since addresses wrap and code relies on it. */
	sum.add = (int64_t)((uint64_t)a->add + (uint64_t)b->add * (uint64_t)times);
	for (unsigned i = 0; i < b->terms; i++)
		if (!add_term(&sum, b->part[i], b->times[i] * times))
			return form_lost();
	return sum;
}

struct form form_half(const struct form *form, enum form_cut cut)
{
	struct form half = *form;

	if (cut == CUT_NONE || !form_known(form))
		return half;
	if (form->terms == 0) {
		half.add = cut == CUT_ZERO32 ? (int64_t)(uint32_t)form->add : (int64_t)(int32_t)form->add;
		return half;
	}
	half.add = (int32_t)form->add;
	if (cut == CUT_ZERO32 && (form->terms > 1 || form->times[0] != 1 || half.add != 0))
		cut = CUT_SIGN32;
	for (unsigned i = 0; i < half.terms; i++)
		half.part[i] = form_part(form_from(form, i), cut);
	return half;
}

bool form_parallel(const struct form *a, const struct form *b)
{
	if (a->terms != b->terms)
		return false;
	for (unsigned i = 0; i < a->terms && a->terms <= FORM_TERMS; i++) {
		unsigned j = 0;

		while (j < b->terms && (a->part[i] != b->part[j] || a->times[i] != b->times[j]))
			j++;
		if (j == b->terms)
			return false;
	}
	return true;
}

uint64_t form_needs(const struct form *form)
{
	uint64_t needs = 0;

	if (form_known(form))
		for (unsigned i = 0; i < form->terms; i++)
			needs |= UINT64_C(1) << form_from(form, i);
	return needs;
}

struct form form_substitute(const struct form *form, const struct form state[GPRS])
{
	struct form sum = form_const(form->add);

	if (!form_known(form))
		return form_lost();
	for (unsigned i = 0; i < form->terms && form_known(&sum); i++) {
		struct form part = form_half(&state[form_from(form, i)], form_cut(form, i));

		sum = form_sum(&sum, &part, form->times[i]);
	}
	return sum;
}

uint64_t form_value(const struct form *form, const struct regs *regs, const uint64_t *slots)
{
	uint64_t value = (uint64_t)form->add;

	for (unsigned i = 0; i < form->terms; i++) {
		unsigned from = form_from(form, i);
		uint64_t source = from < FORM_SLOT ? regs->gpr[from] : slots[from - FORM_SLOT];

		if (form_cut(form, i) == CUT_ZERO32)
			source = (uint32_t)source;
		else if (form_cut(form, i) == CUT_SIGN32)
			source = (uint64_t)(int64_t)(int32_t)source;
		value += source * (uint64_t)(int64_t)form->times[i];
	}
	return value;
}
