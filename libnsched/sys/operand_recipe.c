#include "operand_recipe.h"

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

	for (unsigned i = SLOTS; i-- > 0;) /* a slot needs earlier ones only */
		if (needs & 1u << i)
			needs |= (form_needs(&t->slot[i].at) | form_needs(&t->slot[i].by)) >> FORM_SLOT;
	return (uint32_t)needs;
}

static void renumber(struct form *form, const uint8_t moved[SLOTS])
{
	for (unsigned k = 0; form_known(form) && k < form->terms; k++)
		if (form->from[k] >= FORM_SLOT)
			form->from[k] = (uint8_t)(FORM_SLOT + moved[form->from[k] - FORM_SLOT]);
}

/* Adds what the form needs to the slots kept; false, and nothing added, if there is no room. */
static bool keep_slots(const struct slots *t, uint32_t *kept, const struct form *form)
{
	uint32_t with = *kept | slots_needed(t, form);

	if (__builtin_popcount(with) > RECIPE_SLOTS)
		return false;
	*kept = with;
	return true;
}

/* The operand, of those in `left`, that needs the fewest slots more: so that as many as can be, of as many
 * arrays as can be, find room. The nearest of equals. */
static unsigned cheapest(const struct slots *t, const struct recipe *recipe, unsigned left, uint32_t kept)
{
	unsigned best = 0;
	int least = SLOTS + 1;

	for (unsigned i = 0; i < recipe->operands; i++) {
		int more = __builtin_popcount(slots_needed(t, &recipe->operand[i]) & ~kept);

		if (left & 1u << i && more < least) {
			least = more;
			best = i;
		}
	}
	return best;
}

/* Drops operands that need more slots than a recipe has; returns the slots that the others need. */
static uint32_t settle_operands(const struct slots *t, struct recipe *recipe)
{
	unsigned left = (1u << recipe->operands) - 1, chosen = 0, operands = 0;
	uint32_t kept = 0;

	while (left) {
		unsigned i = cheapest(t, recipe, left, kept);

		left &= ~(1u << i);
		if (keep_slots(t, &kept, &recipe->operand[i]))
			chosen |= 1u << i;
	}
	for (unsigned i = 0; i < recipe->operands; i++)
		if (chosen & 1u << i)
			recipe->operand[operands++] = recipe->operand[i];
	recipe->operands = (uint8_t)operands;
	return kept;
}

void recipe_settle(struct recipe *recipe, struct passage *passage, const struct slots *t)
{
	uint8_t moved[SLOTS] = { 0 };
	uint32_t kept = settle_operands(t, recipe);

	for (unsigned r = 0; r < GPRS && recipe->leads_out; r++)
		if (form_known(&passage->gpr[r]) && !keep_slots(t, &kept, &passage->gpr[r]))
			passage->gpr[r] = form_lost();
	for (unsigned i = 0; i < SLOTS; i++) {
		if (!(kept & 1u << i))
			continue;
		moved[i] = recipe->slots;
		recipe->slot[recipe->slots] = t->slot[i];
		renumber(&recipe->slot[recipe->slots].at, moved);
		renumber(&recipe->slot[recipe->slots].by, moved);
		recipe->slots++;
	}
	for (unsigned i = 0; i < recipe->operands; i++)
		renumber(&recipe->operand[i], moved);
	for (unsigned r = 0; r < GPRS && recipe->leads_out; r++)
		renumber(&passage->gpr[r], moved);
}
