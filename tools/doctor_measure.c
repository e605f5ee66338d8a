/* Latency and bandwidth between nodes, measured: from the CPUs of each node that this process may use to memory
 * of each. One chain of dependent misses gives the latency; all CPUs of the node reading lines at once give the
 * bandwidth. The memory is put on its node by first touch or by move_pages, and is looked at before it counts. */
#define _GNU_SOURCE
#include "doctor.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "libnsched/sys/cpulist.h"

enum {
	LINE = 64,
	CACHES = 4,                      /* times the last-level cache... */
	LEAST_BYTES = 32 << 20,          /* ...but at least this, */
	MOST_BYTES = 512 << 20,          /* and at the most this, */
	SPARE_PART = 4,                  /* and no more than one part in so many of what the node has free */
	PAIR_NS = 60000000,              /* a run of one of the two measurements */
	RUNS = 3,                        /* of which the best counts: what disturbs makes it worse */
	SECONDS_MOST = 30,               /* for all pairs together: then runs get shorter */
	RUN_LEAST_NS = 5000000,
	STEPS = 4096,                    /* between two looks at the clock */
	THREADS_MOST = 512,
	BATCH = 1024,                    /* pages in a call of move_pages */
	ON_NODE_PERCENT = 95,            /* of the pages must be where they were put */
	MPOL_MF_MOVE = 2,
};

struct memory {
	char *start;
	size_t bytes;
};

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int bind_to(const struct cpu_mask *cpus)
{
	return syscall(SYS_sched_setaffinity, 0, sizeof(*cpus), cpus) < 0 ? -errno : 0;
}

/* CPUs of the node that this process may use. */
static unsigned usable(const struct doctor *doctor, unsigned node, struct cpu_mask *cpus)
{
	for (unsigned i = 0; i < MACHINE_CPUS / 64; i++)
		cpus->word[i] = doctor->machine.node[node].cpus.word[i] & doctor->own.cpus.word[i];
	return cpulist_count(cpus);
}

/* ---- memory on a node -------------------------------------------------------------------------------------------- */

/* Moves what is elsewhere, then counts what is there: per cent, or -errno where that can't be known. */
static int settle(const struct memory *memory, int node_os)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), pages = memory->bytes / page_bytes, there = 0;
	void *page[BATCH];
	int node[BATCH], status[BATCH];

	for (size_t i = 0; i < pages; i += BATCH) {
		unsigned long n = pages - i < BATCH ? pages - i : BATCH;

		for (unsigned long k = 0; k < n; k++) {
			page[k] = memory->start + (i + k) * page_bytes;
			node[k] = node_os;
			status[k] = -1;
		}
		if (syscall(SYS_move_pages, 0, n, page, node, status, MPOL_MF_MOVE) < 0 &&
		    syscall(SYS_move_pages, 0, n, page, NULL, status, 0) < 0)
			return -errno;
		for (unsigned long k = 0; k < n; k++)
			there += status[k] == node_os;
	}
	return (int)(there * 100 / pages);
}

static size_t bytes_for(const struct doctor *doctor, unsigned node)
{
	long long cache_kib = files_number(&doctor->files, 0, "/sys/devices/system/cpu/cpu0/cache/index3/size");
	size_t bytes = (size_t)(cache_kib > 0 ? cache_kib : 0) * 1024 * CACHES, spare = (size_t)doctor->machine.node[node].spare_kib * 1024 / SPARE_PART;

	bytes = bytes < LEAST_BYTES ? LEAST_BYTES : bytes > MOST_BYTES ? MOST_BYTES : bytes;
	return (bytes < spare ? bytes : spare) & ~(size_t)((2 << 20) - 1);
}

/* Memory of the node, touched from its own CPUs where it has some. 0; -EAGAIN it could not be put there; -errno. */
static int take_memory(const struct doctor *doctor, unsigned node, struct memory *memory)
{
	struct cpu_mask cpus;

	memory->bytes = bytes_for(doctor, node);
	if (memory->bytes == 0)
		return -ENOMEM;
	memory->start = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory->start == MAP_FAILED)
		return -errno;
	(void)madvise(memory->start, memory->bytes, MADV_HUGEPAGE); /* fewer misses of the TLB in the figures */
	if (usable(doctor, node, &cpus) > 0)
		(void)bind_to(&cpus); /* the look below says whether it has helped */
	memset(memory->start, 1, memory->bytes);

	int percent = settle(memory, (int)doctor->machine.node[node].os);

	if (percent >= ON_NODE_PERCENT)
		return 0;
	munmap(memory->start, memory->bytes);
	return percent < 0 ? percent : -EAGAIN;
}

/* ---- latency ------------------------------------------------------------------------------------------------------ */

/* One cycle through all lines, in an order that no prefetcher follows (Sattolo's shuffle). */
static void chain(const struct memory *memory)
{
	size_t lines = memory->bytes / LINE;
	uint32_t *order = malloc(lines * sizeof(*order));
	uint64_t random = 0x9e3779b97f4a7c15;

	if (order == NULL)
		return;
	for (size_t i = 0; i < lines; i++)
		order[i] = (uint32_t)i;
	for (size_t i = lines - 1; i > 0; i--) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;

		size_t k = (size_t)((random >> 32) * i >> 32);
		uint32_t other = order[k];

		order[k] = order[i];
		order[i] = other;
	}
	for (size_t i = 0; i < lines; i++)
		*(void **)(void *)(memory->start + (size_t)order[i] * LINE) = memory->start + (size_t)order[(i + 1) % lines] * LINE;
	free(order);
}

static double latency_ns(const struct memory *memory, uint64_t run_ns)
{
	void *volatile *at = (void *volatile *)(void *)memory->start;
	uint64_t begin = now_ns(), spent = 0, steps = 0;

	while (spent < run_ns) {
		for (int i = 0; i < STEPS; i++)
			at = (void *volatile *)*at;
		steps += STEPS;
		spent = now_ns() - begin;
	}
	return (double)spent / (double)steps;
}

/* ---- bandwidth ---------------------------------------------------------------------------------------------------- */

struct reader {
	const struct memory *memory;
	struct cpu_mask cpu;
	size_t first, end;
	uint64_t run_ns, lines, spent_ns;
	pthread_barrier_t *begin;
};

/* One word of each line: as many misses at once as the processor manages. */
static uint64_t read_lines(const struct memory *memory, size_t first, size_t end)
{
	uint64_t sum[4] = { 0 };

	for (size_t at = first; at + 4 * LINE <= end; at += 4 * LINE) {
		for (size_t k = 0; k < 4; k++)
			sum[k] += *(const volatile uint64_t *)(const void *)(memory->start + at + k * LINE);
	}
	return sum[0] + sum[1] + sum[2] + sum[3];
}

static void *read_memory(void *arg)
{
	struct reader *reader = arg;
	size_t bytes = reader->end - reader->first;

	(void)bind_to(&reader->cpu);
	pthread_barrier_wait(reader->begin);

	uint64_t begin = now_ns();

	while (reader->spent_ns < reader->run_ns) {
		(void)read_lines(reader->memory, reader->first, reader->end);
		reader->lines += bytes / LINE;
		reader->spent_ns = now_ns() - begin;
	}
	return NULL;
}

static unsigned make_readers(struct reader *reader, const struct memory *memory, const struct cpu_mask *cpus, uint64_t run_ns)
{
	unsigned n = 0, all = cpulist_count(cpus);

	all = all > THREADS_MOST ? THREADS_MOST : all;
	for (unsigned cpu = 0; cpu < MACHINE_CPUS && n < all; cpu++) {
		size_t part = memory->bytes / all & ~(size_t)(4 * LINE - 1);

		if (!mask_has(cpus, cpu))
			continue;
		reader[n] = (struct reader){ .memory = memory, .first = part * n, .end = part * (n + 1), .run_ns = run_ns };
		mask_add(&reader[n].cpu, cpu);
		n++;
	}
	return n;
}

/* Bytes a microsecond (megabytes a second) of all readers together; 0 where threads could not be had. */
static double bandwidth_mbs(const struct memory *memory, const struct cpu_mask *cpus, uint64_t run_ns)
{
	struct reader *reader = calloc(THREADS_MOST, sizeof(*reader));
	pthread_t *thread = calloc(THREADS_MOST, sizeof(*thread));
	pthread_barrier_t begin;
	unsigned n = reader == NULL || thread == NULL ? 0 : make_readers(reader, memory, cpus, run_ns), started = 0;
	double sum = 0;

	if (n > 0 && pthread_barrier_init(&begin, NULL, n) == 0) {
		for (; started < n; started++) {
			reader[started].begin = &begin;
			if (pthread_create(&thread[started], NULL, read_memory, &reader[started]) != 0)
				break;
		}
		if (started < n) /* the rest of them wait for ever: a machine that has no thread left is not measured */
			complain("there are no threads to measure with");
		for (unsigned i = 0; started == n && i < n; i++) {
			pthread_join(thread[i], NULL);
			sum += (double)reader[i].lines * LINE * 1000 / (double)reader[i].spent_ns;
		}
		if (started < n)
			_exit(COMMAND_BROKEN);
		pthread_barrier_destroy(&begin);
	}
	free(reader);
	free(thread);
	return sum;
}

/* ---- all pairs ---------------------------------------------------------------------------------------------------- */

static void measure_pair(struct doctor *doctor, unsigned from, unsigned to, const struct memory *memory, uint64_t run_ns)
{
	struct measured *measured = &doctor->machine.measured;
	struct cpu_mask cpus;
	unsigned a = 0, b = 0;

	if (usable(doctor, from, &cpus) == 0 || bind_to(&cpus) < 0)
		return;
	for (unsigned i = 0; i < measured->n_nodes; i++) {
		a = measured->os[i] == doctor->machine.node[from].os ? i : a;
		b = measured->os[i] == doctor->machine.node[to].os ? i : b;
	}
	for (int run = 0; run < RUNS; run++) {
		float latency = (float)latency_ns(memory, run_ns), bandwidth = (float)bandwidth_mbs(memory, &cpus, run_ns);

		if (measured->latency_ns[a][b] == 0 || latency < measured->latency_ns[a][b])
			measured->latency_ns[a][b] = latency;
		if (bandwidth > measured->bandwidth_mbs[a][b])
			measured->bandwidth_mbs[a][b] = bandwidth;
	}
}

static void measure_node(struct doctor *doctor, unsigned to, uint64_t run_ns)
{
	struct memory memory;
	int error = take_memory(doctor, to, &memory);

	if (error != 0) {
		files_gap(&doctor->files, "latency and bandwidth of node %u: %s", doctor->machine.node[to].os,
		          error == -EAGAIN ? "its memory could not be had" : strerror(-error));
		return;
	}
	chain(&memory);
	for (unsigned from = 0; from < doctor->machine.n_nodes; from++)
		measure_pair(doctor, from, to, &memory, run_ns);
	munmap(memory.start, memory.bytes);
}

/* The folders of the path, as far as they are missing. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';

		int error = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;

		*slash = '/';
		if (error != 0)
			return error;
	}
	return 0;
}

/* Whole or not at all: written beside it, then renamed, since other machines of a cluster may read it now. */
static int keep(const struct measured *measured, char *path)
{
	char beside[512 + 16];
	int error = make_folders(path);

	snprintf(beside, sizeof(beside), "%s.XXXXXX", path);

	int fd = error == 0 ? mkstemp(beside) : -1;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file == NULL)
		return error != 0 ? error : -errno;
	measured_write(measured, file);
	error = fflush(file) != 0 || fchmod(fd, 0644) != 0 ? -errno : 0;
	if (fclose(file) != 0 && error == 0)
		error = -errno;
	if (error == 0 && rename(beside, path) != 0)
		error = -errno;
	if (error != 0)
		unlink(beside);
	return error;
}

static void note_time(struct measured *measured)
{
	time_t now = time(NULL);
	struct tm utc;

	if (gmtime_r(&now, &utc) == NULL || strftime(measured->when, sizeof(measured->when), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
		snprintf(measured->when, sizeof(measured->when), "unknown");
}

int doctor_measure(struct doctor *doctor)
{
	struct measured *measured = &doctor->machine.measured;
	char path[512];
	uint64_t pairs = (uint64_t)doctor->machine.n_nodes * doctor->machine.n_nodes;
	uint64_t run_ns = pairs == 0 ? 0 : SECONDS_MOST * UINT64_C(1000000000) / (pairs * RUNS * 2);
	int error = measured_identify(measured, "");

	if (error == 0)
		error = measured_path(measured->identity, path, sizeof(path));
	if (error != 0) {
		complain("--measure: %s", error == -ENOENT ? "neither XDG_CACHE_HOME nor HOME says where to keep it" : "the nodes can't be read");
		return error;
	}
	run_ns = run_ns > PAIR_NS ? PAIR_NS : run_ns < RUN_LEAST_NS ? RUN_LEAST_NS : run_ns;
	for (unsigned to = 0; to < doctor->machine.n_nodes; to++) {
		if (doctor->machine.node[to].memory_kib > 0)
			measure_node(doctor, to, run_ns);
	}
	(void)bind_to(&doctor->own.cpus);
	note_time(measured);
	error = keep(measured, path);
	if (error != 0)
		complain("--measure: %s can't be written: %s", path, strerror(-error));
	doctor->machine.is_measured = true;
	return error;
}
