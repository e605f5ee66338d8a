/* What it costs to find the operands of a sample: at the first place of a loop, when nothing is known of
 * its code; at the loop's other places after it; and at places that are known. The kernels of
 * tests/operand are the code.
 *
 *   operand_bench [ROUNDS]   nanoseconds a sample, each the mean over the kernels of the least of the rounds,
 *                            and a hash of all addresses: two decoders that print the same hash agree
 *
 * One round of it under callgrind counts instructions and cache misses; operand_bench.sh does. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"
#include "sys/operand.h"
#include "sys/operand_insn.h"

enum { PLACES = 20, KERNELS = 64, FUNCTION_BYTES = 4096, FRAME_WORDS = 64 };

/* Instructions of the kernel's innermost loop that touches memory. */
struct loop {
	const char *name;
	uint64_t place[PLACES];
	unsigned places;
};

struct figures {
	double first, other, known;
};

static uint64_t frame[FRAME_WORDS];

/* ---- where samples fall ------------------------------------------------------------------------------------ */

static unsigned read_code(uint64_t from, uint8_t *to, uint64_t end)
{
	struct operand_piece piece = { from, to, end - from };

	return end - from <= FUNCTION_BYTES && operand_code_self.read(NULL, &piece, 1) == 1 ? (unsigned)(end - from) : 0;
}

/* Cuts a function into instructions; returns how many there are. */
static unsigned cut(void *arch, uint64_t ip, struct operand_function *function, uint64_t at[FUNCTION_BYTES],
                    struct outline outline[FUNCTION_BYTES])
{
	uint8_t code[FUNCTION_BYTES];
	unsigned bytes, count = 0;

	if (operand_code_self.function(NULL, ip, function) || !(bytes = read_code(function->start, code, function->end)))
		return 0;
	for (unsigned i = 0; i < bytes && operand_arch_native.outline(arch, code + i, bytes - i, &outline[count]); count++) {
		at[count] = function->start + i;
		i += outline[count].bytes;
	}
	return count;
}

/* The kernel proper: what the function that sets it up calls or jumps to last, in this program. */
static uint64_t kernel_of(void *arch, uint64_t run)
{
	static struct outline outline[FUNCTION_BYTES];
	static uint64_t at[FUNCTION_BYTES];
	struct operand_function own, other;
	uint64_t kernel = run;
	unsigned count = cut(arch, run, &own, at, outline);

	for (unsigned i = 0; i < count; i++) {
		const uint8_t *code = (const uint8_t *)(uintptr_t)at[i];
		int32_t offset;

		if (outline[i].bytes != 5 || (code[0] != 0xe8 && code[0] != 0xe9))
			continue;
		memcpy(&offset, code + 1, sizeof(offset));
		if (!operand_code_self.function(NULL, at[i] + 5 + (uint64_t)(int64_t)offset, &other) &&
		    other.fixed_start == own.fixed_start)
			kernel = other.start;
	}
	return kernel;
}

static void find_loop(void *arch, uint64_t kernel, struct loop *loop)
{
	static struct outline outline[FUNCTION_BYTES];
	static uint64_t at[FUNCTION_BYTES];
	struct operand_function function;
	unsigned count = cut(arch, kernel, &function, at, outline), best = 0;

	for (unsigned edge = 0; edge < count; edge++) {
		uint64_t target = at[edge] + outline[edge].bytes + (uint64_t)(int64_t)outline[edge].jump;
		unsigned head = edge, mems = 0;

		if (!outline[edge].direct || target > at[edge] || target < function.start)
			continue;
		while (head > 0 && at[head] > target) {
			struct insn insn;

			head--;
			mems += operand_arch_native.decode(arch, (const uint8_t *)(uintptr_t)at[head], outline[head].bytes, at[head],
			                                   &insn) && insn.mems;
		}
		if (mems == 0 || edge - head < best)
			continue;
		best = edge - head;
		loop->places = 0;
		for (unsigned i = head; i <= edge && loop->places < PLACES; i++)
			loop->place[loop->places++] = at[i];
	}
}

static unsigned find_loops(struct loop loops[KERNELS])
{
	void *arch = operand_arch_native.open();
	unsigned count = 0;

	for (unsigned i = 0; arch && i < kernel_count && count < KERNELS; i++) {
		struct loop loop = { .name = kernels[i].name };

		find_loop(arch, kernel_of(arch, (uint64_t)(uintptr_t)kernels[i].run), &loop);
		if (loop.places > 1)
			loops[count++] = loop;
	}
	if (arch)
		operand_arch_native.close(arch);
	return count;
}

/* ---- resolving ------------------------------------------------------------------------------------------------- */

/* Registers that are far apart; the stack is real, and no return address lies on it. */
static struct regs registers(uint64_t ip)
{
	struct regs regs = { .ip = ip };

	for (unsigned r = 0; r < GPRS; r++)
		regs.gpr[r] = (uint64_t)(r + 1) << 32;
	regs.gpr[GPR_SP] = (uint64_t)(uintptr_t)&frame[FRAME_WORDS / 4];
	return regs;
}

static void resolve(struct operand_decoder *decoder, uint64_t ip, uint64_t *hash)
{
	struct regs regs = registers(ip);
	uint64_t addrs[OPERAND_MOST];
	unsigned count = operand_resolve(decoder, &regs, addrs, OPERAND_MOST);

	for (unsigned i = 0; i < count; i++) /* each address by its distance from the code and frame that move */
		if (addrs[i] >> 32 << 32 == addrs[i] || addrs[i] >> 32 <= GPRS + 1)
			*hash = (*hash ^ addrs[i]) * UINT64_C(0x100000001b3);
	*hash = (*hash ^ count) * UINT64_C(0x100000001b3);
}

/* Three functions, so that callgrind can tell them apart. */
__attribute__((noinline)) static void resolve_first(struct operand_decoder *d, const struct loop *loop, uint64_t *hash)
{
	resolve(d, loop->place[loop->places / 2], hash);
}

__attribute__((noinline)) static void resolve_other(struct operand_decoder *d, const struct loop *loop, uint64_t *hash)
{
	for (unsigned i = 0; i < loop->places; i++)
		if (i != loop->places / 2)
			resolve(d, loop->place[i], hash);
}

__attribute__((noinline)) static void resolve_known(struct operand_decoder *d, const struct loop *loop, uint64_t *hash)
{
	for (unsigned i = 0; i < loop->places; i++)
		resolve(d, loop->place[i], hash);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double timed(void (*part)(struct operand_decoder *, const struct loop *, uint64_t *),
                    struct operand_decoder *decoder, const struct loop *loop, unsigned samples, uint64_t *hash)
{
	double begin = now_ns();

	part(decoder, loop, hash);
	return (now_ns() - begin) / samples;
}

static void keep_least(double *least, double now)
{
	if (now < *least)
		*least = now;
}

static void measure(const struct loop *loop, struct figures *least, uint64_t *hash)
{
	struct operand_decoder *decoder;

	if (operand_open(&operand_code_self, &decoder))
		exit(99);
	resolve(decoder, (uint64_t)(uintptr_t)&now_ns, &(uint64_t){ 0 }); /* what a decoder does once is done */
	keep_least(&least->first, timed(resolve_first, decoder, loop, 1, hash));
	keep_least(&least->other, timed(resolve_other, decoder, loop, loop->places - 1, hash));
	keep_least(&least->known, timed(resolve_known, decoder, loop, loop->places, hash));
	operand_close(decoder);
}

int main(int argc, char **argv)
{
	static struct loop loops[KERNELS];
	static struct figures least[KERNELS];
	struct figures mean = { 0, 0, 0 };
	unsigned count = find_loops(loops), places = 0;
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 0; i < count; i++)
		least[i] = (struct figures){ DBL_MAX, DBL_MAX, DBL_MAX };
	for (int round = 0; round < rounds; round++) {
		hash = UINT64_C(0xcbf29ce484222325);
		for (unsigned i = 0; i < count; i++)
			measure(&loops[i], &least[i], &hash);
	}
	for (unsigned i = 0; i < count; i++) {
		mean.first += least[i].first / count;
		mean.other += least[i].other / count;
		mean.known += least[i].known / count;
		places += loops[i].places;
	}
	if (count == 0)
		return 77;
	printf("%.0f %.0f %.0f %u %u %016llx\n", mean.first, mean.other, mean.known, count, places, (unsigned long long)hash);
	return 0;
}
