/* transact: transactions as a server in Java makes them: each thread has a heap of its own, where objects are made one
 * after the other until it is full and begins anew, and all threads read, and sometimes change, rows of shared tables. The
 * first thread makes heaps and tables, as such a server does at its start. A unit of work is a transaction. */
#define _GNU_SOURCE
#include "bench.h"

#include <string.h>

enum {
	HEAP = 512 << 10,  /* of a thread */
	OBJECTS = 12,      /* of a transaction */
	OBJECT = 1024,
	ROW = 128,
	ROWS_READ = 24,
	CHANGE_EVERY = 8,  /* rows read */
	BATCH = 8,         /* transactions between two looks at the clock */
};

static size_t table_bytes(const struct bench_options *options)
{
	return options->kib << 10;
}

static char *heap_of(const struct bench_worker *worker)
{
	return (char *)worker->memory + table_bytes(worker->options) + (size_t)HEAP * worker->thread;
}

static void *prepare(const struct bench_options *options, unsigned process)
{
	size_t bytes = table_bytes(options) + (size_t)HEAP * options->threads;
	char *memory = bench_map(bytes, options);
	unsigned long nodes = 0;

	(void)process;
	for (unsigned i = 0; options->bind != BENCH_NONE && i < bench_machine.nodes; i++)
		nodes |= 1ul << bench_machine.node_os[i];
	bench_memory_to(memory, table_bytes(options), nodes);
	memset(memory, 1, options->bind == BENCH_NONE ? bytes : table_bytes(options));
	return memory;
}

static void touch(struct bench_worker *worker)
{
	enum bench_bind bind = worker->options->bind;

	if (bind == BENCH_NONE)
		return;
	bench_memory_to(heap_of(worker), HEAP, 1ul << bench_memory_node(bind, bench_cpu_of(bind, worker->i, worker->all)));
	memset(heap_of(worker), 1, HEAP);
}

static void transaction(char *table, size_t rows, char *heap, size_t *at, uint64_t *state)
{
	for (unsigned i = 0; i < ROWS_READ; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;

		volatile long *row = (volatile long *)(void *)(table + (*state >> 33) % rows * ROW);

		if (i % CHANGE_EVERY == 0)
			row[1] = row[0] + 1;
		else
			(void)row[0];
	}
	for (unsigned i = 0; i < OBJECTS; i++) {
		memset(heap + *at, (int)i, OBJECT);
		__asm__ volatile("" ::"r"(heap) : "memory");
		*at = (*at + OBJECT) % HEAP;
	}
}

static uint64_t work(struct bench_worker *worker, uint64_t round)
{
	static _Thread_local size_t at;
	static _Thread_local uint64_t state;

	if (round == 0)
		state = worker->i + 1;
	for (unsigned i = 0; i < BATCH; i++)
		transaction(worker->memory, table_bytes(worker->options) / ROW, heap_of(worker), &at, &state);
	return BATCH;
}

int main(int argc, char **argv)
{
	static const struct bench_work transacting = { prepare, touch, work };
	struct bench_options options = bench_options(argc, argv, (struct bench_options){ .processes = 1, .kib = 2048, .seconds = 9 },
	                                             "transactions on heaps of their own and shared tables (-k)");

	return bench_run(&options, &transacting);
}
