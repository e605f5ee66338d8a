#include "operand.h"

#include <errno.h>
#include <stdlib.h>

#include "operand_cache.h"
#include "operand_capstone.h"
#include "operand_trace.h"
#include "operand_use.h"

enum { CALLERS = 3 }; /* frames above the sample that are looked at, where it gives nothing */

struct operand_decoder {
	struct operand_code code;
	const struct operand_arch *arch;
	void *arch_state;
	struct cache *cache;
	struct range_scratch *scratch;
	struct trace *trace;
	struct recipe *recipe;  /* room to make one in */
	struct operand_counts counts;
};

int operand_open(const struct operand_code *code, struct operand_decoder **decoder)
{
	struct operand_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->code = *code;
	d->arch = &operand_arch_native;
	d->arch_state = d->arch->open();
	d->cache = cache_create();
	d->scratch = range_scratch_create();
	d->trace = trace_create();
	d->recipe = malloc(sizeof(*d->recipe) + RECIPE_FORMS * sizeof(struct form));
	if (!d->arch_state || !d->cache || !d->scratch || !d->trace || !d->recipe) {
		int err = !REGS_KNOWN ? -ENOTSUP : capstone_load() ? -ENOMEM : -ELIBACC;

		operand_close(d);
		return err;
	}
	*decoder = d;
	return 0;
}

void operand_close(struct operand_decoder *d)
{
	if (!d)
		return;
	cache_destroy(d->cache);
	if (d->arch_state)
		d->arch->close(d->arch_state);
	range_scratch_destroy(d->scratch);
	trace_destroy(d->trace);
	free(d->recipe);
	free(d);
}

void operand_tick(struct operand_decoder *d)
{
	cache_tick(d->cache);
}

void operand_counts(const struct operand_decoder *d, struct operand_counts *counts)
{
	*counts = d->counts;
}

enum operand_price operand_price(struct operand_decoder *d, uint64_t ip)
{
	unsigned place;

	if (cache_find(d->cache, ip))
		return OPERAND_KNOWN;
	return cache_range(d->cache, ip, &place) ? OPERAND_NEAR : OPERAND_NEW;
}

/* ---- recipes ---------------------------------------------------------------------------------------------- */

/* A register that points into the thread's stack near its top, where a frame pointer points. */
static unsigned frame_register(const struct operand_decoder *d, const struct regs *regs)
{
	return recipe_in_frames(regs->gpr[d->arch->frame], regs->gpr[GPR_SP]) ? d->arch->frame : INSN_NO_REG;
}

static const struct entry *make_entry(struct operand_decoder *d, const struct recipe_setting *setting,
                                      struct range *range, unsigned at)
{
	const struct regs *regs = &setting->regs;
	struct trace_ask ask = { range, at, frame_register(d, regs), regs, setting->known };

	*d->recipe = (struct recipe){ 0 };
	if (range->places)
		recipe_settle(trace_recipe(d->trace, &ask), d->recipe);
	return cache_add(d->cache, range, regs->ip, d->recipe);
}

/* True if the range's code has not changed lately; else it is dropped. */
static bool still_true(struct operand_decoder *d, struct range *range)
{
	if (cache_fresh(d->cache, range))
		return true;
	if (!range_same(range, d->scratch, &d->code)) {
		cache_drop(d->cache, range);
		return false;
	}
	cache_checked(d->cache, range);
	return true;
}

static struct range *range_around(struct operand_decoder *d, uint64_t ip, unsigned *place)
{
	struct range *range;

	while ((range = cache_range(d->cache, ip, place)) != NULL)
		if (still_true(d, range))
			return range;
	range = range_create(d->scratch, &d->code, d->arch, d->arch_state, ip);
	if (range) {
		*place = (unsigned)range_find(range, ip);
		cache_add_range(d->cache, range);
	}
	return range;
}

/* The recipe for a sample, NULL if there is no memory; *cached says whether it was there. */
static const struct entry *entry_of(struct operand_decoder *d, const struct recipe_setting *setting, bool *cached)
{
	const struct entry *entry = cache_find(d->cache, setting->regs.ip);
	struct range *range;
	unsigned place;

	*cached = entry && still_true(d, entry->range);
	if (*cached)
		return entry;
	range = range_around(d, setting->regs.ip, &place);
	return range ? make_entry(d, setting, range, place) : NULL;
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

/* Takes the return address from where a function finds it when it begins; false if it can't be had. */
static bool take_return(struct operand_decoder *d, struct recipe_setting *setting, uint64_t *back)
{
	struct operand_piece piece = { setting->regs.gpr[GPR_SP], back, sizeof(*back) };
	uint64_t link = UINT64_C(1) << (d->arch->link & 63);

	if (d->arch->link == INSN_NO_REG) {
		setting->regs.gpr[GPR_SP] += sizeof(*back);
		return setting->known & UINT64_C(1) << GPR_SP && d->code.read(d->code.arg, &piece, 1) == 1;
	}
	/* It may be signed, above the bits of an address. The call itself overwrote what the caller had there. */
	*back = setting->regs.gpr[d->arch->link] & REGS_MOST_ADDRESS;
	if (!(setting->known & link))
		return false;
	setting->known &= ~link;
	return true;
}

/* From the callee's registers to the caller's at the call; false if the return address leads nowhere. */
static bool go_to_caller(struct operand_decoder *d, const struct entry *entry, struct recipe_setting *setting)
{
	uint8_t call[CALL_BYTES];
	struct operand_piece piece = { 0, call, sizeof(call) };
	uint64_t back = 0;
	unsigned bytes;

	recipe_pass(&entry->recipe, setting);
	if (!take_return(d, setting, &back))
		return false;
	piece.from = back - sizeof(call);
	if (d->code.read(d->code.arg, &piece, 1) != 1)
		return false;
	bytes = d->arch->call_before(call);
	setting->regs.ip = back - bytes;
	return bytes != 0;
}

static void count_failure(struct operand_decoder *d, const struct entry *entry)
{
	if (!entry || entry->range->places == 0)
		d->counts.unreadable++;
	else if (entry->recipe.gathers)
		d->counts.gather++;
	else if (entry->recipe.lost)
		d->counts.lost_registers++;
	else
		d->counts.no_memory++;
}

unsigned operand_resolve(struct operand_decoder *d, const struct regs *regs, uint64_t addrs[], unsigned most)
{
	struct recipe_setting setting = { .code = &d->code, .regs = *regs, .known = (UINT64_C(1) << GPRS) - 1 };
	const struct entry *entry;
	unsigned count = 0, depth = 0;
	bool cached;

	do {
		entry = entry_of(d, &setting, &cached);
		if (!entry)
			break;
		d->counts.cached += depth == 0 && cached;
		setting.fixed_start = entry->range->fixed_start;
		setting.fixed_end = entry->range->fixed_end;
		recipe_fill(&entry->recipe, &setting);
		count = recipe_use(&entry->recipe, &setting, addrs, count, most);
		/* What the callers touch counts where this function touches nothing. */
	} while (count == 0 && entry->recipe.leads_out && depth++ < CALLERS && go_to_caller(d, entry, &setting));
	if (count)
		d->counts.resolved++;
	else
		count_failure(d, entry);
	return count;
}
