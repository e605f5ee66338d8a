#include "operand_use.h"

/* Bytes around the stack pointer that are the thread's frames. The red zone lies below it; above, more
 * than this may be an automatic array, which is data. */
static const uint64_t FRAMES_BELOW = 256;
static const uint64_t FRAMES_ABOVE = 16384;

/* No data lies in the first pages: null pointers. */
static const uint64_t LEAST_ADDRESS = 65536;

/* Addresses nearer than this are one: rows of one array, which would else outvote its partners in a
 * stencil. A quarter of the 2 MiB blocks that evidence is kept for. */
static const uint64_t NEAR = 512 * 1024;

bool recipe_in_frames(uint64_t addr, uint64_t stack_pointer)
{
	return addr - stack_pointer + FRAMES_BELOW < FRAMES_ABOVE + FRAMES_BELOW;
}

/* Memory slots that are read in one call. */
struct row {
	struct operand_piece piece[RECIPE_SLOTS];
	uint8_t slot[RECIPE_SLOTS];
	unsigned count;
};

static uint64_t slot_bit(unsigned slot)
{
	return UINT64_C(1) << (FORM_SLOT + slot);
}

static void extend_sign(uint64_t *value, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	*value = (uint64_t)((int64_t)(*value << shift) >> shift);
}

static void read_row(const struct recipe *recipe, struct recipe_setting *setting, struct row *row)
{
	const struct operand_code *code = setting->code;
	unsigned got = row->count ? code->read(code->arg, row->piece, row->count) : 0;

	for (unsigned i = 0; i < row->count; i++) {
		unsigned slot = row->slot[i];

		/* Those behind one that can't be read: one by one. */
		if (i == got || (i > got && code->read(code->arg, &row->piece[i], 1) != 1))
			continue;
		if (recipe->slot_signed[slot])
			extend_sign(&setting->slots[slot], recipe->slot_bytes[slot]);
		setting->known |= slot_bit(slot);
	}
	row->count = 0;
}

void recipe_fill(const struct recipe *recipe, struct recipe_setting *setting)
{
	struct row row;
	uint64_t waiting = 0;

	row.count = 0;
	for (unsigned i = 0; i < recipe->slots; i++) {
		const struct form *at = recipe_slot_at(recipe, i), *by = recipe_slot_by(recipe, i);
		uint64_t needs = form_needs(at) | form_needs(by);

		setting->slots[i] = 0;
		if (needs & waiting) { /* as few calls as can be: only a slot that needs another one waits for it */
			read_row(recipe, setting, &row);
			waiting = 0;
		}
		if (needs & ~setting->known)
			continue;
		if (recipe->slot_bytes[i] == 0) {
			setting->slots[i] = form_value(at, &setting->regs, setting->slots) *
			                    form_value(by, &setting->regs, setting->slots);
			setting->known |= slot_bit(i);
			continue;
		}
		row.piece[row.count] = (struct operand_piece){ form_value(at, &setting->regs, setting->slots),
		                                               &setting->slots[i], recipe->slot_bytes[i] };
		row.slot[row.count++] = (uint8_t)i;
		waiting |= slot_bit(i);
	}
	read_row(recipe, setting, &row);
}

void recipe_pass(const struct recipe *recipe, struct recipe_setting *setting)
{
	const struct form *form = recipe_callers(recipe);
	struct regs regs = setting->regs;
	uint64_t known = 0;

	for (unsigned r = 0; r < GPRS; r++) {
		if (!(recipe->caller & UINT32_C(1) << r))
			continue;
		if (!(form_needs(form) & ~setting->known)) {
			regs.gpr[r] = form_value(form, &setting->regs, setting->slots);
			known |= UINT64_C(1) << r;
		}
		form++;
	}
	setting->regs = regs;
	setting->known = known;
}

static bool is_data(uint64_t addr, const struct recipe_setting *setting)
{
	return addr >= LEAST_ADDRESS && addr <= REGS_MOST_ADDRESS && !recipe_in_frames(addr, setting->regs.gpr[GPR_SP]) &&
	       addr - setting->fixed_start >= setting->fixed_end - setting->fixed_start;
}

static bool is_near(uint64_t addr, const uint64_t addrs[], unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (addr - addrs[i] + NEAR < 2 * NEAR)
			return true;
	return false;
}

unsigned recipe_use(const struct recipe *recipe, const struct recipe_setting *setting, uint64_t addrs[], unsigned count,
                    unsigned most)
{
	unsigned before = count;

	/* Constant addresses are variables that hold pointers and sums; they count where there is nothing
	 * else. */
	for (unsigned fixed = 0; fixed < 2 && count == before; fixed++)
		for (unsigned i = 0; i < recipe->operands && count < most; i++) {
			const struct form *form = &recipe->form[i];
			uint64_t addr;

			if ((form->terms == 0) != fixed || form_needs(form) & ~setting->known)
				continue;
			addr = form_value(form, &setting->regs, setting->slots);
			if (is_data(addr, setting) && !is_near(addr, addrs, count))
				addrs[count++] = addr;
		}
	return count;
}
