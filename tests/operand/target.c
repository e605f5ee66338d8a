/* What the corpus is recorded from (tests/operand/record): runs one kernel, named by the first argument, over
 * arrays at the addresses where the corpus has them, with a place to stop at before it. */
#include <string.h>

#include "corpus.h"

static struct data data;

__attribute__((noinline)) void target_begins(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	data_create(&data, CORPUS_ELEMENTS, CORPUS_START);
	for (unsigned i = 0; i < kernel_count && argc == 2; i++) {
		if (strcmp(kernels[i].name, argv[1]) != 0)
			continue;
		target_begins();
		kernels[i].run(&data);
		return 0;
	}
	return 2;
}
