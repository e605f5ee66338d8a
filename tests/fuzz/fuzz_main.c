/* In libFuzzer's place, for `make check`: each file of the corpus as it is, cut short, and with bytes changed by chance, the same
 * chance each time.
 * usage: fuzz_X [--tries N] FILE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { BYTES_MOST = 1 << 20, TRIES = 60, CHANGES_MOST = 8 };

static uint64_t state;

/* splitmix64 */
static uint64_t chance(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* In memory of just that size, so that a sanitizer sees a step beyond it. */
static void give(const uint8_t *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);
	if (!copy) exit(99);
	memcpy(copy, bytes, n);
	LLVMFuzzerTestOneInput(copy, n);
	free(copy);
}

static void change(const uint8_t *bytes, size_t n)
{
	static uint8_t other[BYTES_MOST];
	memcpy(other, bytes, n);
	for (uint64_t k = 1 + chance() % CHANGES_MOST; n && k; k--) {
		size_t at = chance() % n;
		switch (chance() % 4) {
		case 0: other[at] = (uint8_t)chance(); break;
		case 1: other[at] ^= (uint8_t)(1 << chance() % 8); break;
		case 2: other[at] = other[chance() % n]; break;
		default: memmove(other + at, other + at + 1, n - at - 1); n--; break;
		}
	}
	give(other, n);
}

static void play(const char *name, unsigned long tries)
{
	static uint8_t bytes[BYTES_MOST];
	FILE *in = fopen(name, "rbe");
	if (!in) {
		perror(name);
		exit(99);
	}
	size_t n = fread(bytes, 1, sizeof bytes, in);
	fclose(in);
	give(bytes, n);
	for (unsigned long i = 0; i < tries; i++) {
		give(bytes, chance() % (n + 1));
		change(bytes, n);
	}
}

int main(int argc, char **argv)
{
	unsigned long tries = TRIES;
	int i = 1;
	if (argc > 2 && !strcmp(argv[1], "--tries")) {
		tries = strtoul(argv[2], NULL, 10);
		i = 3;
	}
	int files = argc - i;
	for (; i < argc; i++) play(argv[i], tries);
	printf("%d files, %lu tries with each\n", files, tries);
	return 0;
}
