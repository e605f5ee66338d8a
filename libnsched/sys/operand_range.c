#include "operand_range.h"

#include <stdlib.h>
#include <string.h>

enum {
	SYNC_SKIP = 48,   /* bytes dropped after a start that may be no boundary: x86 code falls into step with
	                   * itself within a few instructions */
	PAGE = 4096,
	ENOUGH = 160,     /* instructions on one side that do, however short they are: more than any way */
	INSNS_FIRST = 16, /* room for so many at first, then twice as many */
	CODE_MOST = RANGE_BACK + RANGE_AHEAD + 2 * RANGE_SLACK,
};

struct range_scratch {
	uint64_t start;
	uint32_t bytes;
	uint8_t code[CODE_MOST];
	struct place place[RANGE_PLACES + 1];
	int32_t to[RANGE_PLACES];  /* where a direct jump leads, bytes from start */
	unsigned places;
};

#define NO_REGISTERS                                                                                                   \
	.sets = INSN_NO_REG, .factor = INSN_NO_REG, .saves = INSN_NO_REG, .plus = INSN_NO_REG, .moves = INSN_NO_REG,   \
	.loads_too = INSN_NO_REG, .saves_too = INSN_NO_REG

const struct insn insn_blank = { NO_REGISTERS };
const struct insn insn_unknown = { .lost = UINT32_MAX, NO_REGISTERS };

struct range_scratch *range_scratch_create(void)
{
	return calloc(1, sizeof(struct range_scratch));
}

void range_scratch_destroy(struct range_scratch *scratch)
{
	free(scratch);
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static bool read_stretch(struct range_scratch *s, const struct operand_code *code, uint64_t start, uint64_t end)
{
	struct operand_piece piece = { start, s->code, end - start };

	s->start = start;
	s->bytes = (uint32_t)(end - start);
	return code->read(code->arg, &piece, 1) == 1;
}

/* Reads what can be had of the code around ip, into the range's outline too. False if not even ip's own
 * place could be read. */
static bool read_around(struct range_scratch *s, const struct operand_code *code, uint64_t ip, struct range *range)
{
	struct operand_function f = { 0 };
	uint64_t page = ip & ~(uint64_t)(PAGE - 1);
	uint64_t start = ip - RANGE_BACK - RANGE_SLACK, end = ip + RANGE_AHEAD + RANGE_SLACK;
	bool known = code->function(code->arg, ip, &f) == 0 && f.start <= ip && ip < f.end;

	range->fixed_start = f.fixed_start;
	range->fixed_end = f.fixed_end;
	if (known && f.start >= start)
		start = f.start;
	if (known && f.end <= end)
		end = f.end;
	if (!read_stretch(s, code, start, end)) {
		/* Near the edge of a mapping: what is in ip's own page. */
		range->whole_before = start < page;
		range->whole_after = end > page + PAGE;
		if (!read_stretch(s, code, range->whole_before ? page : start, range->whole_after ? page + PAGE : end))
			return false;
	}
	range->begins = known && s->start == f.start;
	range->whole_before |= range->begins;
	range->whole_after |= known && s->start + s->bytes == f.end;
	return true;
}

/* ---- cutting ------------------------------------------------------------------------------------------ */

/* Where a jump goes, from the end of its instruction; -1: out of any range. */
static int32_t target_of(uint32_t from, int32_t jump)
{
	int64_t target = (int64_t)from + jump;

	return target >= 0 && target <= INT32_MAX ? (int32_t)target : -1;
}

/* Cuts [from, to) in a row. Stops early at bytes that are no instruction, and when there is no room. Returns
 * where it stopped. */
static uint32_t cut_row(struct range_scratch *s, const struct range *range, uint32_t from, uint32_t to, unsigned most)
{
	struct outline outline;

	while (from < to && s->places < most &&
	       range->arch->outline(range->arch_state, s->code + from, s->bytes - from, &outline)) {
		struct place *place = &s->place[s->places];

		*place = (struct place){ .at = (uint16_t)from, .target = -1, .flow = outline.flow, .dead = true };
		from += outline.bytes;
		s->to[s->places++] = outline.direct ? target_of(from, outline.jump) : -1;
	}
	return from;
}

static void drop_first(struct range_scratch *s, unsigned count)
{
	s->places -= count;
	memmove(s->place, s->place + count, s->places * sizeof(*s->place));
	memmove(s->to, s->to + count, s->places * sizeof(*s->to));
}

/* Cuts from `from` to ip, keeping the last that there is room for; false if the row misses ip. */
static bool cut_up_to(struct range_scratch *s, const struct range *range, uint32_t from, uint32_t ip)
{
	const unsigned most = RANGE_PLACES * 2 / 3; /* room is left for what comes behind */

	s->places = 0;
	while ((from = cut_row(s, range, from, ip, most)) < ip && s->places == most)
		drop_first(s, most / 2);
	return from == ip;
}

/* Cuts what comes before ip. Where the row misses ip, the next bytes are tried as starts. */
static void cut_before(struct range_scratch *s, struct range *range, uint32_t ip)
{
	for (uint32_t tries = 0; tries <= range->arch->longest && tries <= ip; tries++, range->begins = false) {
		unsigned skip = 0;

		if (!cut_up_to(s, range, tries, ip))
			continue;
		while (!range->begins && skip < s->places && s->place[skip].at < tries + SYNC_SKIP)
			skip++;
		if (s->places && s->place[0].at)
			range->begins = false;
		drop_first(s, skip);
		return;
	}
	s->places = 0;
	range->begins = false;
}

/* No instruction at ip: all that is kept are the bytes there, to see whether that changes. */
static void keep_no_code(struct range_scratch *s, uint32_t ip, unsigned longest)
{
	s->places = 0;
	s->start += ip;
	s->bytes = s->bytes - ip < longest ? s->bytes - ip : longest;
	memmove(s->code, s->code + ip, s->bytes);
}

static void cut(struct range_scratch *s, struct range *range, uint64_t ip)
{
	uint32_t at = (uint32_t)(ip - s->start);
	unsigned before;

	cut_before(s, range, at);
	before = s->places;
	at = cut_row(s, range, at, s->bytes, RANGE_PLACES);
	range->whole_after |= s->places < RANGE_PLACES && at + range->arch->longest <= s->bytes;
	s->place[s->places].at = (uint16_t)at;
	if (s->places == before)
		keep_no_code(s, (uint32_t)(ip - s->start), range->arch->longest);
}

/* ---- jumps -------------------------------------------------------------------------------------------- */

static int place_at(const struct place *place, unsigned places, int32_t at)
{
	unsigned low = 0, high = places;

	while (low < high) {
		unsigned middle = (low + high) / 2;

		if (place[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low < places && place[low].at == at ? (int)low : -1;
}

static bool falls_through(const struct place *place)
{
	return place->flow == FLOW_NEXT || place->flow == FLOW_BRANCH || place->flow == FLOW_CALL;
}

/* Finds the targets, and what is reached; returns how many jumps have one here. */
static unsigned connect(struct range_scratch *s)
{
	unsigned jumps = 0;

	for (unsigned i = 0; i < s->places; i++) {
		if (s->to[i] < 0)
			continue;
		s->place[i].target = (int16_t)place_at(s->place, s->places, s->to[i]);
		if (s->place[i].target >= 0) {
			s->place[s->place[i].target].dead = false;
			jumps++;
		}
	}
	if (s->places)
		s->place[0].dead = false;
	for (unsigned i = 1; i < s->places; i++)
		if (!s->place[i - 1].dead && falls_through(&s->place[i - 1]))
			s->place[i].dead = false;
	return jumps;
}

/* ---- the range ---------------------------------------------------------------------------------------- */

/* Moves what was read and cut into memory of the range's own. */
static bool keep(struct range *range, const struct range_scratch *s, unsigned jumps)
{
	size_t place_bytes = (s->places + 1u) * sizeof(*s->place), jump_bytes = jumps * sizeof(*range->jump);
	char *room = malloc(place_bytes + jump_bytes + s->bytes);

	if (!room)
		return false;
	range->place = memcpy(room, s->place, place_bytes);
	range->jump = (uint16_t *)(void *)(room + place_bytes);
	range->code = memcpy(room + place_bytes + jump_bytes, s->code, s->bytes);
	range->start = s->start;
	range->bytes = s->bytes;
	range->places = (uint16_t)s->places;
	for (unsigned i = 0; i < s->places; i++)
		if (s->place[i].target >= 0)
			range->jump[range->jumps++] = (uint16_t)i;
	range->memory += place_bytes + jump_bytes + s->bytes;
	return true;
}

struct range *range_create(struct range_scratch *scratch, const struct operand_code *code,
                           const struct operand_arch *arch, void *arch_state, uint64_t ip)
{
	struct range *range = calloc(1, sizeof(*range));

	if (!range)
		return NULL;
	range->start = ip;
	range->arch = arch;
	range->arch_state = arch_state;
	range->memory = sizeof(*range);
	if (!read_around(scratch, code, ip, range))
		return range;
	cut(scratch, range, ip);
	if (keep(range, scratch, connect(scratch)))
		return range;
	free(range);
	return NULL;
}

void range_destroy(struct range *range)
{
	if (!range)
		return;
	free(range->place);
	free(range->insn);
	free(range);
}

int range_find(const struct range *range, uint64_t ip)
{
	uint64_t offset = ip - range->start;

	if (range->places == 0)
		return offset == 0 ? 0 : -1;
	if (offset < range->place[0].at || offset >= range->place[range->places].at)
		return -1;
	return place_at(range->place, range->places, (int32_t)offset);
}

int range_place(const struct range *range, uint64_t ip)
{
	int place = range_find(range, ip);
	uint64_t before, after;

	if (place < 0 || range->places == 0)
		return place;
	before = ip - range->start - range->place[0].at;
	after = range->start + range->place[range->places].at - ip;
	if ((!range->whole_before && before < RANGE_BACK && place < ENOUGH) ||
	    (!range->whole_after && after < RANGE_AHEAD && range->places - place < ENOUGH))
		return -1;
	return place;
}

/* Room for one instruction more. */
static struct insn *add_insn(struct range *range)
{
	if (range->insns == range->insn_room) {
		unsigned room = range->insn_room ? 2u * range->insn_room : INSNS_FIRST;
		struct insn *insn = realloc(range->insn, room * sizeof(*insn));

		if (!insn)
			return NULL;
		range->memory += (room - range->insn_room) * sizeof(*insn);
		range->insn = insn;
		range->insn_room = (uint16_t)room;
	}
	return &range->insn[range->insns];
}

const struct insn *range_insn(struct range *range, unsigned i)
{
	struct place *place = &range->place[i];
	unsigned bytes = (unsigned)(place[1].at - place->at);
	struct insn *insn;

	if (place->insn)
		return &range->insn[place->insn - 1];
	insn = add_insn(range);
	if (!insn)
		return &insn_unknown;
	if (!range->arch->decode(range->arch_state, range->code + place->at, bytes, range->start + place->at, insn) ||
	    insn->bytes != bytes)
		*insn = insn_unknown;
	place->insn = ++range->insns;
	return insn;
}

bool range_same(const struct range *range, struct range_scratch *s, const struct operand_code *code)
{
	return range->bytes && read_stretch(s, code, range->start, range->start + range->bytes) &&
	       memcmp(s->code, range->code, range->bytes) == 0;
}
