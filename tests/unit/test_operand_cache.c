/* The operand decoder's memory: what it keeps of code must be true, and must not grow. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sys/operand.h"
#include "sys/operand_cache.h"

enum { CODE = 0x400000, LOOP_BYTES = 16, TICKS = FRESH_TICKS + 1 };

/* What the injected reader serves: `code_length` bytes at CODE, functions of `function_bytes` each. */
static uint8_t code[1 << 20];
static size_t code_length, function_bytes;
static unsigned reads, functions;

static unsigned read_made(void *arg, const struct operand_piece *pieces, unsigned count)
{
	unsigned i;

	(void)arg;
	reads++;
	for (i = 0; i < count; i++) {
		uint64_t offset = pieces[i].from - CODE;

		if (offset > code_length || code_length - offset < pieces[i].bytes)
			break;
		memcpy(pieces[i].to, code + offset, pieces[i].bytes);
	}
	return i;
}

static int function_made(void *arg, uint64_t ip, struct operand_function *function)
{
	(void)arg;
	functions++;
	if (!function_bytes)
		return -1;
	function->start = ip - (ip - CODE) % function_bytes;
	function->end = function->start + function_bytes;
	return 0;
}

static const struct operand_code made = { read_made, function_made, NULL };

/* mov (base), rax; add 8, base; dec rcx; jne; ret: the loads of registers 3, 6 and 7 (rbx, rsi, rdi) are
 * told apart by their addresses. */
static void put_loop(size_t at, unsigned base)
{
	const uint8_t loop[LOOP_BYTES] = { 0x48, 0x8b, (uint8_t)base, 0x48, 0x83, (uint8_t)(0xc0 + base), 0x08,
		                           0x48, 0xff, 0xc9, 0x75, 0xf4, 0xc3, 0x90, 0x90, 0x90 };

	memcpy(code + at, loop, sizeof(loop));
}

enum { RBX = 3, RSI = 6, RDI = 7 };
static const unsigned places[] = { 0, 3, 7, 10 }; /* where its instructions begin */

static struct operand_decoder *open_loops(size_t bytes, size_t each, unsigned base)
{
	struct operand_decoder *decoder = NULL;

	for (size_t at = 0; at < bytes; at += LOOP_BYTES)
		put_loop(at, base);
	code_length = bytes;
	function_bytes = each;
	reads = functions = 0;
	ck_assert_int_eq(operand_open(&made, &decoder), 0);
	return decoder;
}

/* The register whose address the sample gives, as an x86 number; 0 if it gives none. */
static unsigned base_at(struct operand_decoder *decoder, size_t at)
{
	struct regs regs = { .ip = CODE + at };
	uint64_t addrs[OPERAND_MOST] = { 0 };
	unsigned count;

	regs.gpr[GPR_BX] = (uint64_t)RBX << 32;
	regs.gpr[GPR_SI] = (uint64_t)RSI << 32;
	regs.gpr[GPR_DI] = (uint64_t)RDI << 32;
	regs.gpr[GPR_SP] = 64;
	count = operand_resolve(decoder, &regs, addrs, OPERAND_MOST);
	ck_assert_uint_le(count, 1);
	return count ? (unsigned)((addrs[0] + 4096) >> 32) : 0;
}

static void let_time_pass(struct operand_decoder *decoder)
{
	for (unsigned i = 0; i < TICKS; i++)
		operand_tick(decoder);
}

START_TEST(neighbours_share_code)
{
	struct operand_decoder *decoder = open_loops(LOOP_BYTES, LOOP_BYTES, RDI);

	ck_assert_int_eq(operand_price(decoder, CODE), OPERAND_NEW);
	ck_assert_uint_eq(base_at(decoder, 0), RDI);
	ck_assert_int_eq(operand_price(decoder, CODE), OPERAND_KNOWN);
	for (unsigned i = 1; i < sizeof(places) / sizeof(*places); i++) {
		ck_assert_int_eq(operand_price(decoder, CODE + places[i]), OPERAND_NEAR);
		ck_assert_uint_eq(base_at(decoder, places[i]), RDI);
	}
	ck_assert_uint_eq(reads, 1);
	ck_assert_uint_eq(functions, 1);
	operand_close(decoder);
}
END_TEST

/* Other code at the same place: neither a known place nor its neighbours may tell of the old. */
START_TEST(replaced_code_is_noticed)
{
	struct operand_decoder *decoder = open_loops(LOOP_BYTES, LOOP_BYTES, RDI);

	ck_assert_uint_eq(base_at(decoder, 0), RDI);
	put_loop(0, RSI);
	let_time_pass(decoder);
	ck_assert_uint_eq(base_at(decoder, 3), RSI); /* near */
	ck_assert_uint_eq(base_at(decoder, 0), RSI); /* was known */
	put_loop(0, RBX);
	let_time_pass(decoder);
	ck_assert_uint_eq(base_at(decoder, 0), RBX); /* known */
	ck_assert_uint_eq(base_at(decoder, 10), RBX);
	operand_close(decoder);
}
END_TEST

/* The same code is not taken apart again when it is checked. */
START_TEST(same_code_is_kept)
{
	struct operand_decoder *decoder = open_loops(LOOP_BYTES, LOOP_BYTES, RDI);

	ck_assert_uint_eq(base_at(decoder, 0), RDI);
	let_time_pass(decoder);
	ck_assert_uint_eq(base_at(decoder, 0), RDI);
	ck_assert_uint_eq(functions, 1);
	ck_assert_uint_eq(reads, 2);
	ck_assert_uint_eq(base_at(decoder, 0), RDI); /* checked just now */
	ck_assert_uint_eq(reads, 2);
	operand_close(decoder);
}
END_TEST

/* Code that goes is noticed, and so is what comes in its place, be it no code at first. */
START_TEST(unloaded_and_loaded)
{
	struct operand_decoder *decoder = open_loops(LOOP_BYTES, LOOP_BYTES, RDI);

	ck_assert_uint_eq(base_at(decoder, 0), RDI);
	code_length = 0;
	let_time_pass(decoder);
	ck_assert_uint_eq(base_at(decoder, 0), 0);
	ck_assert_uint_eq(base_at(decoder, 3), 0);
	code_length = LOOP_BYTES;
	memset(code, 0x06, LOOP_BYTES);
	let_time_pass(decoder);
	ck_assert_uint_eq(base_at(decoder, 0), 0);
	put_loop(0, RSI);
	let_time_pass(decoder);
	ck_assert_uint_eq(base_at(decoder, 0), RSI);
	ck_assert_uint_eq(base_at(decoder, 3), RSI);
	operand_close(decoder);
}
END_TEST

/* More functions than there is room for: all are right, the first again when it comes back, and right too
 * if its code changed meanwhile. */
START_TEST(many_functions)
{
	struct operand_decoder *decoder = open_loops(sizeof(code), 4096, RDI);

	for (size_t at = 0; at < sizeof(code); at += LOOP_BYTES * 32)
		ck_assert_uint_eq(base_at(decoder, at + places[at / 512 % 4]), RDI);
	ck_assert_int_eq(operand_price(decoder, CODE), OPERAND_NEW);
	put_loop(0, RSI);
	ck_assert_uint_eq(base_at(decoder, 0), RSI);
	operand_close(decoder);
}
END_TEST

/* A function too large for one range: each place finds its loop, whatever was read before. */
START_TEST(large_function)
{
	struct operand_decoder *decoder = open_loops(65536, 65536, RDI);

	for (size_t at = 0; at < 65536; at += LOOP_BYTES)
		put_loop(at, at / LOOP_BYTES % 2 ? RSI : RDI);
	srand(3);
	for (unsigned i = 0; i < 2000; i++) {
		size_t loop = (size_t)rand() % (65536 / LOOP_BYTES);

		ck_assert_uint_eq(base_at(decoder, loop * LOOP_BYTES + places[i % 4]), loop % 2 ? RSI : RDI);
	}
	operand_close(decoder);
}
END_TEST

/* A sample that lies in the middle of another's instruction: a range of its own, over the same bytes. Both
 * hold, and both go when the code changes. */
START_TEST(overlapping_ranges)
{
	/* 0: mov $0x078b48, eax; nop; 6: ret.  From 1 on: mov (rdi), rax; nop... */
	static const uint8_t both[] = { 0xb8, 0x48, 0x8b, 0x07, 0x00, 0x90, 0xc3 };
	static const uint8_t inner[] = { 0xb8, 0x48, 0x8b, 0x06, 0x90, 0x90, 0xc3 };
	struct operand_decoder *decoder = open_loops(LOOP_BYTES, LOOP_BYTES, RDI);

	memcpy(code, both, sizeof(both));
	ck_assert_uint_eq(base_at(decoder, 0), 0);
	ck_assert_int_eq(operand_price(decoder, CODE + 1), OPERAND_NEW);
	ck_assert_uint_eq(base_at(decoder, 1), RDI);
	ck_assert_int_eq(operand_price(decoder, CODE), OPERAND_KNOWN);
	ck_assert_uint_eq(base_at(decoder, 0), 0);
	memcpy(code, inner, sizeof(inner));
	let_time_pass(decoder);
	ck_assert_uint_eq(base_at(decoder, 1), RSI);
	ck_assert_uint_eq(base_at(decoder, 0), 0);
	operand_close(decoder);
}
END_TEST

/* ---- the cache by itself -------------------------------------------------------------------------------------- */

static struct range *add_range(struct cache *cache, struct range_scratch *scratch, void *arch, size_t at)
{
	struct range *range = range_create(scratch, &made, &operand_arch_native, arch, CODE + at);

	ck_assert_ptr_nonnull(range);
	cache_add_range(cache, range);
	return range;
}

/* Ranges and recipes of the largest kind: never more than is allowed, and what is used stays. */
START_TEST(memory_is_bounded)
{
	struct range_scratch *scratch = range_scratch_create();
	struct cache *cache = cache_create();
	void *arch = operand_arch_native.open();
	struct recipe *recipe = calloc(1, sizeof(*recipe) + RECIPE_FORMS * sizeof(struct form));

	ck_assert(scratch && cache && arch && recipe);
	operand_close(open_loops(sizeof(code), sizeof(code), RDI));
	recipe->operands = RECIPE_OPERANDS;
	recipe->slots = RECIPE_SLOTS;
	(void)add_range(cache, scratch, arch, 4096);
	for (size_t at = 8192; at + 8192 < sizeof(code); at += 4096) {
		struct range *range = add_range(cache, scratch, arch, at);

		for (unsigned i = 0; i < range->places; i++) {
			uint64_t ip = range->start + range->place[i].at;
			unsigned place;

			(void)range_insn(range, i);
			if (!cache_find(cache, ip))
				ck_assert_ptr_nonnull(cache_add(cache, range, ip, recipe));
			ck_assert_uint_le(cache_bytes(cache), CACHE_BYTES);
			ck_assert_ptr_nonnull(cache_range(cache, CODE + 4096, &place));
		}
	}
	cache_destroy(cache);
	range_scratch_destroy(scratch);
	operand_arch_native.close(arch);
	free(recipe);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("operand_cache");
	TCase *tcase = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, neighbours_share_code);
	tcase_add_test(tcase, replaced_code_is_noticed);
	tcase_add_test(tcase, same_code_is_kept);
	tcase_add_test(tcase, unloaded_and_loaded);
	tcase_add_test(tcase, many_functions);
	tcase_add_test(tcase, large_function);
	tcase_add_test(tcase, overlapping_ranges);
	tcase_add_test(tcase, memory_is_bounded);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
