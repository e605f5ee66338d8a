/* The operand decoder on made code: bytes and registers in, addresses out. */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sys/operand.h"

enum { CODE = 0x400000, MEMORY = 0x700000, STACK = 0x7fff00001000 };

/* What the injected reader serves. */
static const uint8_t *code_bytes;
static size_t code_length;
static uint64_t memory[64];          /* at MEMORY */
static uint64_t stack[64];           /* at STACK */
static bool function_known;
static unsigned function_split;      /* a second function begins here, if not 0 */
static unsigned reads;

static bool serve(const struct operand_piece *piece, uint64_t start, const void *bytes, size_t length)
{
	if (piece->from < start || piece->from - start > length || length - (piece->from - start) < piece->bytes)
		return false;
	memcpy(piece->to, (const uint8_t *)bytes + (piece->from - start), piece->bytes);
	return true;
}

static unsigned read_made(void *arg, const struct operand_piece *pieces, unsigned count)
{
	unsigned i;

	(void)arg;
	reads++;
	for (i = 0; i < count; i++)
		if (!serve(&pieces[i], CODE, code_bytes, code_length) && !serve(&pieces[i], MEMORY, memory, sizeof(memory)) &&
		    !serve(&pieces[i], STACK, stack, sizeof(stack)))
			break;
	return i;
}

static int function_made(void *arg, uint64_t ip, struct operand_function *function)
{
	uint64_t second = CODE + (function_split ? function_split : code_length);

	(void)arg;
	if (!function_known)
		return -ENOENT;
	function->start = ip < second ? CODE : second;
	function->end = ip < second ? second : CODE + code_length;
	return 0;
}

static const struct operand_code made = { read_made, function_made, NULL };

static struct operand_decoder *open_made(const uint8_t *bytes, size_t length)
{
	struct operand_decoder *decoder = NULL;

	code_bytes = bytes;
	code_length = length;
	function_known = true;
	function_split = 0;
	ck_assert_int_eq(operand_open(&made, &decoder), 0);
	return decoder;
}

/* Registers that are all different, far apart and no stack: register r holds (r + 1) << 32. */
static struct regs registers(uint64_t ip)
{
	struct regs regs = { .ip = ip };

	for (unsigned r = 0; r < GPRS; r++)
		regs.gpr[r] = (uint64_t)(r + 1) << 32;
	regs.gpr[GPR_SP] = STACK + 128;
	return regs;
}

static uint64_t of(unsigned reg)
{
	return (uint64_t)(reg + 1) << 32;
}

/* ---- one sample, some code ----------------------------------------------------------------------------- */

#define BYTES(...) { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static const struct {
	const char *what;
	uint8_t code[48];
	size_t length;
	unsigned at;              /* the sample's offset in the code */
	struct { unsigned base; int64_t add; } want[4];
	unsigned count;
} cases[] = {
	{ "forward: mov (rdi), rax; ret", BYTES(0x48, 0x8b, 0x07, 0xc3), 0, { { GPR_DI, 0 } }, 1 },
	{ "back: the load before the sample", BYTES(0x48, 0x8b, 0x07, 0x90, 0xc3), 3, { { GPR_DI, 0 } }, 1 },
	{ "lost: mov (rax), rax", BYTES(0x48, 0x8b, 0x00, 0x90, 0xc3), 3, { { 0, 0 } }, 0 },
	{ "undone: movsd (rdi); add 8, rdi", BYTES(0xf2, 0x0f, 0x10, 0x07, 0x48, 0x83, 0xc7, 0x08, 0xc3), 8, { { GPR_DI, -8 } }, 1 },
	{ "undone: movsd (rdi); lea 16(rdi), rdi", BYTES(0xf2, 0x0f, 0x10, 0x07, 0x48, 0x8d, 0x7f, 0x10, 0xc3), 8, { { GPR_DI, -16 } }, 1 },
	{ "undone: movsd (rdi); sub 8, rdi", BYTES(0xf2, 0x0f, 0x10, 0x07, 0x48, 0x83, 0xef, 0x08, 0xc3), 8, { { GPR_DI, 8 } }, 1 },
	{ "undone: movsd (rdi); inc rdi", BYTES(0xf2, 0x0f, 0x10, 0x07, 0x48, 0xff, 0xc7, 0xc3), 7, { { GPR_DI, -1 } }, 1 },
	{ "copied: mov rdi, rax; mov (rdi), rcx; xor edi, edi", BYTES(0x48, 0x89, 0xf8, 0x48, 0x8b, 0x0f, 0x31, 0xff, 0xc3), 8, { { GPR_AX, 0 } }, 1 },
	{ "ahead of an add: add 8, rdi; mov (rdi), rax", BYTES(0x48, 0x83, 0xc7, 0x08, 0x48, 0x8b, 0x07, 0xc3), 0, { { GPR_DI, 8 } }, 1 },
	{ "two arrays in a loop, round the back edge",
	  BYTES(0x48, 0x8b, 0x0e, 0x48, 0x89, 0x0f, 0x48, 0x83, 0xc6, 0x08, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x39, 0xd7, 0x75, 0xed, 0xc3),
	  14, { { GPR_DI, -8 }, { GPR_SI, -8 } }, 2 },
	{ "the same at the loop's head, where an emulator's samples land",
	  BYTES(0x48, 0x8b, 0x0e, 0x48, 0x89, 0x0f, 0x48, 0x83, 0xc6, 0x08, 0x48, 0x83, 0xc7, 0x08, 0x48, 0x39, 0xd7, 0x75, 0xed, 0xc3),
	  0, { { GPR_DI, -8 }, { GPR_SI, -8 } }, 2 },
	{ "lea is no access", BYTES(0x48, 0x8d, 0x47, 0x08, 0x90, 0xc3), 4, { { 0, 0 } }, 0 },
	{ "a long nop is no access", BYTES(0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0x90, 0xc3), 6, { { 0, 0 } }, 0 },
	{ "fs: is the thread's own", BYTES(0x64, 0x48, 0x8b, 0x07, 0x90, 0xc3), 4, { { 0, 0 } }, 0 },
	{ "the stack is no data", BYTES(0x48, 0x8b, 0x44, 0x24, 0x08, 0x90, 0xc3), 5, { { 0, 0 } }, 0 },
	{ "prefetch counts", BYTES(0x0f, 0x18, 0x0f, 0x90, 0xc3), 3, { { GPR_DI, 0 } }, 1 },
	{ "rep movsb: both sides", BYTES(0xf3, 0xa4, 0xc3), 0, { { GPR_DI, 0 }, { GPR_SI, 0 } }, 2 },
	{ "rep stosq", BYTES(0xf3, 0x48, 0xab, 0xc3), 0, { { GPR_DI, 0 } }, 1 },
	{ "a vector gather has no address", BYTES(0xc4, 0xe2, 0xf5, 0x92, 0x04, 0xd7, 0x90, 0xc3), 6, { { 0, 0 } }, 0 },
	{ "a scatter has none either", BYTES(0x62, 0xf2, 0xfd, 0x49, 0xa0, 0x04, 0xcf, 0x90, 0xc3), 7, { { 0, 0 } }, 0 },
	{ "EVEX: displacement in vectors, vmovupd 0x40(rdi), zmm1", BYTES(0x62, 0xf1, 0xfd, 0x48, 0x10, 0x4f, 0x01, 0xc3), 7, { { GPR_DI, 64 } }, 1 },
	{ "EVEX: in elements, vaddpd 8(rdi){1to8}, zmm0, zmm1", BYTES(0x62, 0xf1, 0xfd, 0x58, 0x58, 0x4f, 0x01, 0xc3), 7, { { GPR_DI, 8 } }, 1 },
	{ "EVEX: high registers, vmovupd zmm1, -0x40(r10)", BYTES(0x62, 0xd1, 0xfd, 0x48, 0x11, 0x4a, 0xff, 0xc3), 7, { { GPR_10, -64 } }, 1 },
	{ "kmovd k1, eax, which Capstone 4 lacks, loses rax", BYTES(0x48, 0x8b, 0x00, 0xc5, 0xfb, 0x93, 0xc1, 0x90, 0xc3), 7, { { 0, 0 } }, 0 },
	{ "and the way back goes over it", BYTES(0x48, 0x8b, 0x17, 0xc5, 0xfb, 0x93, 0xc1, 0x90, 0xc3), 7, { { GPR_DI, 0 } }, 1 },
	{ "code is none", BYTES(0x06, 0x06, 0x06, 0x06), 0, { { 0, 0 } }, 0 },
};

static bool among(uint64_t addr, const uint64_t addrs[], unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (addrs[i] == addr)
			return true;
	return false;
}

START_TEST(code_gives_addresses)
{
	struct operand_decoder *decoder = open_made(cases[_i].code, cases[_i].length);
	struct regs regs = registers(CODE + cases[_i].at);
	uint64_t addrs[OPERAND_MOST];

	for (unsigned round = 0; round < 2; round++) { /* made, then from the cache */
		unsigned count = operand_resolve(decoder, &regs, addrs, OPERAND_MOST);

		ck_assert_msg(count == cases[_i].count, "%s: %u addresses", cases[_i].what, count);
		for (unsigned i = 0; i < cases[_i].count; i++)
			ck_assert_msg(among(of(cases[_i].want[i].base) + (uint64_t)cases[_i].want[i].add, addrs, count), "%s: address %u",
			              cases[_i].what, i);
	}
	operand_close(decoder);
}
END_TEST

START_TEST(reasons_are_counted)
{
	static const struct {
		uint8_t code[8];
		size_t length;
		unsigned at;
		size_t counter;
	} reasons[] = {
		{ BYTES(0x48, 0x8d, 0x47, 0x08, 0x90, 0xc3), 4, offsetof(struct operand_counts, no_memory) },
		{ BYTES(0xc4, 0xe2, 0xf5, 0x92, 0x04, 0xd7, 0x90, 0xc3), 6, offsetof(struct operand_counts, gather) },
		{ BYTES(0x48, 0x8b, 0x00, 0x90, 0xc3), 3, offsetof(struct operand_counts, lost_registers) },
		{ BYTES(0x06, 0x06), 0, offsetof(struct operand_counts, unreadable) },
	};

	for (unsigned i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		struct operand_decoder *decoder = open_made(reasons[i].code, reasons[i].length);
		struct regs regs = registers(CODE + reasons[i].at);
		struct operand_counts counts;
		uint64_t addrs[1];

		ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 0);
		operand_counts(decoder, &counts);
		ck_assert_msg(*(const uint64_t *)(const void *)((const char *)&counts + reasons[i].counter) == 1, "reason %u", i);
		operand_close(decoder);
	}
}
END_TEST

/* ---- memory that is read ---------------------------------------------------------------------------------- */

START_TEST(spilled_pointer_is_read)
{
	/* mov 8(rsp), rax; mov (rax), rax; nop; ret: rax is lost, its address was in the frame */
	static const uint8_t code[] = { 0x48, 0x8b, 0x44, 0x24, 0x08, 0x48, 0x8b, 0x00, 0x90, 0xc3 };
	struct operand_decoder *decoder = open_made(code, sizeof(code));
	struct regs regs = registers(CODE + 8);
	uint64_t addrs[1];

	stack[(128 + 8) / 8] = 0x123456789000;
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 1);
	ck_assert_uint_eq(addrs[0], 0x123456789000);
	operand_close(decoder);
}
END_TEST

START_TEST(product_of_indices)
{
	/* movsxd 8(rsp), rax; imul 16(rsp), rax; mov (rdi, rax, 8), rax; nop; ret */
	static const uint8_t code[] = { 0x48, 0x63, 0x44, 0x24, 0x08, 0x48, 0x0f, 0xaf, 0x44, 0x24, 0x10,
		                        0x48, 0x8b, 0x04, 0xc7, 0x90, 0xc3 };
	struct operand_decoder *decoder = open_made(code, sizeof(code));
	struct regs regs = registers(CODE + 15);
	uint64_t addrs[1];

	stack[(128 + 8) / 8] = (uint32_t)-3; /* 32 bits, signed */
	stack[(128 + 16) / 8] = 1000;
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 1);
	ck_assert_uint_eq(addrs[0], of(GPR_DI) - 3 * 1000 * 8);
	operand_close(decoder);
}
END_TEST

START_TEST(caller_is_found)
{
	/* 0: loop: mov (rbx), xmm0; call 16; add 8, rbx; jmp 0.  16: push rbx; xor ebx, ebx; nop; ... */
	static const uint8_t code[] = { 0xf2, 0x0f, 0x10, 0x03, 0xe8, 0x07, 0x00, 0x00, 0x00, 0x48, 0x83, 0xc3, 0x08, 0xeb, 0xf1, 0xcc,
		                        0x53, 0x31, 0xdb, 0x90, 0x5b, 0xc3 };
	struct operand_decoder *decoder = open_made(code, sizeof(code));
	struct regs regs = registers(CODE + 19);
	uint64_t addrs[2];

	function_split = 16;
	stack[128 / 8] = of(GPR_DI); /* the caller's rbx, pushed */
	stack[128 / 8 + 1] = CODE + 9;
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 2), 1);
	ck_assert_uint_eq(addrs[0], of(GPR_DI));
	operand_close(decoder);
}
END_TEST

START_TEST(bad_return_address_is_refused)
{
	static const uint8_t code[] = { 0x31, 0xdb, 0x90, 0xc3 };
	struct operand_decoder *decoder = open_made(code, sizeof(code));
	struct regs regs = registers(CODE + 2);
	uint64_t addrs[2];

	stack[128 / 8] = MEMORY + 16; /* readable, but no call before it */
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 2), 0);
	stack[128 / 8] = 5;           /* not even readable */
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 2), 0);
	operand_close(decoder);
}
END_TEST

/* ---- cache ------------------------------------------------------------------------------------------------- */

START_TEST(changed_code_is_noticed)
{
	uint8_t code[] = { 0x48, 0x8b, 0x07, 0x90, 0xc3 };
	struct operand_decoder *decoder = open_made(code, sizeof(code));
	struct regs regs = registers(CODE + 3);
	uint64_t addrs[1];

	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 1);
	ck_assert_uint_eq(addrs[0], of(GPR_DI));
	code[2] = 0x06; /* now (rsi) */
	for (unsigned i = 0; i < 100; i++)
		operand_tick(decoder);
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 1);
	ck_assert_uint_eq(addrs[0], of(GPR_SI));
	code_length = 0; /* unloaded */
	for (unsigned i = 0; i < 100; i++)
		operand_tick(decoder);
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 0);
	operand_close(decoder);
}
END_TEST

START_TEST(cached_needs_no_code)
{
	static const uint8_t code[] = { 0x48, 0x8b, 0x07, 0x90, 0xc3 };
	struct operand_decoder *decoder = open_made(code, sizeof(code));
	struct regs regs = registers(CODE + 3);
	struct operand_counts counts;
	uint64_t addrs[1];

	regs.gpr[GPR_SP] = 64; /* no return address can be read */
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 1);
	ck_assert_uint_eq(operand_resolve(decoder, &regs, addrs, 1), 1);
	operand_counts(decoder, &counts);
	ck_assert_uint_eq(counts.cached, 1);
	ck_assert_uint_eq(counts.resolved, 2);
	operand_close(decoder);
}
END_TEST

/* More instructions than the cache holds. */
START_TEST(cache_overflows_quietly)
{
	static uint8_t code[8192];
	struct operand_decoder *decoder;
	uint64_t addrs[1];

	memset(code, 0x90, sizeof(code));
	decoder = open_made(code, sizeof(code));
	for (unsigned i = 0; i < sizeof(code); i++) {
		struct regs regs = registers(CODE + i);

		(void)operand_resolve(decoder, &regs, addrs, 1);
	}
	operand_close(decoder);
}
END_TEST

/* Random bytes, random registers: nothing may crash or run away (the sanitizers watch). */
START_TEST(garbage_is_harmless)
{
	static uint8_t code[512];
	uint64_t addrs[OPERAND_MOST];

	srand(7);
	for (unsigned round = 0; round < 100; round++) {
		struct operand_decoder *decoder;

		for (unsigned i = 0; i < sizeof(code); i++)
			code[i] = (uint8_t)rand();
		decoder = open_made(code, sizeof(code));
		function_known = round & 1;
		for (unsigned i = 0; i < 16; i++) {
			struct regs regs = registers(CODE + (unsigned)rand() % sizeof(code));

			for (unsigned r = 0; r < GPRS; r++)
				if (rand() & 1)
					regs.gpr[r] = (uint64_t)rand() << 33 ^ (uint64_t)rand();
			ck_assert_uint_le(operand_resolve(decoder, &regs, addrs, OPERAND_MOST), OPERAND_MOST);
		}
		operand_close(decoder);
	}
}
END_TEST

/* ---- functions ----------------------------------------------------------------------------------------------- */

START_TEST(own_functions_are_found)
{
	uint64_t ip = (uint64_t)(uintptr_t)&operand_open + 8;
	struct operand_function function = { 0 };

	ck_assert_int_eq(operand_code_self.function(NULL, ip, &function), 0);
	ck_assert_uint_eq(function.start, (uint64_t)(uintptr_t)&operand_open);
	ck_assert_uint_gt(function.end, ip);
	ck_assert(function.fixed_start <= ip && ip < function.fixed_end);
	ck_assert(!(function.fixed_start <= (uint64_t)(uintptr_t)&reads && (uint64_t)(uintptr_t)&reads < function.fixed_end));
	ck_assert_int_eq(operand_code_self.function(NULL, 4096, &function), -ENOENT);
}
END_TEST

START_TEST(search_table)
{
	/* version 1, pcrel sdata4, udata4, datarel sdata4; frame pointer; 3 entries */
	static const int32_t table[] = { 0x3b031b01, 0, 3, 0x100, 0, 0x180, 0, 0x200, 0 };
	struct operand_function function;
	struct operand_code code = made;

	memcpy(memory, table, sizeof(table));
	ck_assert_int_eq(operand_code_search(&code, MEMORY, MEMORY + 0x17f, &function), 0);
	ck_assert_uint_eq(function.start, MEMORY + 0x100);
	ck_assert_uint_eq(function.end, MEMORY + 0x180);
	ck_assert_int_eq(operand_code_search(&code, MEMORY, MEMORY + 0xff, &function), -ENOENT);
	ck_assert_int_eq(operand_code_search(&code, MEMORY, MEMORY + 0x200, &function), -ENOENT);
	memory[0] = 0; /* another version */
	ck_assert_int_eq(operand_code_search(&code, MEMORY, MEMORY + 0x17f, &function), -ENOENT);
	ck_assert_int_eq(operand_code_search(&code, 64, MEMORY + 0x17f, &function), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operand");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, code_gives_addresses, 0, (int)(sizeof(cases) / sizeof(*cases)));
	tcase_add_test(tcase, reasons_are_counted);
	tcase_add_test(tcase, spilled_pointer_is_read);
	tcase_add_test(tcase, product_of_indices);
	tcase_add_test(tcase, caller_is_found);
	tcase_add_test(tcase, bad_return_address_is_refused);
	tcase_add_test(tcase, changed_code_is_noticed);
	tcase_add_test(tcase, cached_needs_no_code);
	tcase_add_test(tcase, cache_overflows_quietly);
	tcase_add_test(tcase, garbage_is_harmless);
	tcase_add_test(tcase, own_functions_are_found);
	tcase_add_test(tcase, search_table);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
