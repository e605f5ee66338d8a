/* Where threads and memory are put by hand; by raw system calls, so that there is no library to install. */
#define _GNU_SOURCE
#include "bench.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct bench_machine bench_machine;
static cpu_set_t allowed;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void add_cpu(int cpu, int node)
{
	struct bench_machine *m = &bench_machine;

	if (m->cpus < BENCH_THREADS_MOST && cpu < CPU_SETSIZE && CPU_ISSET((size_t)cpu, &allowed)) {
		m->cpu[m->cpus] = cpu;
		m->node[m->cpus++] = node;
	}
}

/* "0-3,8" */
static void add_list(FILE *list, int node)
{
	int first, last;
	char between = ',';

	while (between == ',' && fscanf(list, "%d", &first) == 1) {
		last = first;
		if (fscanf(list, "%c", &between) == 1 && between == '-' && fscanf(list, "%d%c", &last, &between) < 1)
			break;
		for (int cpu = first; cpu <= last; cpu++)
			add_cpu(cpu, node);
	}
}

static void __attribute__((constructor)) read_machine(void)
{
	struct bench_machine *m = &bench_machine;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		fail("sched_getaffinity");
	for (int node = 0; node < BENCH_NODES_MOST; node++) {
		unsigned before = m->cpus;
		char path[64];
		FILE *list;

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
		list = fopen(path, "re");
		if (list == NULL)
			continue;
		add_list(list, node);
		fclose(list);
		if (m->cpus > before)
			m->node_os[m->nodes++] = node;
	}
	for (int cpu = 0; m->nodes == 0 && cpu < BENCH_THREADS_MOST; cpu++)
		add_cpu(cpu, 0);
	if (m->nodes == 0)
		m->nodes = 1;
}

/* Spread: thread i of n goes i/n of the way through the CPUs, so that neighbours share a node. Fewer threads than nodes
 * get a node each. Packed: the same on the CPUs of half as many nodes. */
unsigned bench_cpu_of(enum bench_bind bind, unsigned i, unsigned all)
{
	const struct bench_machine *m = &bench_machine;
	unsigned used = all < m->nodes ? all : m->nodes, cpus;

	if (bind != BENCH_PACK)
		return (unsigned)((uint64_t)i * m->cpus / all) % m->cpus;
	used = used > 1 ? used / 2 : 1;
	cpus = m->cpus * used / m->nodes;
	return (unsigned)((uint64_t)i * cpus / all) % cpus;
}

int bench_memory_node(enum bench_bind bind, unsigned cpu)
{
	const struct bench_machine *m = &bench_machine;

	if (bind == BENCH_INVERSE)
		cpu = (cpu + m->cpus / (m->nodes > 1 ? 2 : 1)) % m->cpus;
	return m->node[cpu];
}

void bench_pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)bench_machine.cpu[cpu % bench_machine.cpus], &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fail("sched_setaffinity");
}

void bench_unpin(void)
{
	if (sched_setaffinity(0, sizeof(allowed), &allowed) != 0)
		fail("sched_setaffinity");
}

void bench_memory_to(void *memory, size_t bytes, unsigned long nodes)
{
	int mode = (nodes & (nodes - 1)) != 0 ? MPOL_INTERLEAVE : MPOL_BIND;
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t first = ((uintptr_t)memory + page - 1) / page * page, end = ((uintptr_t)memory + bytes) / page * page;

	if (nodes == 0 || end <= first)
		return;
	if (syscall(SYS_mbind, first, end - first, mode, &nodes, 8 * sizeof(nodes), MPOL_MF_MOVE) != 0)
		fail("mbind");
}

static void *map(size_t bytes, int flags)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	if (memory == MAP_FAILED)
		fail("no memory");
	return memory;
}

void *bench_map(size_t bytes, const struct bench_options *options)
{
	void *memory = map(bytes, MAP_PRIVATE);

	if (!options->huge)
		madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

void *bench_map_shared(size_t bytes)
{
	return map(bytes, MAP_SHARED);
}
