/* Threads that tell PAPI by themselves, by counters of their own (libsde), how many of their accesses are local and how many remote. Each has filled
 * memory on its own node, was sent to the next one, and has filled more there. At first all walk over the latter, which is local: so the
 * counters are known, and each thread has its place. Then they turn to what is at home. Of the even ones each line that they touch is counted; the odd
 * ones count nothing, as if a cache held all that they need, and then they do work on 32 KiB only, with as many loads and stores. So the first
 * suffer and the others do not, and samples do not tell them apart.
 *
 * They take part through the C API. Says of each thread which it is and where it is in the end.
 * usage: counted SECONDS CPUS-PER-NODE */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <nsched.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "places.h"

enum { THREADS_MOST = 64, BIG = 8 << 20, SMALL = 32 << 10, LINE = 64, FIRST_S = 10, EACH = 4096, LOCAL = 0, REMOTE = 1 };

static struct {
	int cpus, per_node;
	double seconds;
	nsched_t *handle;
	pthread_barrier_t step;
	unsigned home[THREADS_MOST], now[THREADS_MOST];
	int tid[THREADS_MOST];
} work;

static __thread long long counted[2];

static long long answer(void *kind)
{
	return counted[(uintptr_t)kind];
}

/* libsde's interface, as far as it is used; papi_sde_interface.h need not be installed. */
static bool define_events(void)
{
	enum { READ_ONLY_DELTA = 0, LONG_LONG = 0 };
	void *sde = dlopen("libsde.so.1", RTLD_NOW | RTLD_GLOBAL), *handle = NULL;
	void *(*init)(const char *library) = NULL;
	int (*define)(void *handle, const char *event, int mode, int type, long long (*callback)(void *), void *arg) = NULL;

	if (sde != NULL) {
		*(void **)&init = dlsym(sde, "papi_sde_init");
		*(void **)&define = dlsym(sde, "papi_sde_register_counter_cb");
	}
	if (init != NULL && define != NULL)
		handle = init("job");
	return handle != NULL && define(handle, "local_dram", READ_ONLY_DELTA, LONG_LONG, answer, (void *)LOCAL) == 0 &&
	       define(handle, "remote_dram", READ_ONLY_DELTA, LONG_LONG, answer, (void *)REMOTE) == 0;
}

/* A part of a round over memory of `filled`, and what of it is counted. */
static size_t walk(volatile char *memory, size_t bytes, size_t at, unsigned filled, bool counts)
{
	for (int i = 0; i < EACH; i++) {
		memory[at]++;
		at = at + LINE < bytes ? at + LINE : 0;
	}
	if (counts)
		counted[node() == filled ? LOCAL : REMOTE] += EACH;
	return at;
}

/* With a hole behind it, as in crossed.c. */
static char *fill(void)
{
	char *memory = mmap(NULL, 2 * BIG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, BIG, PROT_READ | PROT_WRITE) != 0)
		exit(2);
	for (size_t i = 0; i < BIG; i += LINE)
		memory[i] = 1;
	return memory;
}

static void *thread(void *arg)
{
	int self = (int)(size_t)arg;
	bool suffers = self % 2 == 0;
	nsched_thread_t *me = NULL;
	size_t at = 0;

	run_on(work.cpus, self);
	work.home[self] = node();
	work.tid[self] = (int)syscall(SYS_gettid);
	char *home = fill();
	run_on(work.cpus, (self + work.per_node) % work.cpus);
	unsigned next = node();
	char *away = fill();
	pthread_barrier_wait(&work.step);
	pthread_barrier_wait(&work.step); /* nsched is there */
	run_on(work.cpus, -1);
	if (nsched_thread_register(work.handle, &me) != 0)
		exit(2);
	for (double begin = now_s(); now_s() - begin < FIRST_S; nsched_thread_place(me))
		at = walk(away, BIG, at, next, suffers);
	at = 0;
	for (double begin = now_s(); now_s() - begin < work.seconds; nsched_thread_place(me))
		at = walk(home, suffers ? BIG : SMALL, at, work.home[self], suffers);
	work.now[self] = node();
	nsched_thread_unregister(me);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MOST];
	cpu_set_t set;

	if (argc != 3 || sched_getaffinity(0, sizeof(set), &set) != 0)
		return 2;
	work.seconds = atof(argv[1]);
	work.per_node = atoi(argv[2]);
	work.cpus = CPU_COUNT(&set);
	if (work.cpus > THREADS_MOST || pthread_barrier_init(&work.step, NULL, (unsigned)work.cpus + 1) != 0)
		return 2;
	if (!define_events()) {
		puts("no libsde");
		return 77;
	}
	for (int i = 0; i < work.cpus; i++)
		pthread_create(&threads[i], NULL, thread, (void *)(size_t)i);
	pthread_barrier_wait(&work.step);
	if (nsched_open(NULL, &work.handle) != 0 || nsched_start(work.handle) != 0)
		return 2;
	pthread_barrier_wait(&work.step);
	for (int i = 0; i < work.cpus; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < work.cpus; i++)
		printf("thread %d %s home %u now %u\n", work.tid[i], i % 2 == 0 ? "suffers" : "computes", work.home[i], work.now[i]);
	nsched_close(work.handle);
	return 0;
}
