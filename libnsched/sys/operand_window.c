#include "operand_window.h"

#include <string.h>

enum {
	SYNC_SKIP = 48, /* bytes dropped after a start that may be no boundary: x86 code falls into step with
	                 * itself within a few instructions */
	PAGE = 4096,
};

static bool read_stretch(struct window *w, const struct operand_code *code, uint64_t start, uint64_t end)
{
	struct operand_piece piece = { start, w->code, end - start };

	w->start = start;
	w->bytes = (uint32_t)(end - start);
	if (code->read(code->arg, &piece, 1) == 1)
		return true;
	w->bytes = 0;
	return false;
}

bool window_read(struct window *w, const struct operand_code *code, uint64_t ip)
{
	struct operand_function *f = &w->function;
	uint64_t page = ip & ~(uint64_t)(PAGE - 1);
	uint64_t start = ip - WINDOW_BACK, end = ip + WINDOW_AHEAD;
	bool known;

	memset(f, 0, sizeof(*f));
	known = code->function(code->arg, ip, f) == 0 && f->start <= ip && ip < f->end;
	if (known && ip - f->start < WINDOW_BACK)
		start = f->start;
	if (known && f->end - ip < WINDOW_AHEAD)
		end = f->end;
	/* Near the edge of a mapping: what is in ip's own page. */
	if (!read_stretch(w, code, start, end) &&
	    !read_stretch(w, code, start > page ? start : page, end < page + PAGE ? end : page + PAGE))
		return false;
	w->in_step = known && w->start == f->start;
	return true;
}

/* Decodes [from, to) in a row. Stops early at bytes that are no instruction. */
static unsigned decode_row(const struct window *w, const struct operand_arch *arch, void *arch_state, uint64_t from,
                           uint64_t to, struct insn *insns, unsigned most)
{
	unsigned count = 0;

	while (from < to && count < most) {
		size_t offset = from - w->start;

		if (!arch->decode(arch_state, w->code + offset, w->bytes - offset, from, &insns[count]))
			break;
		from += insns[count++].bytes;
	}
	return count;
}

/* Decodes [from, ip) in a row; returns the last of it that fit into `most`, or 0 if the row misses ip. */
static unsigned decode_up_to(const struct window *w, const struct operand_arch *arch, void *arch_state, uint64_t from,
                             uint64_t ip, struct insn *insns, unsigned most)
{
	unsigned count = decode_row(w, arch, arch_state, from, ip, insns, most);

	while (count == most && insns[count - 1].at + insns[count - 1].bytes < ip) {
		unsigned half = most / 2;

		memmove(insns, insns + count - half, half * sizeof(*insns));
		from = insns[half - 1].at + insns[half - 1].bytes;
		count = half + decode_row(w, arch, arch_state, from, ip, insns + half, most - half);
	}
	return count && insns[count - 1].at + insns[count - 1].bytes == ip ? count : 0;
}

/* Decodes up to ip; returns how many come before it. Where the row misses ip, the next bytes are tried
 * as starts. */
static unsigned decode_before(const struct window *w, const struct operand_arch *arch, void *arch_state, uint64_t ip,
                              struct insn *insns, unsigned most)
{
	uint64_t from = w->start;
	bool in_step = w->in_step;

	for (unsigned tries = 0; tries <= arch->longest && from < ip; tries++, from++, in_step = false) {
		unsigned count = decode_up_to(w, arch, arch_state, from, ip, insns, most);
		unsigned skip = 0;

		if (count == 0)
			continue;
		while (!in_step && skip < count && insns[skip].at < from + SYNC_SKIP)
			skip++;
		memmove(insns, insns + skip, (count - skip) * sizeof(*insns));
		return count - skip;
	}
	return 0;
}

/* True if the last instruction jumps back over insns[at], and memory is touched between. */
static bool closes_loop(const struct insn *insns, unsigned count, unsigned at)
{
	uint64_t head = insns[count - 1].target;

	if (!head || head > insns[at].at || head < insns[0].at)
		return false;
	for (unsigned i = count; i-- > 0 && insns[i].at >= head;)
		if (insns[i].mems || insns[i].gather)
			return true;
	return false;
}

unsigned window_decode(const struct window *w, const struct operand_arch *arch, void *arch_state, uint64_t ip,
                       struct insn *insns, unsigned most, unsigned *at)
{
	/* Room is left for what comes behind ip. */
	unsigned count = decode_before(w, arch, arch_state, ip, insns, most - most / 3);

	*at = count;
	while (count < most && decode_row(w, arch, arch_state, ip, w->start + w->bytes, insns + count, 1) == 1) {
		ip = insns[count].at + insns[count].bytes;
		count++;
		if (closes_loop(insns, count, *at))
			break;
	}
	return count > *at ? count : 0;
}

uint32_t window_hash(const struct window *w)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a over words: speed matters more than spread */
	const uint8_t *bytes = w->code;
	size_t left = w->bytes;
	uint64_t word;

	for (; left >= sizeof(word); bytes += sizeof(word), left -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x100000001b3);
		hash ^= hash >> 29;
	}
	for (; left; bytes++, left--)
		hash = (hash ^ *bytes) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ hash >> 32);
}

bool window_same(struct window *w, const struct operand_code *code, uint64_t start, uint32_t bytes, uint32_t hash)
{
	return bytes && read_stretch(w, code, start, start + bytes) && window_hash(w) == hash;
}
