/* Using a recipe: from a sample's registers to addresses. */
#ifndef NSCHED_OPERAND_USE_H
#define NSCHED_OPERAND_USE_H

#include "operand_code.h"
#include "operand_recipe.h"

/* What is known when a recipe is used. */
struct recipe_setting {
	const struct operand_code *code;    /* reads slots */
	struct regs regs;
	uint64_t slots[RECIPE_SLOTS];       /* filled by recipe_fill */
	uint64_t known;                     /* a bit for each source, register or slot, whose value is */
	uint64_t fixed_start, fixed_end;    /* see operand_function: addresses there are no data */
};

/* Works the recipe's slots out, as far as their sources are known. */
void recipe_fill(const struct recipe *recipe, struct recipe_setting *setting);

/* Then: appends the recipe's addresses to addrs[count..most); returns the new count. Left out are
 * addresses in the thread's own frames, in literals, and near to one that is there already. */
unsigned recipe_use(const struct recipe *recipe, const struct recipe_setting *setting, uint64_t addrs[], unsigned count,
                    unsigned most);

/* Then: the caller's registers in place of the callee's; what is not known of them leaves `known`. */
void recipe_pass(const struct recipe *recipe, struct recipe_setting *setting);

/* True if that far above (negative: below) the stack pointer is the thread's own frames. */
bool recipe_in_frames(uint64_t addr, uint64_t stack_pointer);

#endif
