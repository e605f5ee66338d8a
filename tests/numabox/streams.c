/* streams: measures the timing model from inside the machine, for selftest. Each case prints a line
 *     NAME VALUE LATE_PERMILLE TRIES
 * where VALUE is microseconds for each line read, or a share per mille of the lines, by the model's own account.
 * Measurements for which the host was too busy (late_permille above 60) are repeated, three times in all.
 *
 *     streams          speeds, in numabox's default machine, where CPU c lies in node c / 2
 *     streams NODES [far]   does the model know which node's memory is which, in any machine of that many nodes with memory;
 *                      and how long is a line of the last one's for CPU 0
 *
 * Placement is by raw system calls: no library to install. */
#define _GNU_SOURCE
#include "mark.h"

#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	CPUS_PER_NODE = 2,
	THREADS_MOST = 8,
	NODES_MOST = 16,
	LINE = 64,
	BUFFER = 2 << 20,   /* far above the model's cache of 16 KiB */
	BATCH = 2048,       /* lines between two looks at the clock, which cost a few misses themselves */
	PAIR_LINES = 81920, /* for each of the two processes */
	LATE_MOST = 60,     /* per mille: above, the figures do not count */
	TRIES = 3,
};
#define WARMUP_S 0.5 /* the queue needs some windows of 10 ms to settle */
#define MEASURE_S 2.0

#define die(what)                                                                                                                  \
	do {                                                                                                                       \
		perror(what);                                                                                                      \
		exit(1);                                                                                                           \
	} while (0)

struct stream {
	int cpu, node;
	double us_per_line;
	pthread_barrier_t *ready;
};

struct lap {
	double local_permille, late_permille, served[NODES_MOST];
};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set))
		die("sched_setaffinity");
}

/* Binds a buffer to a node, and moves it there if it lies elsewhere. */
static void bind_to(char *buffer, int node)
{
	unsigned long mask = 1ul << node;

	if (syscall(SYS_mbind, buffer, BUFFER, MPOL_BIND, &mask, 8 * sizeof mask, MPOL_MF_MOVE))
		die("mbind");
}

static char *memory_on(int node)
{
	char *p = mmap(NULL, BUFFER, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	bind_to(p, node);
	memset(p, 1, BUFFER);
	return p;
}

/* Reads one line by one instruction. */
#define READ(p) __asm__ volatile("movq %1, %0" : "=r"(value) : "m"(*(const unsigned long *)(p)))

/* Reads a batch of lines from an offset, a multiple of the batch. */
static void read_batch(const char *buffer, size_t offset)
{
	const char *p = buffer + offset % BUFFER, *end = p + BATCH * LINE;
	unsigned long value;

	for (; p < end; p += 8 * LINE) {
		READ(p);
		READ(p + LINE);
		READ(p + 2 * LINE);
		READ(p + 3 * LINE);
		READ(p + 4 * LINE);
		READ(p + 5 * LINE);
		READ(p + 6 * LINE);
		READ(p + 7 * LINE);
	}
}

static void *stream(void *arg)
{
	struct stream *s = arg;

	pin(s->cpu);
	char *buffer = memory_on(s->node);
	size_t offset = 0, from = 0;

	pthread_barrier_wait(s->ready); /* all have their memory: the main thread turns the model on */
	pthread_barrier_wait(s->ready);
	double begin = seconds(), since = 0, t;

	while ((t = seconds()) < begin + WARMUP_S + MEASURE_S) {
		if (!since && t > begin + WARMUP_S) {
			since = t;
			from = offset;
		}
		read_batch(buffer, offset);
		offset += BATCH * LINE;
	}
	s->us_per_line = (t - since) * 1e6 * LINE / (double)(offset - from);
	munmap(buffer, BUFFER);
	return NULL;
}

/* Ends a measurement: what the model said of it, in the file that numabox shows in the machine. */
static struct lap end_lap(void)
{
	struct lap lap = { .late_permille = 1000 };
	char line[1000], *p = NULL;
	FILE *f;

	NUMABOX_LAP();
	NUMABOX_OFF();
	f = fopen("/run/numabox/model", "r");
	if (!f)
		die("/run/numabox/model (is this numabox -M?)");
	while (fgets(line, sizeof line, f)) {
		if (strncmp(line, "model lap:", 10) || !(p = strstr(line, "local_permille")))
			continue;
		sscanf(p, "local_permille %lf late_permille %lf", &lap.local_permille, &lap.late_permille);
		p = strstr(p, "served") + strlen("served");
		for (int n = 0; n < NODES_MOST; n++)
			lap.served[n] = strtod(p, &p);
	}
	fclose(f);
	return lap;
}

/* COUNT streams, stream i on CPU i, its memory on its own node, or all of it on ONE_NODE: the mean time for a line. */
static struct lap run_streams(int count, int one_node, double *us_per_line)
{
	struct lap lap;
	struct stream s[THREADS_MOST];
	pthread_t thread[THREADS_MOST];
	pthread_barrier_t ready;
	double rate = 0;

	pthread_barrier_init(&ready, NULL, (unsigned)count + 1);
	for (int i = 0; i < count; i++) {
		s[i] = (struct stream){ .cpu = i, .node = one_node < 0 ? i / CPUS_PER_NODE : one_node, .ready = &ready };
		if (pthread_create(&thread[i], NULL, stream, &s[i]))
			die("pthread_create");
	}
	pthread_barrier_wait(&ready);
	NUMABOX_ON();
	pthread_barrier_wait(&ready);
	for (int i = 0; i < count; i++) {
		pthread_join(thread[i], NULL);
		rate += 1 / s[i].us_per_line;
	}
	lap = end_lap();
	pthread_barrier_destroy(&ready);
	*us_per_line = count / rate;
	return lap;
}

static void read_lines_of(int node, int ready, int go)
{
	char c = 0;

	pin(0);
	char *buffer = memory_on(node);

	if (write(ready, &c, 1) != 1 || read(go, &c, 1) < 0)
		_exit(1);
	for (size_t i = 0; i < PAIR_LINES / BATCH; i++)
		read_batch(buffer, i * BATCH * LINE);
	_exit(0);
}

/* Two processes of equal work on CPU 0, at equal addresses, one with local and one with remote memory: what the model takes
 * one's addresses for must not leak into the other's. */
static struct lap run_pair(void)
{
	struct lap lap;
	int ready[2], go[2], failed = 0;
	char c[2];

	if (pipe(ready) || pipe(go))
		die("pipe");
	for (int node = 0; node < 2; node++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			close(go[1]);
			read_lines_of(node, ready[1], go[0]);
		}
	}
	for (int i = 0; i < 2; i++)
		if (read(ready[0], c + i, 1) != 1)
			die("read");
	NUMABOX_ON();
	close(go[1]);
	for (int i = 0, status; i < 2; i++)
		failed |= wait(&status) < 0 || status;
	lap = end_lap();
	if (failed)
		die("a process of the pair");
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	return lap;
}

/* One process on CPU 0 reads memory of each node, then has it moved to the next node and reads it again: the least share of
 * the lines that the right node served. */
static struct lap run_nodes(int nodes, double *permille)
{
	struct lap lap = { 0 };
	char *buffer = memory_on(0);

	pin(0);
	*permille = 1000;
	for (int node = 0; node <= nodes; node++) {
		double all = 0;

		bind_to(buffer, node % nodes);
		usleep(30000); /* the model remembers a page's node for 20 ms */
		NUMABOX_ON();
		for (size_t offset = 0; offset < BUFFER; offset += BATCH * LINE)
			read_batch(buffer, offset);
		lap = end_lap();
		for (int n = 0; n < NODES_MOST; n++)
			all += lap.served[n];
		if (*permille > 1000 * lap.served[node % nodes] / all)
			*permille = 1000 * lap.served[node % nodes] / all;
	}
	munmap(buffer, BUFFER);
	return lap;
}

struct test {
	const char *name;
	enum { STREAMS, PAIR, NODES } kind;
	int count; /* of streams or nodes */
	int one_node;
};

static struct lap run(const struct test *t, double *value)
{
	struct lap lap;

	switch (t->kind) {
	case STREAMS:
		return run_streams(t->count, t->one_node, value);
	case NODES:
		return run_nodes(t->count, value);
	case PAIR:
	default:
		lap = run_pair();
		*value = lap.local_permille;
		return lap;
	}
}

static void measure(const struct test *t)
{
	struct lap lap;
	double value = 0;
	int tries = 0;

	do {
		lap = run(t, &value);
	} while (++tries < TRIES && lap.late_permille > LATE_MOST);
	printf("%s %.2f %.0f %d\n", t->name, value, lap.late_permille, tries);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct test speeds[] = {
		{ "local1", STREAMS, 1, 0 }, { "remote1", STREAMS, 1, 1 }, { "local8", STREAMS, 8, -1 },
		{ "node8", STREAMS, 8, 0 },  { "pair", PAIR, 0, 0 },
	};

	NUMABOX_OFF();
	if (argc > 1) {
		struct test nodes = { "nodes", NODES, atoi(argv[1]), 0 };

		struct test far = { "far1", STREAMS, 1, nodes.count - 1 };

		measure(&nodes);
		if (argc > 2)
			measure(&far);
		return 0;
	}
	for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		measure(&speeds[i]);
	return 0;
}
