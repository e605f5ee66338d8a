#include "operand_recipe.h"

#include <string.h>

struct form slots_source(struct slots *t, const struct slot *slot)
{
	unsigned i = 0;

	if (!form_known(&slot->at) || !form_known(&slot->by))
		return form_lost();
	while (i < t->count && (t->slot[i].bytes != slot->bytes || t->slot[i].is_signed != slot->is_signed ||
	                        t->slot[i].at.add != slot->at.add || !form_parallel(&t->slot[i].at, &slot->at) ||
	                        t->slot[i].by.add != slot->by.add || !form_parallel(&t->slot[i].by, &slot->by)))
		i++;
	if (i == SLOTS)
		return form_lost();
	if (i == t->count)
		t->slot[t->count++] = *slot;
	return form_source(FORM_SLOT + i);
}

/* A bit for each slot that the form needs, and that those need. */
static uint32_t slots_needed(const struct slots *t, const struct form *form)
{
	uint64_t needs = form_needs(form) >> FORM_SLOT;

	for (unsigned i = needs ? t->count : 0; i-- > 0;) /* a slot needs earlier ones only */
		if (needs & 1u << i)
			needs |= (form_needs(&t->slot[i].at) | form_needs(&t->slot[i].by)) >> FORM_SLOT;
	return (uint32_t)needs;
}

static void renumber(struct form *form, const uint8_t moved[SLOTS])
{
	for (unsigned k = 0; form_known(form) && k < form->terms; k++)
		if (form_from(form, k) >= FORM_SLOT)
			form->part[k] = form_part(FORM_SLOT + moved[form_from(form, k) - FORM_SLOT], form_cut(form, k));
}

/* Adds slots to those kept; false, and nothing added, if there is no room. */
static bool add_needed(uint32_t *kept, uint32_t needs)
{
	uint32_t with = *kept | needs;

	if (__builtin_popcount(with) > RECIPE_SLOTS)
		return false;
	*kept = with;
	return true;
}

/* The operand, of those in `left`, that needs the fewest slots more: so that as many as can be, of as many
 * arrays as can be, find room. The nearest of equals. */
static unsigned cheapest(const uint32_t needs[RECIPE_OPERANDS], unsigned left, uint32_t kept)
{
	unsigned best = 0;
	int least = SLOTS + 1;

	for (unsigned i = 0; left >> i; i++) {
		int more = __builtin_popcount(needs[i] & ~kept);

		if (left & 1u << i && more < least) {
			least = more;
			best = i;
		}
	}
	return best;
}

/* Takes the operands over, but those that need more slots than a recipe has; returns the slots that the
 * others need. */
static uint32_t settle_operands(const struct recipe_draft *draft, struct recipe *recipe)
{
	uint32_t needs[RECIPE_OPERANDS] = { 0 }, kept = 0;
	unsigned left = (1u << draft->operands) - 1, chosen = 0;

	for (unsigned i = 0; i < draft->operands; i++)
		needs[i] = slots_needed(&draft->slots, &draft->operand[i]);
	while (left) {
		unsigned i = cheapest(needs, left, kept);

		left &= ~(1u << i);
		if (add_needed(&kept, needs[i]))
			chosen |= 1u << i;
	}
	for (unsigned i = 0; i < draft->operands; i++)
		if (chosen & 1u << i)
			recipe->form[recipe->operands++] = draft->operand[i];
	return kept;
}

void recipe_settle(const struct recipe_draft *draft, struct recipe *recipe)
{
	const struct slots *t = &draft->slots;
	uint8_t moved[SLOTS] = { 0 };
	unsigned forms;
	uint32_t kept;

	memset(recipe, 0, sizeof(*recipe));
	recipe->gathers = draft->gathers;
	recipe->lost = draft->lost;
	recipe->leads_out = draft->leads_out;
	kept = settle_operands(draft, recipe);
	for (unsigned r = 0; r < GPRS && draft->leads_out; r++)
		if (form_known(&draft->caller[r]) && add_needed(&kept, slots_needed(t, &draft->caller[r])))
			recipe->caller |= UINT32_C(1) << r;
	forms = recipe->operands;
	for (unsigned i = 0; i < t->count; i++) {
		if (!(kept & 1u << i))
			continue;
		moved[i] = recipe->slots;
		recipe->slot_bytes[recipe->slots] = t->slot[i].bytes;
		recipe->slot_signed[recipe->slots++] = t->slot[i].is_signed;
		recipe->form[forms++] = t->slot[i].at;
		recipe->form[forms++] = t->slot[i].by;
	}
	for (unsigned r = 0; r < GPRS; r++)
		if (recipe->caller & UINT32_C(1) << r)
			recipe->form[forms++] = draft->caller[r];
	for (unsigned i = 0; i < forms && kept; i++)
		renumber(&recipe->form[i], moved);
}
