/* zero: threads write zeros over their memory again and again: numa01, numa01_THREAD_ALLOC, numa02 and their like, from
 * the description of Arcangeli's benchmarks, and the rows of partial load.
 *
 *     zero -p 2 -t 4 --shared    numa01: two processes, all threads of a process zero all of one buffer
 *     zero -p 2 -t 4             numa01_THREAD_ALLOC: each thread its own
 *     zero -p 1 -t 8             numa02: one process, each thread its own slice of one buffer
 *
 * -k is the memory of a process. A unit of work is a KiB. */
#define _GNU_SOURCE
#include "bench.h"

#include <string.h>

enum { PIECE = 32 << 10 }; /* written between two looks at the clock: a few ms in the emulated machine, and twice its cache */

static size_t bytes_of(const struct bench_options *options)
{
	return options->kib << 10;
}

/* Slice T of N of the process' memory, whole pieces. */
static char *slice(const struct bench_worker *worker, size_t *bytes)
{
	size_t pieces = bytes_of(worker->options) / PIECE, n = worker->options->threads, t = worker->thread;
	size_t first = worker->options->shared ? 0 : pieces * t / n, end = worker->options->shared ? pieces : pieces * (t + 1) / n;

	*bytes = (end - first) * PIECE;
	return (char *)worker->memory + first * PIECE;
}

/* A shared buffer belongs to all the nodes of its process' threads. */
static unsigned long nodes_of_process(const struct bench_options *options, unsigned process)
{
	unsigned all = options->processes * options->threads;
	unsigned long nodes = 0;

	for (unsigned t = 0; t < options->threads; t++)
		nodes |= 1ul << bench_memory_node(options->bind,
		                                  bench_cpu_of(options->bind, process * options->threads + t, all));
	return nodes;
}

static void *prepare(const struct bench_options *options, unsigned process)
{
	char *memory = bench_map(bytes_of(options), options);

	if (options->bind != BENCH_NONE && options->shared)
		bench_memory_to(memory, bytes_of(options), nodes_of_process(options, process));
	if (options->bind == BENCH_NONE ? !options->parallel_touch : options->shared)
		memset(memory, 1, bytes_of(options));
	return memory;
}

static void touch(struct bench_worker *worker)
{
	enum bench_bind bind = worker->options->bind;
	size_t bytes;
	char *mine = slice(worker, &bytes);

	if (worker->options->shared)
		return;
	if (bind != BENCH_NONE)
		bench_memory_to(mine, bytes, 1ul << bench_memory_node(bind, bench_cpu_of(bind, worker->i, worker->all)));
	if (bind != BENCH_NONE || worker->options->parallel_touch)
		memset(mine, 1, bytes);
}

/* About so many instructions that touch no memory. */
static void compute(unsigned instructions)
{
	for (unsigned i = 0; i < instructions / 2; i++)
		__asm__ volatile("" ::: "memory");
}

static void zero(char *piece, unsigned instructions)
{
	if (instructions == 0) {
		memset(piece, 0, PIECE);
		__asm__ volatile("" ::"r"(piece) : "memory");
		return;
	}
	for (size_t line = 0; line < PIECE; line += 64) {
		*(volatile long *)(void *)(piece + line) = 0;
		compute(instructions);
	}
}

static uint64_t work(struct bench_worker *worker, uint64_t round)
{
	size_t bytes;
	char *mine = slice(worker, &bytes);
	uint64_t pieces = bytes / PIECE;

	/* Those who share a buffer begin at different places: else all would ask the same node at once */
	zero(mine + (round + worker->thread * pieces / worker->options->threads) % pieces * PIECE, worker->options->compute);
	return PIECE >> 10;
}

int main(int argc, char **argv)
{
	static const struct bench_work zeroing = { prepare, touch, work };
	struct bench_options options = bench_options(argc, argv, (struct bench_options){ .processes = 1, .kib = 8192, .seconds = 9 },
	                                             "threads write zeros over their memory again and again");

	if (bytes_of(&options) / PIECE < options.threads)
		options.kib = options.threads * (PIECE >> 10);
	return bench_run(&options, &zeroing);
}
