/* Reads a recorded corpus of loops (see record) from the standard input, and asks the decoder at each sample
 * what is touched there: it must be arrays that the loop's kernel works on. Reads the builds of one
 * architecture, the one it is compiled for, on a machine of any.
 *
 * Prints a line for each build, and one for each loop that is wrong:
 *   build loops right samples hit% wrong% gathers
 * and fails if fewer than RIGHT_LEAST of all loops are right. */
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys/operand_insn.h"

static const double RIGHT_LEAST = 97; /* per cent of the loops, and of the samples */

#if REGS_ARM64
static const char ARCH[] = "arm64";
#else
static const char ARCH[] = "x86";
#endif

enum { LINE_MOST = 1 << 16, PIECES_MOST = 1024, FUNCTIONS_MOST = 512, WORDS_MOST = 8192, NAME_MOST = 64,
       NOISE = 50000 };

/* What is recorded of a build. */
static struct {
	char name[NAME_MOST];
	bool ours;
	struct { uint64_t start; unsigned bytes; uint8_t *code; } piece[PIECES_MOST]; /* of code; small: a pointer */
	struct { uint64_t start, end; } function[FUNCTIONS_MOST];
	uint64_t fixed_start, fixed_end;
	unsigned pieces, functions;
	struct { uint64_t at, value; } word[WORDS_MOST]; /* of the stack */
	unsigned words;
	struct operand_decoder *decoder;
	const struct kernel *kernel;
	struct tally tally; /* of the loop */
} build;

struct sums {
	unsigned loops, right;
	double samples, gathers, hit, wrong;
};

static struct data data;
static struct sums of_build, of_all;

/* ---- memory, as it was ---------------------------------------------------------------------------------- */

static const uint8_t *code_at(uint64_t at)
{
	for (unsigned i = 0; i < build.pieces; i++)
		if (at - build.piece[i].start < build.piece[i].bytes)
			return build.piece[i].code + (at - build.piece[i].start);
	return NULL;
}

static const uint8_t *stack_at(uint64_t at)
{
	for (unsigned i = 0; i < build.words; i++)
		if (at - build.word[i].at < 8)
			return (const uint8_t *)&build.word[i].value + (at - build.word[i].at);
	return NULL;
}

static bool read_piece(const struct operand_piece *piece)
{
	uint8_t *to = piece->to;

	if (array_of(piece->from) != ARRAYS && array_of(piece->from + piece->bytes - 1) != ARRAYS) {
		memcpy(to, (const void *)(uintptr_t)piece->from, piece->bytes);
		return true;
	}
	for (size_t i = 0; i < piece->bytes; i++) {
		const uint8_t *from = code_at(piece->from + i);

		if (!from)
			from = stack_at(piece->from + i);
		if (!from)
			return false;
		to[i] = *from;
	}
	return true;
}

static unsigned read_recorded(void *arg, const struct operand_piece *pieces, unsigned count)
{
	unsigned whole = 0;

	(void)arg;
	while (whole < count && read_piece(&pieces[whole]))
		whole++;
	return whole;
}

static int function_recorded(void *arg, uint64_t ip, struct operand_function *function)
{
	(void)arg;
	function->fixed_start = build.fixed_start;
	function->fixed_end = build.fixed_end;
	for (unsigned i = 0; i < build.functions; i++)
		if (ip - build.function[i].start < build.function[i].end - build.function[i].start) {
			function->start = build.function[i].start;
			function->end = build.function[i].end;
			return 0;
		}
	return -1;
}

/* ---- the sums ---------------------------------------------------------------------------------------------- */

static void end_loop(void)
{
	double hit, wrong;
	const char *verdict;

	if (!build.kernel)
		return;
	verdict = tally_verdict(build.kernel, &build.tally, &hit, &wrong);
	of_build.loops++;
	if (strcmp(verdict, "ok") == 0)
		of_build.right++;
	else
		printf("# %s %s: %s, %.0f samples, %.1f hit, %.1f wrong, %.1f elsewhere, %.0f unresolved\n", build.name,
		       build.kernel->name, verdict, build.tally.samples, hit, wrong, build.tally.elsewhere, build.tally.unresolved);
	of_build.samples += build.tally.samples;
	of_build.gathers += build.tally.gathers;
	of_build.hit += hit;
	of_build.wrong += wrong + build.tally.elsewhere;
	build.kernel = NULL;
}

static void print_sums(const char *name, const struct sums *s)
{
	double base = (s->samples - s->gathers) / 100;

	if (s->loops)
		printf("%s\t%u\t%u\t%.0f\t%.2f\t%.2f\t%.0f\n", name, s->loops, s->right, s->samples, s->hit / base, s->wrong / base,
		       s->gathers);
}

static void end_build(void)
{
	end_loop();
	print_sums(build.name, &of_build);
	of_all.loops += of_build.loops;
	of_all.right += of_build.right;
	of_all.samples += of_build.samples;
	of_all.gathers += of_build.gathers;
	of_all.hit += of_build.hit;
	of_all.wrong += of_build.wrong;
	memset(&of_build, 0, sizeof(of_build));
	for (unsigned i = 0; i < build.pieces; i++)
		free(build.piece[i].code);
	operand_close(build.decoder);
	memset(&build, 0, sizeof(build));
}

/* ---- the record --------------------------------------------------------------------------------------------- */

static void broken(const char *line)
{
	fprintf(stderr, "corpus: not understood: %.60s\n", line);
	exit(99);
}

static void begin_build(const char *line)
{
	struct operand_code code = { read_recorded, function_recorded, NULL };
	char arch[NAME_MOST];

	end_build();
	if (sscanf(line, "B %63s %63s", build.name, arch) != 2)
		broken(line);
	build.ours = strcmp(arch, ARCH) == 0;
	if (build.ours && operand_open(&code, &build.decoder)) {
		fprintf(stderr, "corpus: no decoder for %s\n", ARCH);
		exit(99);
	}
}

static void begin_loop(const char *name)
{
	end_loop();
	build.words = 0;
	memset(&build.tally, 0, sizeof(build.tally));
	for (unsigned i = 0; i < kernel_count; i++)
		if (strncmp(kernels[i].name, name, strcspn(name, "\n")) == 0 && strlen(kernels[i].name) == strcspn(name, "\n"))
			build.kernel = &kernels[i];
	if (!build.kernel)
		broken(name);
}

static void take_code(char *rest)
{
	uint64_t start = strtoull(rest, &rest, 16);
	unsigned bytes = (unsigned)strcspn(++rest, "\n") / 2;
	uint8_t *code = malloc(bytes);

	if (!code || build.pieces == PIECES_MOST)
		broken("too much code");
	for (unsigned i = 0; i < bytes; i++) {
		const char digits[3] = { rest[2 * i], rest[2 * i + 1], '\0' };

		code[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	build.piece[build.pieces].start = start;
	build.piece[build.pieces].bytes = bytes;
	build.piece[build.pieces++].code = code;
}

static void take_words(char *rest)
{
	while (*rest == ' ') {
		uint64_t at = strtoull(rest, &rest, 16), value = strtoull(rest, &rest, 16);
		unsigned i = 0;

		while (i < build.words && build.word[i].at != at)
			i++;
		if (i == WORDS_MOST)
			broken("too much stack");
		build.word[i].at = at;
		build.word[i].value = value;
		build.words += i == build.words;
	}
}

/* A variable that holds a pointer to an array is read by a loop that finds its array by it: no array, but
 * nothing wrong. */
static unsigned drop_variables(uint64_t addrs[], unsigned count)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned k = 0;

		while (k < build.pieces && (build.piece[k].bytes > sizeof(void *) || addrs[i] - build.piece[k].start >= sizeof(void *)))
			k++;
		if (k == build.pieces)
			addrs[kept++] = addrs[i];
	}
	return kept;
}

static void take_sample(char *rest)
{
	struct operand_counts before, after;
	struct regs regs = { .ip = strtoull(rest, &rest, 16) };
	uint64_t addrs[OPERAND_MOST];
	unsigned count;

	for (unsigned r = 0; r < GPRS; r++)
		regs.gpr[r] = strtoull(rest, &rest, 16);
	operand_counts(build.decoder, &before);
	count = operand_resolve(build.decoder, &regs, addrs, OPERAND_MOST);
	operand_counts(build.decoder, &after);
	count = drop_variables(addrs, count);
	tally_add(&build.tally, addrs, count, after.gather > before.gather);
	if (!getenv("CHECK_SHOW"))
		return;
	printf("# %s %s ip %llx:", build.name, build.kernel->name, (unsigned long long)regs.ip);
	for (unsigned i = 0; i < count; i++)
		printf(" %llx(%u)", (unsigned long long)addrs[i], array_of(addrs[i]));
	printf("\n");
}

static void take_range(char kind, char *rest)
{
	uint64_t start = strtoull(rest, &rest, 16), end = strtoull(rest, &rest, 16);

	if (kind == 'X') {
		build.fixed_start = start;
		build.fixed_end = end;
		return;
	}
	if (build.functions == FUNCTIONS_MOST)
		broken("too many functions");
	build.function[build.functions].start = start;
	build.function[build.functions++].end = end;
}

static void take_line(char *line)
{
	char *rest = line + 1;

	if (*line == 'B')
		begin_build(line);
	else if (!build.ours)
		return;
	else if (*line == 'F' || *line == 'X')
		take_range(*line, rest);
	else if (*line == 'C')
		take_code(rest);
	else if (*line == 'L')
		begin_loop(rest + 1);
	else if (*line == 'M')
		take_words(rest);
	else if (*line == 'S')
		take_sample(rest);
	else
		broken(line);
}

/* Bytes that are no code, or cut off: whatever comes of it, nothing breaks. */
static void decode_noise(void)
{
	void *arch = operand_arch_native.open();
	uint64_t noise = 88172645463325252u;

	for (unsigned i = 0; arch && i < NOISE; i++) {
		struct outline outline;
		struct insn insn;
		uint8_t bytes[16];

		for (unsigned k = 0; k < sizeof(bytes); k += sizeof(noise)) {
			noise ^= noise << 13;
			noise ^= noise >> 7;
			noise ^= noise << 17;
			memcpy(bytes + k, &noise, sizeof(noise));
		}
		(void)operand_arch_native.outline(arch, bytes, i % (sizeof(bytes) + 1), &outline);
		if (operand_arch_native.decode(arch, bytes, i % (sizeof(bytes) + 1), noise, &insn) && insn.mems > INSN_MEMS)
			broken("noise with too many operands");
	}
	if (arch)
		operand_arch_native.close(arch);
}

int main(void)
{
	static char line[LINE_MOST];
	double base;

	decode_noise();

	data_create(&data, CORPUS_ELEMENTS, CORPUS_START);
	while (fgets(line, sizeof(line), stdin))
		take_line(line);
	end_build();
	print_sums(ARCH, &of_all);
	base = of_all.samples - of_all.gathers;
	if (of_all.loops == 0) {
		fprintf(stderr, "corpus: no loops of %s\n", ARCH);
		return 99;
	}
	return of_all.right * 100.0 < RIGHT_LEAST * of_all.loops || 100 * of_all.hit < RIGHT_LEAST * base;
}
