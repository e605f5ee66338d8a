#include "operand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "operand_trace.h"
#include "operand_use.h"
#include "operand_window.h"

enum {
	CACHE_MOST = 640,       /* recipes kept, 1200 bytes each, touched only as they are used; hot loops of a
	                         * program hold a few hundred sampled instructions */
	CACHE_BUCKETS = 1024,   /* a power of two, above it */
	PASSAGES = 160,         /* of them, those that lead out to a caller, 520 bytes more each */
	FRESH_TICKS = 16,       /* polls for which a recipe holds unchecked: a second or two */
	CALLERS = 3,            /* frames above the sample that are looked at, where it gives nothing */
};

enum { NO_PASSAGE = 0xffff };

struct entry {
	uint64_t ip;
	uint64_t code_start;    /* the code that the recipe was made of */
	uint32_t code_bytes;    /* 0: unreadable */
	uint32_t code_hash;
	uint64_t fixed_start, fixed_end;
	uint32_t checked;       /* tick */
	uint16_t next;          /* 1 + entry in the same bucket, or 0 */
	uint16_t passage;
	bool no_code;           /* read, but no instruction */
	struct recipe recipe;
};

struct operand_decoder {
	struct operand_code code;
	const struct operand_arch *arch;
	void *arch_state;
	struct trace *trace;
	struct operand_counts counts;
	uint32_t tick;
	unsigned entries;
	unsigned passages;
	struct entry *entry;            /* CACHE_MOST of them */
	struct passage *passage;        /* PASSAGES of them */
	uint16_t bucket[CACHE_BUCKETS]; /* 1 + entry, or 0 */
	struct window window;
};

int operand_open(const struct operand_code *code, struct operand_decoder **decoder)
{
	struct operand_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->code = *code;
	d->arch = &operand_arch_native;
	d->arch_state = d->arch->open();
	d->trace = trace_create();
	d->entry = calloc(CACHE_MOST, sizeof(*d->entry));
	d->passage = calloc(PASSAGES, sizeof(*d->passage));
	if (!d->arch_state || !d->trace || !d->entry || !d->passage) {
		int err = d->arch_state || REGS_KNOWN ? -ENOMEM : -ENOTSUP;

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
	if (d->arch_state)
		d->arch->close(d->arch_state);
	trace_destroy(d->trace);
	free(d->entry);
	free(d->passage);
	free(d);
}

void operand_tick(struct operand_decoder *d)
{
	d->tick++;
}

void operand_counts(const struct operand_decoder *d, struct operand_counts *counts)
{
	*counts = d->counts;
}

/* ---- making recipes --------------------------------------------------------------------------------------- */

static void forget_all(struct operand_decoder *d)
{
	memset(d->bucket, 0, sizeof(d->bucket));
	d->entries = 0;
	d->passages = 0;
}

/* A register that points into the thread's stack near its top, where a frame pointer points. */
static unsigned frame_register(const struct operand_decoder *d, const struct regs *regs)
{
	return recipe_in_frames(regs->gpr[d->arch->frame], regs->gpr[GPR_SP]) ? d->arch->frame : INSN_NO_REG;
}

static void make_recipe(struct operand_decoder *d, const struct recipe_setting *setting, struct entry *entry)
{
	const struct regs *regs = &setting->regs;
	const struct window *w = &d->window;
	struct passage passage;
	struct trace_ask ask = {
		.frame = frame_register(d, regs),
		.regs = regs,
		.known = setting->known,
		.fixed_start = entry->fixed_start,
		.fixed_end = entry->fixed_end,
	};
	struct insn *insns = trace_insns(d->trace);

	ask.count = window_decode(w, d->arch, d->arch_state, regs->ip, insns, TRACE_INSNS, &ask.at);
	entry->no_code = ask.count == 0;
	if (entry->no_code)
		return;
	ask.entry = w->in_step && insns[0].at == w->function.start;
	trace_recipe(d->trace, &ask, &entry->recipe, &passage);
	if (entry->recipe.leads_out && d->passages < PASSAGES) {
		d->passage[d->passages] = passage;
		entry->passage = (uint16_t)d->passages++;
	}
}

static void make_entry(struct operand_decoder *d, const struct recipe_setting *setting, struct entry *entry)
{
	uint64_t ip = setting->regs.ip;
	const struct window *w = &d->window;
	uint16_t next = entry->next;

	memset(entry, 0, sizeof(*entry));
	entry->ip = ip;
	entry->next = next;
	entry->checked = d->tick;
	entry->passage = NO_PASSAGE;
	if (!window_read(&d->window, &d->code, ip))
		return;
	entry->code_start = w->start;
	entry->code_bytes = w->bytes;
	entry->code_hash = window_hash(w);
	entry->fixed_start = w->function.fixed_start;
	entry->fixed_end = w->function.fixed_end;
	make_recipe(d, setting, entry);
}

/* ---- the cache -------------------------------------------------------------------------------------------- */

static uint16_t *bucket_of(struct operand_decoder *d, uint64_t ip)
{
	return &d->bucket[(ip * UINT64_C(0x9e3779b97f4a7c15)) >> 48 & (CACHE_BUCKETS - 1)];
}

static struct entry *find_entry(struct operand_decoder *d, uint64_t ip)
{
	for (unsigned i = *bucket_of(d, ip); i; i = d->entry[i - 1].next)
		if (d->entry[i - 1].ip == ip)
			return &d->entry[i - 1];
	return NULL;
}

bool operand_known(struct operand_decoder *d, uint64_t ip)
{
	return find_entry(d, ip) != NULL;
}

static struct entry *new_entry(struct operand_decoder *d, uint64_t ip)
{
	uint16_t *bucket;
	struct entry *entry;

	/* Rare, and what is hot is back within milliseconds. */
	if (d->entries == CACHE_MOST || d->passages == PASSAGES)
		forget_all(d);
	bucket = bucket_of(d, ip);
	entry = &d->entry[d->entries++];
	entry->next = *bucket;
	*bucket = (uint16_t)d->entries;
	return entry;
}

static bool still_true(struct operand_decoder *d, struct entry *entry)
{
	if (d->tick - entry->checked < FRESH_TICKS)
		return true;
	if (!window_same(&d->window, &d->code, entry->code_start, entry->code_bytes, entry->code_hash))
		return false;
	entry->checked = d->tick;
	return true;
}

/* The recipe for a sample; *cached says whether it was there. */
static const struct entry *entry_of(struct operand_decoder *d, const struct recipe_setting *setting, bool *cached)
{
	struct entry *entry = find_entry(d, setting->regs.ip);

	*cached = entry && still_true(d, entry);
	if (*cached)
		return entry;
	if (!entry)
		entry = new_entry(d, setting->regs.ip);
	make_entry(d, setting, entry);
	return entry;
}

/* ---- samples ---------------------------------------------------------------------------------------------- */

/* From the callee's registers to the caller's at the call; false if the return address leads nowhere. */
static bool go_to_caller(struct operand_decoder *d, const struct entry *entry, struct recipe_setting *setting)
{
	uint8_t call[CALL_BYTES];
	uint64_t back = 0;
	struct operand_piece piece = { 0, &back, sizeof(back) };
	unsigned bytes;

	recipe_pass(&d->passage[entry->passage], setting);
	piece.from = setting->regs.gpr[GPR_SP];
	if (!(setting->known & 1u << GPR_SP) || d->code.read(d->code.arg, &piece, 1) != 1)
		return false;
	piece = (struct operand_piece){ back - sizeof(call), call, sizeof(call) };
	if (d->code.read(d->code.arg, &piece, 1) != 1)
		return false;
	bytes = d->arch->call_before(call);
	setting->regs.gpr[GPR_SP] += sizeof(back);
	setting->regs.ip = back - bytes;
	return bytes != 0;
}

static void count_failure(struct operand_decoder *d, const struct entry *entry)
{
	if (entry->code_bytes == 0 || entry->no_code)
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
		d->counts.cached += depth == 0 && cached;
		setting.fixed_start = entry->fixed_start;
		setting.fixed_end = entry->fixed_end;
		recipe_fill(&entry->recipe, &setting);
		count = recipe_use(&entry->recipe, &setting, addrs, count, most);
		/* What the callers touch counts where this function touches nothing. */
	} while (count == 0 && entry->passage != NO_PASSAGE && depth++ < CALLERS && go_to_caller(d, entry, &setting));
	if (count)
		d->counts.resolved++;
	else
		count_failure(d, entry);
	return count;
}
