/* AVX and AVX-512, without Capstone: its version 4 knows a part of the EVEX instructions only, and does not
 * scale their displacements; it lacks some VEX instructions on masks too, and takes twenty times as long. The
 * encoding is regular enough to take length and address from it, and that is all that is wanted of an
 * instruction which never computes an address. */
#include "operand_x86.h"

#if REGS_X86

#include <string.h>

enum { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3, MAP_5 = 5, MAP_6 = 6 };
enum { PP_NONE = 1, PP_66 = 2, PP_F3 = 4, PP_F2 = 8, PP_ANY = 15 };

/* The prefix, taken apart; the bits that are stored inverted are the right way round. */
struct vex {
	bool evex;
	unsigned prefix_bytes;
	unsigned map;
	unsigned pp;       /* one of PP_* */
	unsigned bits;     /* of the vector: 128, 256, 512 */
	bool wide;         /* W */
	bool broadcast;    /* of one element from memory */
	unsigned reg_high, index_high, base_high; /* 0 or 8 */
	uint8_t opcode;
};

/* The legacy register numbers, in enum gpr. */
static const uint8_t gpr_of[16] = {
	GPR_AX, GPR_CX, GPR_DX, GPR_BX, GPR_SP, GPR_BP, GPR_SI, GPR_DI,
	GPR_8, GPR_9, GPR_10, GPR_11, GPR_12, GPR_13, GPR_14, GPR_15,
};

static bool take_prefix(const uint8_t *code, size_t bytes, struct vex *v)
{
	static const uint8_t pps[4] = { PP_NONE, PP_66, PP_F3, PP_F2 };

	*v = (struct vex){ .evex = code[0] == 0x62 };
	if (v->evex && bytes >= 6) {
		v->prefix_bytes = 4;
		v->map = code[1] & 7;
		v->reg_high = code[1] & 0x80 ? 0 : 8;
		v->index_high = code[1] & 0x40 ? 0 : 8;
		v->base_high = code[1] & 0x20 ? 0 : 8;
		v->wide = code[2] & 0x80;
		v->pp = pps[code[2] & 3];
		v->bits = 128u << ((code[3] >> 5 & 3) % 3);
		v->broadcast = code[3] & 0x10;
	} else if (code[0] == 0xc4 && bytes >= 4) {
		v->prefix_bytes = 3;
		v->map = code[1] & 31;
		v->reg_high = code[1] & 0x80 ? 0 : 8;
		v->index_high = code[1] & 0x40 ? 0 : 8;
		v->base_high = code[1] & 0x20 ? 0 : 8;
		v->wide = code[2] & 0x80;
		v->pp = pps[code[2] & 3];
		v->bits = code[2] & 4 ? 256 : 128;
	} else if (code[0] == 0xc5 && bytes >= 3) {
		v->prefix_bytes = 2;
		v->map = MAP_0F;
		v->reg_high = code[1] & 0x80 ? 0 : 8;
		v->pp = pps[code[1] & 3];
		v->bits = code[1] & 4 ? 256 : 128;
	} else {
		return false;
	}
	v->opcode = code[v->prefix_bytes];
	return (v->map >= MAP_0F && v->map <= MAP_0F3A) || (v->evex && (v->map == MAP_5 || v->map == MAP_6));
}

/* ---- how much memory an EVEX instruction touches ------------------------------------------------------------
 *
 * Its 8-bit displacement counts in such pieces. What the table lacks touches a whole vector. */

enum piece { ELEMENT, ELEMENT_PS_SD, HALF, QUARTER, EIGHTH, BYTES_1, BYTES_2, BYTES_4, BYTES_8, BYTES_16, BYTES_32 };

static const struct {
	uint8_t map, pp, first, last, step;
	uint8_t piece;
} pieces[] = {
	{ MAP_0F, PP_F3, 0xe6, 0xe6, 1, HALF },                  /* int or long to double */
	{ MAP_0F, PP_NONE, 0x5a, 0x5a, 1, HALF },                /* float to double */
	{ MAP_0F, PP_66 | PP_F3, 0x7a, 0x7b, 1, HALF },
	{ MAP_0F, PP_F2, 0x12, 0x12, 1, BYTES_8 },               /* movddup, wrong for the long forms */
	{ MAP_0F, PP_NONE | PP_66, 0x12, 0x13, 1, BYTES_8 },
	{ MAP_0F, PP_NONE | PP_66, 0x16, 0x17, 1, BYTES_8 },
	{ MAP_0F, PP_66, 0x6e, 0x6e, 1, ELEMENT },
	{ MAP_0F, PP_66, 0x7e, 0x7e, 1, ELEMENT },
	{ MAP_0F, PP_F3, 0x7e, 0x7e, 1, BYTES_8 },
	{ MAP_0F, PP_66, 0xd6, 0xd6, 1, BYTES_8 },
	{ MAP_0F, PP_F3 | PP_F2, 0x10, 0x11, 1, ELEMENT_PS_SD },
	{ MAP_0F, PP_F3 | PP_F2, 0x2a, 0x2a, 1, ELEMENT },
	{ MAP_0F, PP_F3 | PP_F2, 0x2c, 0x2d, 1, ELEMENT_PS_SD },
	{ MAP_0F, PP_F3 | PP_F2, 0x51, 0x5f, 1, ELEMENT_PS_SD },
	{ MAP_0F, PP_F3 | PP_F2, 0x78, 0x79, 1, ELEMENT_PS_SD },
	{ MAP_0F, PP_F3 | PP_F2, 0x7b, 0x7b, 1, ELEMENT },
	{ MAP_0F, PP_F3 | PP_F2, 0xc2, 0xc2, 1, ELEMENT_PS_SD },
	{ MAP_0F, PP_NONE | PP_66, 0x2e, 0x2f, 1, ELEMENT },
	{ MAP_0F, PP_66, 0xc4, 0xc4, 1, BYTES_2 },
	{ MAP_0F, PP_66, 0xd1, 0xd3, 1, BYTES_16 },              /* shifts by a count in memory */
	{ MAP_0F, PP_66, 0xe1, 0xe2, 1, BYTES_16 },
	{ MAP_0F, PP_66, 0xf1, 0xf3, 1, BYTES_16 },
	{ MAP_0F38, PP_66, 0x18, 0x18, 1, BYTES_4 },             /* broadcasts */
	{ MAP_0F38, PP_66, 0x19, 0x19, 1, BYTES_8 },
	{ MAP_0F38, PP_66, 0x1a, 0x1a, 1, BYTES_16 },
	{ MAP_0F38, PP_66, 0x1b, 0x1b, 1, BYTES_32 },
	{ MAP_0F38, PP_66, 0x58, 0x59, 1, ELEMENT },
	{ MAP_0F38, PP_66, 0x5a, 0x5a, 1, BYTES_16 },
	{ MAP_0F38, PP_66, 0x5b, 0x5b, 1, BYTES_32 },
	{ MAP_0F38, PP_66, 0x78, 0x78, 1, BYTES_1 },
	{ MAP_0F38, PP_66, 0x79, 0x79, 1, BYTES_2 },
	{ MAP_0F38, PP_66 | PP_F3, 0x10, 0x15, 1, HALF },        /* widening and narrowing moves */
	{ MAP_0F38, PP_66 | PP_F3, 0x20, 0x20, 1, HALF },
	{ MAP_0F38, PP_66 | PP_F3, 0x21, 0x21, 1, QUARTER },
	{ MAP_0F38, PP_66 | PP_F3, 0x22, 0x22, 1, EIGHTH },
	{ MAP_0F38, PP_66 | PP_F3, 0x23, 0x23, 1, HALF },
	{ MAP_0F38, PP_66 | PP_F3, 0x24, 0x24, 1, QUARTER },
	{ MAP_0F38, PP_66 | PP_F3, 0x25, 0x25, 1, HALF },
	{ MAP_0F38, PP_66 | PP_F3, 0x30, 0x30, 1, HALF },
	{ MAP_0F38, PP_66 | PP_F3, 0x31, 0x31, 1, QUARTER },
	{ MAP_0F38, PP_66 | PP_F3, 0x32, 0x32, 1, EIGHTH },
	{ MAP_0F38, PP_66 | PP_F3, 0x33, 0x33, 1, HALF },
	{ MAP_0F38, PP_66 | PP_F3, 0x34, 0x34, 1, QUARTER },
	{ MAP_0F38, PP_66 | PP_F3, 0x35, 0x35, 1, HALF },
	{ MAP_0F38, PP_66, 0x2d, 0x2d, 1, ELEMENT },             /* one element only */
	{ MAP_0F38, PP_66, 0x43, 0x43, 1, ELEMENT },
	{ MAP_0F38, PP_66, 0x4d, 0x4f, 2, ELEMENT },
	{ MAP_0F38, PP_66, 0x62, 0x63, 1, ELEMENT },             /* compress and expand */
	{ MAP_0F38, PP_66, 0x88, 0x8b, 1, ELEMENT },
	{ MAP_0F38, PP_66, 0x99, 0x9f, 2, ELEMENT },             /* fused multiply-add */
	{ MAP_0F38, PP_66, 0xa9, 0xaf, 2, ELEMENT },
	{ MAP_0F38, PP_66, 0xb9, 0xbf, 2, ELEMENT },
	{ MAP_0F3A, PP_66, 0x0a, 0x0b, 1, ELEMENT },
	{ MAP_0F3A, PP_66, 0x14, 0x14, 1, BYTES_1 },
	{ MAP_0F3A, PP_66, 0x15, 0x15, 1, BYTES_2 },
	{ MAP_0F3A, PP_66, 0x16, 0x16, 1, ELEMENT },
	{ MAP_0F3A, PP_66, 0x17, 0x17, 1, BYTES_4 },
	{ MAP_0F3A, PP_66, 0x18, 0x19, 1, BYTES_16 },            /* parts of a vector */
	{ MAP_0F3A, PP_66, 0x1a, 0x1b, 1, BYTES_32 },
	{ MAP_0F3A, PP_66, 0x20, 0x20, 1, BYTES_1 },
	{ MAP_0F3A, PP_66, 0x21, 0x21, 1, BYTES_4 },
	{ MAP_0F3A, PP_66, 0x22, 0x22, 1, ELEMENT },
	{ MAP_0F3A, PP_66, 0x38, 0x39, 1, BYTES_16 },
	{ MAP_0F3A, PP_66, 0x3a, 0x3b, 1, BYTES_32 },
};

static unsigned piece_bytes(const struct vex *v, unsigned piece)
{
	unsigned vector = v->bits / 8;

	switch (piece) {
	case ELEMENT: return v->wide ? 8 : 4;
	case ELEMENT_PS_SD: return v->pp == PP_F3 ? 4 : 8;
	case HALF: return vector / 2;
	case QUARTER: return vector / 4;
	case EIGHTH: return vector / 8;
	default: return 1u << (piece - BYTES_1);
	}
}

static unsigned displacement_unit(const struct vex *v)
{
	if (!v->evex)
		return 1;
	if (v->broadcast)
		return v->wide ? 8 : 4;
	for (unsigned i = 0; i < sizeof(pieces) / sizeof(*pieces); i++)
		if (pieces[i].map == v->map && pieces[i].pp & v->pp && v->opcode >= pieces[i].first &&
		    v->opcode <= pieces[i].last && (v->opcode - pieces[i].first) % pieces[i].step == 0)
			return piece_bytes(v, pieces[i].piece);
	return v->bits / 8;
}

/* ---- operands ------------------------------------------------------------------------------------------------ */

static bool is_gather(const struct vex *v)
{
	unsigned o = v->opcode;

	if (v->map != MAP_0F38)
		return false;
	return (o >= 0x90 && o <= 0x93) || (v->evex && ((o >= 0xa0 && o <= 0xa3) || o == 0xc6 || o == 0xc7));
}

static unsigned immediate_bytes(const struct vex *v)
{
	if (v->map == MAP_0F3A)
		return 1;
	return v->map == MAP_0F &&
	       ((v->opcode >= 0x70 && v->opcode <= 0x73) || v->opcode == 0xc2 || (v->opcode >= 0xc4 && v->opcode <= 0xc6));
}

/* The few that write a general register: conversions, and moves out of a vector or a mask. */
static uint32_t register_written(const struct vex *v, uint8_t modrm)
{
	unsigned reg = gpr_of[(modrm >> 3 & 7) | v->reg_high], rm = gpr_of[(modrm & 7) | v->base_high];
	unsigned o = v->opcode;
	bool convert = v->pp & (PP_F3 | PP_F2) && (o == 0x2c || o == 0x2d || (v->evex && (o == 0x78 || o == 0x79)));

	if (((v->map == MAP_0F || v->map == MAP_5) && convert) || (v->map == MAP_0F && !v->evex && o == 0x93))
		return UINT32_C(1) << reg;
	if (modrm >> 6 != 3)
		return 0;
	if (v->map == MAP_0F && (o == 0x50 || o == 0xc5 || o == 0xd7))
		return UINT32_C(1) << reg;
	if (((v->map == MAP_0F || v->map == MAP_5) && v->pp == PP_66 && o == 0x7e) ||
	    (v->map == MAP_0F3A && o >= 0x14 && o <= 0x17))
		return UINT32_C(1) << rm;
	return 0;
}

static int32_t read_s32(const uint8_t *code)
{
	int32_t value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/* ModRM, SIB and displacement, as far as the `bytes` that are left; returns their length, 0 if cut off. */
static unsigned take_address(const struct vex *v, const uint8_t *code, size_t bytes, struct form *at, bool *relative)
{
	unsigned mode = code[0] >> 6, low = code[0] & 7, length = 1, base = low | v->base_high, displacement;
	bool no_base = false;
	int64_t add = 0;

	*at = form_const(0);
	*relative = false;
	if (mode == 3)
		return length;
	if (low == 4) {
		if (bytes < 2)
			return 0;
		unsigned index = (code[1] >> 3 & 7) | v->index_high;
		struct form source = form_source(gpr_of[index]);

		base = (code[1] & 7) | v->base_high;
		no_base = mode == 0 && (code[1] & 7) == 5;
		length = 2;
		if (index != 4)
			*at = form_sum(at, &source, INT64_C(1) << (code[1] >> 6));
	} else {
		*relative = mode == 0 && low == 5;
	}
	displacement = mode == 1 ? 1 : mode == 2 || no_base || *relative ? 4 : 0;
	if (bytes < length + displacement)
		return 0;
	if (displacement == 1)
		add = (int64_t)(int8_t)code[length] * displacement_unit(v);
	else if (displacement == 4)
		add = read_s32(code + length);
	if (!no_base && !*relative) {
		struct form source = form_source(gpr_of[base]);

		*at = form_sum(at, &source, 1);
	}
	at->add = add;
	return length + displacement;
}

bool x86_vex_general(const uint8_t *code, size_t bytes)
{
	struct vex v;

	if (!take_prefix(code, bytes, &v) || v.evex)
		return false;
	return (v.map == MAP_0F38 && v.opcode >= 0xe0) || (v.map == MAP_0F3A && v.opcode == 0xf0);
}

bool x86_vex_decode(const uint8_t *code, size_t bytes, uint64_t at, struct insn *insn)
{
	const uint8_t *modrm;
	struct form address;
	struct vex v;
	unsigned length;
	bool relative;

	if (!take_prefix(code, bytes, &v))
		return false;
	*insn = insn_blank;
	if (!v.evex && v.map == MAP_0F && v.opcode == 0x77) { /* vzeroupper has no operands */
		insn->bytes = (uint8_t)(v.prefix_bytes + 1);
		return true;
	}
	if (bytes == v.prefix_bytes + 1)
		return false;
	modrm = code + v.prefix_bytes + 1;
	length = take_address(&v, modrm, bytes - v.prefix_bytes - 1, &address, &relative);
	if (length == 0 || v.prefix_bytes + 1 + length + immediate_bytes(&v) > bytes)
		return false;
	insn->bytes = (uint8_t)(v.prefix_bytes + 1 + length + immediate_bytes(&v));
	insn->lost = register_written(&v, modrm[0]);
	if (relative)
		address.add += (int64_t)(at + insn->bytes);
	if (is_gather(&v))
		insn->gather = true;
	else if (modrm[0] >> 6 != 3)
		insn->mem[insn->mems++] = address;
	return true;
}

#endif
