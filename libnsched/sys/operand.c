#include "operand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "operand_trace.h"

enum {
	CACHE_MOST = 2048,        /* recipes kept, 400 bytes each, touched only as they are used; hot loops of a
	                           * program hold a few hundred sampled instructions */
	CACHE_BUCKETS = 4096,     /* a power of two, twice as many */
	CODE_BACK = 640,          /* bytes of code looked at before the sample... */
	CODE_AHEAD = 768,         /* ...and behind it: most loops, and not over 100 us to decode */
	SYNC_SKIP = 48,           /* bytes dropped at a start that is no known boundary: x86 code falls into step
	                           * with itself within a few instructions */
	FRESH_TICKS = 16,         /* polls for which a recipe holds unchecked: a second or two */
};

/* Bytes around the stack pointer that are the thread's frames. The red zone lies below it; above, more
 * than this may be an automatic array, which is data. */
static const uint64_t STACK_BELOW = 256;
static const uint64_t STACK_ABOVE = 16384;

/* No data lies in the first pages (null pointers) or beyond user space. */
static const uint64_t LEAST_ADDRESS = 65536;
static const uint64_t MOST_ADDRESS = UINT64_C(0x7fffffffffff);

enum { OUTCOME_OK, OUTCOME_UNREADABLE };

struct entry {
	uint64_t ip;
	uint64_t code_start;
	uint32_t code_bytes;
	uint32_t code_hash;
	uint32_t checked;     /* tick */
	uint16_t next;        /* 1 + entry in the same bucket, or 0 */
	uint8_t unreadable;
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
	struct entry *entry;                /* CACHE_MOST of them */
	uint16_t bucket[CACHE_BUCKETS];     /* 1 + entry, or 0 */
	uint8_t bytes[CODE_BACK + CODE_AHEAD];
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
	if (!d->arch_state || !d->trace || !d->entry) {
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

/* ---- reading and decoding the code around a sample ------------------------------------------------------ */

static bool read_code(struct operand_decoder *d, uint64_t start, uint32_t bytes)
{
	struct operand_piece piece = { start, d->bytes, bytes };

	return d->code.read(d->code.arg, &piece, 1) == 1;
}

static uint32_t hash_code(const uint8_t *bytes, size_t count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a over words: speed matters more than spread */
	uint64_t word;

	for (; count >= sizeof(word); bytes += sizeof(word), count -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 29;
	}
	for (; count; bytes++, count--)
		hash = (hash ^ *bytes) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ hash >> 32);
}

/* Reads what can be had of the code around ip into d->bytes; *known says whether it begins at an
 * instruction boundary. */
static bool load_code(struct operand_decoder *d, uint64_t ip, struct entry *entry, bool *known)
{
	uint64_t start = 0, end = 0;

	*known = d->code.function(d->code.arg, ip, &start, &end) == 0 && start <= ip && ip < end;
	if (!*known) {
		start = ip - CODE_BACK;
		end = ip + CODE_AHEAD;
	}
	if (ip - start > CODE_BACK) {
		start = ip - CODE_BACK;
		*known = false;
	}
	if (end - ip > CODE_AHEAD)
		end = ip + CODE_AHEAD;
	entry->code_start = start;
	entry->code_bytes = (uint32_t)(end - start);
	if (read_code(d, start, entry->code_bytes))
		return true;
	/* Near the edge of a mapping: what is in ip's own page. */
	start = start > (ip & ~UINT64_C(4095)) ? start : (ip & ~UINT64_C(4095));
	end = end < (ip | 4095) + 1 ? end : (ip | 4095) + 1;
	*known = *known && start == entry->code_start;
	entry->code_start = start;
	entry->code_bytes = (uint32_t)(end - start);
	return read_code(d, start, entry->code_bytes);
}

/* Decodes [from, to) in a row; returns the number of instructions. Stops early at bytes that are none. */
static unsigned decode_row(struct operand_decoder *d, const struct entry *entry, uint64_t from, uint64_t to,
                           struct insn *insns, unsigned most)
{
	unsigned count = 0;

	while (from < to && count < most) {
		size_t offset = from - entry->code_start;

		if (!d->arch->decode(d->arch_state, d->bytes + offset, entry->code_bytes - offset, from, &insns[count]))
			break;
		from += insns[count++].bytes;
	}
	return count;
}

/* Decodes up to ip, such that an instruction begins at ip; returns how many come before it. Where
 * the start is no boundary, or the row misses ip, the next bytes are tried as starts. */
static unsigned decode_before(struct operand_decoder *d, const struct entry *entry, uint64_t ip, bool known,
                              struct insn *insns)
{
	uint64_t from = entry->code_start;
	unsigned skip = 0;

	for (unsigned tries = 0; tries <= d->arch->longest && from < ip; tries++, from++, known = false) {
		unsigned count = decode_row(d, entry, from, ip, insns, TRACE_INSNS - 1);

		if (count == 0 || insns[count - 1].at + insns[count - 1].bytes != ip)
			continue;
		while (!known && skip < count && insns[skip].at < from + SYNC_SKIP)
			skip++;
		memmove(insns, insns + skip, (count - skip) * sizeof(*insns));
		return count - skip;
	}
	return 0;
}

/* Decodes from ip on, until a loop round ip that touches memory has closed. */
static unsigned decode_after(struct operand_decoder *d, const struct entry *entry, uint64_t ip, struct insn *insns,
                             unsigned before)
{
	uint64_t end = entry->code_start + entry->code_bytes;
	unsigned count = before;

	while (count < TRACE_INSNS && decode_row(d, entry, ip, end, insns + count, 1) == 1) {
		const struct insn *last = &insns[count++];
		bool touches = false;

		ip = last->at + last->bytes;
		if (!last->target || last->target > insns[before].at || last->target < insns[0].at)
			continue;
		for (unsigned i = count; i-- > 0 && insns[i].at >= last->target;)
			touches = touches || insns[i].mems || insns[i].gather;
		if (touches)
			break;
	}
	return count;
}

/* A register that points into the thread's stack near its top, where a frame pointer points. */
static unsigned frame_register(const struct operand_decoder *d, const struct regs *regs)
{
	uint64_t above = regs->gpr[d->arch->frame] - regs->gpr[GPR_SP];

	return above + STACK_BELOW < STACK_ABOVE + STACK_BELOW ? d->arch->frame : GPRS;
}

static void make_entry(struct operand_decoder *d, const struct regs *regs, struct entry *entry)
{
	struct insn *insns = trace_insns(d->trace);
	unsigned before, count;
	bool known;

	memset(&entry->recipe, 0, sizeof(entry->recipe));
	entry->checked = d->tick;
	entry->unreadable = 1;
	if (!load_code(d, regs->ip, entry, &known)) {
		entry->code_bytes = 0;
		return;
	}
	before = decode_before(d, entry, regs->ip, known, insns);
	count = decode_after(d, entry, regs->ip, insns, before);
	if (count == before)
		return;
	entry->unreadable = 0;
	trace_recipe(d->trace, count, before, frame_register(d, regs), &entry->recipe);
}

/* ---- the cache ------------------------------------------------------------------------------------------ */

static uint16_t *bucket_of(struct operand_decoder *d, uint64_t ip)
{
	return &d->bucket[(ip * UINT64_C(0x9e3779b97f4a7c15)) >> 52 & (CACHE_BUCKETS - 1)];
}

static bool still_true(struct operand_decoder *d, struct entry *entry)
{
	if (d->tick - entry->checked < FRESH_TICKS)
		return true;
	if (entry->code_bytes == 0 || !read_code(d, entry->code_start, entry->code_bytes) ||
	    hash_code(d->bytes, entry->code_bytes) != entry->code_hash)
		return false;
	entry->checked = d->tick;
	return true;
}

static struct entry *new_entry(struct operand_decoder *d, uint64_t ip)
{
	uint16_t *bucket;
	struct entry *entry;

	if (d->entries == CACHE_MOST) { /* rare, and what is hot is back within milliseconds */
		memset(d->bucket, 0, sizeof(d->bucket));
		d->entries = 0;
	}
	bucket = bucket_of(d, ip);
	entry = &d->entry[d->entries++];
	entry->ip = ip;
	entry->next = *bucket;
	*bucket = (uint16_t)d->entries;
	return entry;
}

static const struct entry *entry_of(struct operand_decoder *d, const struct regs *regs)
{
	struct entry *entry = NULL;

	for (unsigned i = *bucket_of(d, regs->ip); i; i = entry->next) {
		entry = &d->entry[i - 1];
		if (entry->ip == regs->ip)
			break;
	}
	if (entry && entry->ip == regs->ip) {
		if (still_true(d, entry)) {
			d->counts.cached++;
			return entry;
		}
	} else {
		entry = new_entry(d, regs->ip);
	}
	make_entry(d, regs, entry);
	if (entry->code_bytes)
		entry->code_hash = hash_code(d->bytes, entry->code_bytes);
	return entry;
}

/* ---- using a recipe ------------------------------------------------------------------------------------- */

/* Reads the slots; returns a mask of those that could be read. */
static unsigned read_slots(struct operand_decoder *d, const struct recipe *recipe, const struct regs *regs, uint64_t values[])
{
	struct operand_piece pieces[RECIPE_SLOTS];
	unsigned readable = 0;

	for (unsigned i = 0; i < recipe->slots; i++) {
		values[i] = 0;
		pieces[i] = (struct operand_piece){ form_value(&recipe->slot[i].at, regs, NULL), &values[i], recipe->slot[i].bytes };
	}
	/* All in one call if they are readable; else one by one. */
	if (recipe->slots && d->code.read(d->code.arg, pieces, recipe->slots) == recipe->slots)
		readable = (1u << recipe->slots) - 1;
	else
		for (unsigned i = 0; i < recipe->slots; i++)
			readable |= d->code.read(d->code.arg, &pieces[i], 1) << i;
	for (unsigned i = 0; i < recipe->slots; i++) {
		unsigned shift = 64 - 8u * recipe->slot[i].bytes;

		if (recipe->slot[i].is_signed && shift < 64)
			values[i] = (uint64_t)((int64_t)(values[i] << shift) >> shift);
	}
	return readable;
}

static bool needs_unread(const struct form *form, unsigned readable)
{
	for (unsigned i = 0; i < form->terms; i++)
		if (form->from[i] >= FORM_SLOT && !(readable & 1u << (form->from[i] - FORM_SLOT)))
			return true;
	return false;
}

static bool is_data(uint64_t addr, const struct regs *regs)
{
	uint64_t above = addr - regs->gpr[GPR_SP];

	return addr >= LEAST_ADDRESS && addr <= MOST_ADDRESS && above + STACK_BELOW >= STACK_ABOVE + STACK_BELOW;
}

static void count_failure(struct operand_decoder *d, const struct entry *entry)
{
	if (entry->unreadable)
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
	const struct entry *entry = entry_of(d, regs);
	const struct recipe *recipe = &entry->recipe;
	uint64_t slots[RECIPE_SLOTS];
	unsigned readable = read_slots(d, recipe, regs, slots);
	unsigned count = 0;

	for (unsigned i = 0; i < recipe->operands && count < most; i++) {
		uint64_t addr;

		if (needs_unread(&recipe->operand[i], readable))
			continue;
		addr = form_value(&recipe->operand[i], regs, slots);
		if (is_data(addr, regs))
			addrs[count++] = addr;
	}
	if (count)
		d->counts.resolved++;
	else
		count_failure(d, entry);
	return count;
}
