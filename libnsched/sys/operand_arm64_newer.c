/* AArch64 instructions that Capstone 4 lacks: SVE, and the atomics of ARMv8.1. Of these only addresses are wanted, and
 * which general registers they change; the encoding is regular enough to take both from it. */
#include "operand_arm64.h"

#if REGS_ARM64

static unsigned field(uint32_t word, unsigned from, unsigned bits)
{
	return word >> from & ((1u << bits) - 1);
}

/* SVE's memory instructions by their first seven bits. */
enum { SVE_LOAD_32 = 0x42, SVE_LOAD = 0x52, SVE_LOAD_64 = 0x62, SVE_STORE = 0x72 };

/* ldr and str of a whole vector or predicate. */
static bool is_sve_whole(uint32_t word)
{
	return field(word, 22, 3) == 6 && !(field(word, 13, 3) & 5);
}

/* True if the addresses come from a vector. */
static bool is_sve_gather(uint32_t word)
{
	unsigned group = field(word, 25, 7), kind = field(word, 13, 3);

	if (group == SVE_LOAD_32)
		return !is_sve_whole(word) && !(kind >= 4 && field(word, 22, 1)); /* ld1r: one element to all */
	if (group == SVE_STORE)
		return kind == 1 || (kind >= 4 && kind != 7);
	return group == SVE_LOAD_64;
}

/* The log2 of what the index of a contiguous one counts in, or -1: it has none. */
static int sve_scale(uint32_t word)
{
	unsigned group = field(word, 25, 7), kind = field(word, 13, 3);
	unsigned memory = field(word, 23, 2), element = field(word, 21, 2);

	if (group == SVE_STORE)
		return (kind == 2 || kind == 3) && !is_sve_whole(word) ? (int)memory : -1;
	if (group != SVE_LOAD || (kind & 1 && kind != 3) || kind == 4)
		return -1;
	/* Loads that extend signs have the two fields the wrong way round. */
	return (int)((kind == 2 || kind == 3) && memory > element ? 3 - memory : memory);
}

/* A base, and an index or a number that counts vectors, whose length is not known; it is left out. */
static void decode_sve_memory(uint32_t word, struct insn *out)
{
	unsigned index = field(word, 16, 5);
	struct form at = form_source(field(word, 5, 5)), by = form_source(index);
	int scale = sve_scale(word);

	if (is_sve_gather(word)) {
		out->gather = true;
		return;
	}
	if (scale >= 0 && index != 31)
		at = form_sum(&at, &by, INT64_C(1) << scale);
	out->mem[out->mems++] = at;
}

/* SVE's few instructions that write a general register. Those that add a number of vectors or of their elements
 * are followed as if they added nothing: what that number is, nobody knows here, but it is no more than some
 * hundred bytes. */
static void decode_sve_other(uint32_t word, uint8_t to, struct insn *out)
{
	unsigned group = field(word, 24, 8), kind = field(word, 11, 5);
	bool counts = group == 0x04 && field(word, 21, 1) && (kind >> 1 == 0xe || kind >> 1 == 0xf);
	bool from_lane = group == 0x05 && field(word, 21, 1) && kind >> 2 == 5;
	bool from_predicate = group == 0x25 && field(word, 21, 1) && kind >> 3 == 2;

	if (to == 31)
		return;
	if (counts && field(word, 20, 1) && kind == 0x1c) { /* incb, incd, ..., decd */
		out->sets = to;
		out->value = form_source(to);
	} else if (group == 0x04 && field(word, 21, 1) && kind == 0x0a) { /* addvl */
		out->sets = to;
		out->value = form_source(field(word, 16, 5));
	} else if (counts || from_lane || from_predicate) {
		out->lost |= UINT32_C(1) << to;
	}
}

void arm64_decode_newer(uint32_t word, struct insn *out)
{
	bool sve = field(word, 25, 4) == 2, memory = (word & 0x0a000000) == 0x08000000;
	uint8_t to = (uint8_t)field(word, 0, 5);

	if (sve && word & 0x80000000)
		decode_sve_memory(word, out);
	else if (sve)
		decode_sve_other(word, to, out);
	if (sve)
		return;
	if (memory) { /* cas, swp, ldadd and their like */
		out->mem[out->mems++] = form_source(field(word, 5, 5));
		out->lost |= UINT32_C(1) << field(word, 16, 5);
	}
	out->lost |= UINT32_C(1) << to;
	out->lost &= ~(UINT32_C(1) << GPR_SP); /* 31 is the zero register here */
}

#endif
