/* allocate: processes that get memory, work on it some times and give it back, again and again: after schedbench, whose 64
 * processes allocate heavily. A unit of work is a KiB. */
#define _GNU_SOURCE
#include "bench.h"

#include <string.h>
#include <sys/mman.h>

enum {
	SIZES = 4,
	PASSES = 12, /* over each piece before it is given back */
	SMALLEST = 64 << 10,
};

/* By hand nothing more is needed than the threads' places: memory is new, and touched by who uses it. */
static void *prepare(const struct bench_options *options, unsigned process)
{
	(void)options;
	(void)process;
	return NULL;
}

static uint64_t work(struct bench_worker *worker, uint64_t round)
{
	size_t bytes = (size_t)SMALLEST << (round + worker->i) % SIZES;
	char *memory = bench_map(bytes, worker->options);

	for (int pass = 0; pass < PASSES; pass++) {
		memset(memory, pass, bytes);
		__asm__ volatile("" ::"r"(memory) : "memory");
	}
	munmap(memory, bytes);
	return PASSES * bytes >> 10;
}

int main(int argc, char **argv)
{
	static const struct bench_work allocating = { prepare, NULL, work };
	struct bench_options options = bench_options(argc, argv, (struct bench_options){ .processes = 64, .threads = 1, .kib = 1, .seconds = 9 },
	                                             "processes that allocate heavily");

	return bench_run(&options, &allocating);
}
