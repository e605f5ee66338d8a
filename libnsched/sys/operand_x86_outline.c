/* How long x86-64 instructions are and where they go on, without Capstone: that takes 2500 instructions for
 * each of the code's, most of them to write its text, and a sample asks for a whole function's outline but
 * for the meaning of its loop only. What is not in the tables here (XOP, 3DNow, what only a kernel uses, jumps
 * with a 16-bit displacement) is left to Capstone. tests/unit/test_outline holds both against each other. */
#include "operand_x86.h"

#if REGS_X86

#include <string.h>

/* One letter for each opcode:
 *   .  nothing follows             M  a ModRM byte (and what belongs to it)
 *   b  8 bits                      m  ModRM, then 8 bits
 *   w  16 bits                     z  32 bits (16 with an operand size prefix)
 *   e  24 bits, of enter           i  ModRM, then z
 *   q  as z, 64 with REX.W         o  an absolute address
 *   t  ModRM, then b if test (F6)  T  ModRM, then z if test (F7)
 *   j  branch of 8 bits            J  branch of 32 bits
 *   s  jump of 8 bits              S  jump of 32 bits
 *   c  call of 32 bits             g  ModRM of FF: calls and jumps among others
 *   r  return, trap                R  return that pops: 16 bits
 *   -  not known here */
static const char one_byte[] =
	"MMMMbz--MMMMbz--" "MMMMbz--MMMMbz--" "MMMMbz--MMMMbz--" "MMMMbz--MMMMbz--" /* 00: arithmetic */
	"----------------" "................" "---M----zibm...." "jjjjjjjjjjjjjjjj" /* 40: REX, push, pop, branches */
	"mi-mMMMMMMMMMMM-" "..........-....." "oooo....bz......" "bbbbbbbbqqqqqqqq" /* 80 */
	"mmRr--mie.Rrrb-r" "MMMM---.MMMMMMMM" "jjjjbbbbcS-s...." "-.--r.tT......Mg"; /* C0 */

static const char after_0f[] =
	"MMMM-...---r-M--" "MMMMMMMMMMMMMMMM" "--------MMMMMMMM" "......----------" /* 00 */
	"MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "mmmmMMM.M---MMMM" /* 40 */
	"JJJJJJJJJJJJJJJJ" "MMMMMMMMMMMMMMMM" "...MmM--...MmMMM" "MMMMMMMMM-mMMMMM" /* 80 */
	"MMmMmmmM........" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMMM" "MMMMMMMMMMMMMMM-"; /* C0 */

enum { MODRM_BYTES_MOST = 6, REX_W = 8 };

struct prefixes {
	unsigned bytes;
	bool operand_size, address_size, repeat;
	uint8_t rex;
};

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0xf0 || byte == 0x2e || byte == 0x36 ||
	       byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
}

static struct prefixes take_prefixes(const uint8_t *code, size_t bytes)
{
	struct prefixes p = { 0 };

	while (p.bytes < bytes && is_prefix(code[p.bytes])) {
		p.operand_size |= code[p.bytes] == 0x66;
		p.address_size |= code[p.bytes] == 0x67;
		p.repeat |= code[p.bytes] == 0xf2 || code[p.bytes] == 0xf3;
		p.bytes++;
	}
	if (p.bytes < bytes && (code[p.bytes] & 0xf0) == 0x40)
		p.rex = code[p.bytes++];
	return p;
}

/* The length of a ModRM byte, SIB byte and displacement. Where the SIB byte is cut off, so is the rest. */
static unsigned modrm_bytes(const uint8_t *code, size_t bytes)
{
	unsigned mode = code[0] >> 6, low = code[0] & 7, length = 1;

	if (mode == 3)
		return 1;
	if (low == 4) {
		length = 2;
		low = bytes > 1 ? code[1] & 7 : 0;
	}
	if (mode == 0)
		return low == 5 ? length + 4 : length;
	return length + (mode == 1 ? 1 : 4);
}

static bool has_modrm(char kind)
{
	return kind == 'M' || kind == 'm' || kind == 'i' || kind == 't' || kind == 'T' || kind == 'g';
}

/* What follows opcode and ModRM. */
static unsigned immediate_bytes(char kind, const struct prefixes *p, unsigned modrm)
{
	bool wide = p->rex & REX_W;
	unsigned z = p->operand_size && !wide ? 2 : 4;

	switch (kind) {
	case 'b': case 'm': case 'j': case 's': return 1;
	case 'w': case 'R': return 2;
	case 'e': return 3;
	case 'z': case 'i': return z;
	case 'q': return wide ? 8 : z;
	case 'o': return p->address_size ? 4 : 8;
	case 't': return (modrm >> 3 & 7) < 2 ? 1 : 0;
	case 'T': return (modrm >> 3 & 7) < 2 ? z : 0;
	case 'J': case 'S': case 'c': return 4;
	default: return 0;
	}
}

static enum flow flow_of(char kind, unsigned modrm)
{
	unsigned reg = modrm >> 3 & 7;

	switch (kind) {
	case 'j': case 'J': return FLOW_BRANCH;
	case 's': case 'S': return FLOW_JUMP;
	case 'c': return FLOW_CALL;
	case 'r': case 'R': return FLOW_END;
	case 'g': return reg == 2 || reg == 3 ? FLOW_CALL : reg == 4 || reg == 5 ? FLOW_END : FLOW_NEXT;
	default: return FLOW_NEXT;
	}
}

/* The letter for the opcode at *at, which is moved behind it. */
static char kind_of(const uint8_t *code, size_t bytes, const struct prefixes *p, unsigned *at)
{
	uint8_t opcode = code[(*at)++];
	char kind = one_byte[opcode];

	if (opcode == 0x0f) {
		if (*at == bytes)
			return '-';
		opcode = code[(*at)++];
		kind = after_0f[opcode];
		if (opcode == 0x38 || opcode == 0x3a) {
			kind = opcode == 0x38 ? 'M' : 'm';
			(*at)++;
		}
		/* SSE4a's extrq and insertq have immediates, where vmread has none */
		if ((p->operand_size || p->repeat) && opcode == 0x78)
			return '-';
	} else if (opcode == 0xc7 && *at < bytes && code[*at] == 0xf8) {
		return '-'; /* xbegin */
	}
	if (p->operand_size && !(p->rex & REX_W) && (kind == 'J' || kind == 'S' || kind == 'c'))
		return '-';
	return kind;
}

bool x86_outline(const uint8_t *code, size_t bytes, struct outline *outline)
{
	struct prefixes p = take_prefixes(code, bytes);
	unsigned at = p.bytes, modrm = 0, immediate;
	char kind;

	if (at >= bytes)
		return false;
	kind = kind_of(code, bytes, &p, &at);
	if (kind == '-' || at > bytes)
		return false;
	if (has_modrm(kind)) {
		if (at == bytes)
			return false;
		modrm = code[at];
		at += modrm_bytes(code + at, bytes - at);
	}
	immediate = immediate_bytes(kind, &p, modrm);
	if (at + immediate > bytes || at + immediate > X86_LONGEST)
		return false;
	*outline = (struct outline){ .bytes = (uint8_t)(at + immediate), .flow = (uint8_t)flow_of(kind, modrm) };
	outline->direct = outline->flow == FLOW_BRANCH || outline->flow == FLOW_JUMP;
	if (outline->direct && immediate == 1)
		outline->jump = (int8_t)code[at];
	else if (outline->direct)
		memcpy(&outline->jump, code + at, sizeof(outline->jump));
	return true;
}

#endif
