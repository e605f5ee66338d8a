/* Outlines of instructions, from our tables, against Capstone: all code of the C library and of this program,
 * and made-up bytes. */
#include <capstone.h>
#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/operand_insn.h"

#if defined(__x86_64__)
#include "sys/operand_x86.h"

enum { INSTRUCTIONS_MOST = 300000, RANDOM = 100000 };

struct tally {
	unsigned instructions, known, wrong;
	csh handle;
	cs_insn *insn;
};

static bool in_group(const struct tally *tally, unsigned group)
{
	return cs_insn_group(tally->handle, tally->insn, group);
}

static enum flow flow_of(const struct tally *tally, bool *direct)
{
	const cs_x86 *x86 = &tally->insn->detail->x86;
	unsigned id = tally->insn->id;
	bool loops = id == X86_INS_LOOP || id == X86_INS_LOOPE || id == X86_INS_LOOPNE || id == X86_INS_XBEGIN;

	*direct = x86->op_count == 1 && x86->operands[0].type == X86_OP_IMM;
	if (id == X86_INS_JMP || id == X86_INS_LJMP)
		return *direct ? FLOW_JUMP : FLOW_END;
	if (loops || in_group(tally, X86_GRP_JUMP))
		return FLOW_BRANCH;
	*direct = false;
	if (in_group(tally, X86_GRP_CALL))
		return FLOW_CALL;
	return in_group(tally, X86_GRP_RET) || id == X86_INS_IRET || id == X86_INS_IRETD || id == X86_INS_IRETQ ||
	       id == X86_INS_UD2 || id == X86_INS_HLT || id == X86_INS_INT3 ? FLOW_END : FLOW_NEXT;
}

static bool same(const struct tally *tally, const struct outline *outline)
{
	const cs_x86 *x86 = &tally->insn->detail->x86;
	bool direct;
	enum flow flow = flow_of(tally, &direct);
	uint64_t end = tally->insn->address + tally->insn->size;

	return outline->bytes == tally->insn->size && outline->flow == flow && outline->direct == direct &&
	       (!direct || (uint64_t)x86->operands[0].imm == end + (uint64_t)(int64_t)outline->jump);
}

static void tell(const struct tally *tally, const struct outline *outline)
{
	printf("%s %s:", tally->insn->mnemonic, tally->insn->op_str);
	for (unsigned i = 0; i < tally->insn->size; i++)
		printf(" %02x", tally->insn->bytes[i]);
	printf(", bytes %u, flow %u\n", outline->bytes, outline->flow);
}

/* Compares one; returns how far to go on. */
static size_t compare(struct tally *tally, const uint8_t *code, size_t bytes, uint64_t at)
{
	const uint8_t *next = code;
	struct outline outline;
	size_t left = bytes;

	if (!cs_disasm_iter(tally->handle, &next, &left, &at, tally->insn))
		return 1;
	tally->instructions++;
	if (!x86_outline(code, bytes, &outline))
		return tally->insn->size;
	tally->known++;
	if (!same(tally, &outline) && tally->wrong++ < 20)
		tell(tally, &outline);
	return tally->insn->size;
}

static void start(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	ck_assert(capstone_load());
	ck_assert_int_eq(cs_open(CS_ARCH_X86, CS_MODE_64, &tally->handle), CS_ERR_OK);
	ck_assert_int_eq(cs_option(tally->handle, CS_OPT_DETAIL, CS_OPT_ON), CS_ERR_OK);
	tally->insn = cs_malloc(tally->handle);
	ck_assert_ptr_nonnull(tally->insn);
}

static void end(struct tally *tally)
{
	cs_free(tally->insn, 1);
	cs_close(&tally->handle);
}

static int compare_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct tally *tally = arg;

	(void)size;
	if (info->dlpi_name[0] && !strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uint8_t *code = (const uint8_t *)(uintptr_t)(info->dlpi_addr + segment->p_vaddr);

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		for (size_t at = 0; at < segment->p_memsz && tally->instructions < INSTRUCTIONS_MOST;)
			at += compare(tally, code + at, segment->p_memsz - at, (uint64_t)(uintptr_t)code + at);
	}
	return 0;
}

/* Real code: hardly an instruction but AVX is left to Capstone, and none is cut wrong. */
START_TEST(real_code)
{
	struct tally tally;

	start(&tally);
	dl_iterate_phdr(compare_object, &tally);
	end(&tally);
	printf("%u instructions, %u known, %u wrong\n", tally.instructions, tally.known, tally.wrong);
	ck_assert_uint_gt(tally.instructions, 50000);
	ck_assert_uint_eq(tally.wrong, 0);
	ck_assert_uint_gt(tally.known * UINT64_C(100), tally.instructions * UINT64_C(85));
}
END_TEST

/* Bytes at random, of which Capstone must say that they are code: every opcode and prefix turns up. */
START_TEST(random_bytes)
{
	struct tally tally;
	uint8_t code[16];

	start(&tally);
	srand(11);
	for (unsigned i = 0; i < RANDOM; i++) {
		for (unsigned k = 0; k < sizeof(code); k++)
			code[k] = (uint8_t)(rand() >> 4);
		if (i & 1)
			code[0] = 0x0f;
		(void)compare(&tally, code, sizeof(code), 0x400000);
	}
	end(&tally);
	printf("%u instructions, %u known, %u wrong\n", tally.instructions, tally.known, tally.wrong);
	ck_assert_uint_eq(tally.wrong, 0);
}
END_TEST

/* What is cut off is no instruction, whatever follows it in memory. */
START_TEST(cut_off)
{
	static const uint8_t code[] = { 0x66, 0x48, 0x81, 0x84, 0x88, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x08 };
	struct outline outline;

	for (size_t bytes = 0; bytes < sizeof(code); bytes++)
		ck_assert(!x86_outline(code, bytes, &outline));
	ck_assert(x86_outline(code, sizeof(code), &outline));
	ck_assert_uint_eq(outline.bytes, sizeof(code));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outline");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, real_code);
	tcase_add_test(tcase, random_bytes);
	tcase_add_test(tcase, cut_off);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}

#else

int main(void)
{
	puts("skipped: no operand decoder for this architecture");
	return 77;
}

#endif
