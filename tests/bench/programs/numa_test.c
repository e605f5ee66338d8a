/* numa_test: so many tasks (processes), each of which updates its own memory at random places for a fixed number of
 * times, after Focht's benchmark of that name. Prints how long all took, and of the mean task: its user time, and the
 * share of its time that it spent on the node where most of its memory was.
 *
 *     numa_test -p TASKS -k KIB_OF_A_TASK -c THOUSANDS_OF_UPDATES */
#define _GNU_SOURCE
#include "bench.h"

#include "../../numabox/mark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LINE = 64,
	PIECE = 4000, /* updates between two looks at where we are: some tens of ms in the emulated machine */
	LOOKS = 16,   /* pages asked for where most of the memory is */
	PAGE = 4096,
};

/* What the tasks tell their parent. */
static struct task {
	double user_s, here, looks;
} *told;

static struct bench_options options;

static int node_here(void)
{
	unsigned cpu = 0, node = 0;

	syscall(SYS_getcpu, &cpu, &node, NULL);
	return (int)node;
}

/* The node where most of some pages are. */
static int node_of_memory(char *memory, size_t bytes)
{
	void *pages[LOOKS];
	int nodes[LOOKS], count[BENCH_NODES_MOST] = { 0 }, best = 0;

	for (size_t i = 0; i < LOOKS; i++)
		pages[i] = memory + bytes / LOOKS * i / PAGE * PAGE;
	if (syscall(SYS_move_pages, 0, LOOKS, pages, NULL, nodes, 0) != 0)
		return -1;
	for (size_t i = 0; i < LOOKS; i++)
		if (nodes[i] >= 0 && nodes[i] < BENCH_NODES_MOST && ++count[nodes[i]] > count[best])
			best = nodes[i];
	return best;
}

static void update(char *memory, size_t lines, uint64_t *state)
{
	for (unsigned i = 0; i < PIECE; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		*(volatile long *)(void *)(memory + (*state >> 33) % lines * LINE) += 1;
	}
}

static void task(unsigned i)
{
	size_t bytes = options.kib << 10;
	unsigned pieces = options.compute * 1000 / PIECE;
	uint64_t state = i + 1;
	struct rusage usage;

	if (options.bind != BENCH_NONE)
		bench_pin(bench_cpu_of(options.bind, i, options.processes));

	char *memory = bench_map(bytes, &options);

	if (options.bind != BENCH_NONE)
		bench_memory_to(memory, bytes,
		                1ul << bench_memory_node(options.bind, bench_cpu_of(options.bind, i, options.processes)));
	memset(memory, 1, bytes);
	for (unsigned n = 0; n < pieces; n++) {
		update(memory, bytes / LINE, &state);
		told[i].here += node_of_memory(memory, bytes) == node_here();
		told[i].looks += 1;
	}
	getrusage(RUSAGE_SELF, &usage);
	told[i].user_s = (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec;
}

int main(int argc, char **argv)
{
	double begin_s, user_s = 0, here = 0, looks = 0;
	int failed = 0;

	options = bench_options(argc, argv, (struct bench_options){ .processes = 8, .threads = 1, .kib = 1024, .seconds = 1, .compute = 400 },
	                        "tasks that update their memory at random places; -c: thousands of updates");
	told = bench_map_shared(sizeof(*told) * options.processes);
	NUMABOX_ON();
	begin_s = bench_now_s();
	for (unsigned i = 0; i < options.processes; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			task(i);
			exit(0);
		}
		failed |= pid < 0;
	}
	for (;;) {
		int status;
		pid_t pid = wait(&status);

		if (pid < 0 && errno == ECHILD)
			break;
		failed |= pid > 0 && status != 0;
	}

	double took_s = bench_now_s() - begin_s;

	NUMABOX_OFF();
	for (unsigned i = 0; i < options.processes; i++) {
		user_s += told[i].user_s / options.processes;
		here += told[i].here;
		looks += told[i].looks;
	}
	printf("bench: took %.3f\nbench-more: user_s_of_a_task %.3f\nbench-more: percent_of_time_on_its_memorys_node %.1f\n", took_s, user_s,
	       looks > 0 ? 100 * here / looks : 0);
	return failed ? 2 : 0;
}
