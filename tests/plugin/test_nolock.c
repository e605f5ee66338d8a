/* No lock is taken in a callback of the OpenMP runtime, once a thread is known: with the real core and its helper at work, on a machine of two nodes that is
 * made up, every call that takes a lock is counted, by the callback that it is made in. The first time that a thread is seen takes some, and that is
 * counted too: so the counter counts. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <nsched.h>

#include "made_up.h"

enum { THREADS = 3, REGIONS = 20000, LOOKS = 20, LOOK_US = 20000 };

static struct made_up *runtime;
static _Thread_local int inside;          /* the event whose callback runs, 0: none */
static _Thread_local int settled;         /* the thread has been through its first regions */
static _Atomic unsigned long first, later, elsewhere;
static _Atomic int culprit;

/* ---- in the C library's place ------------------------------------------------------------------------------------ */

static void count(void)
{
	if (!inside) atomic_fetch_add(&elsewhere, 1);
	else if (!settled) atomic_fetch_add(&first, 1);
	else if (!atomic_fetch_add(&later, 1)) atomic_store(&culprit, inside);
}

static void *next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);
	if (!found) abort();
	return found;
}

#define INSTEAD(name, type) \
	__attribute__((visibility("default"))) int name(type *lock); \
	int name(type *lock) \
	{ \
		static int (*real)(type *lock); \
		if (!real) *(void **)&real = next(#name); \
		count(); \
		return real(lock); \
	}

INSTEAD(pthread_mutex_lock, pthread_mutex_t)
INSTEAD(pthread_mutex_trylock, pthread_mutex_t)
INSTEAD(pthread_rwlock_rdlock, pthread_rwlock_t)
INSTEAD(pthread_rwlock_wrlock, pthread_rwlock_t)
INSTEAD(pthread_spin_lock, pthread_spinlock_t)

/* ---- regions ------------------------------------------------------------------------------------------------------ */

#define CALL(event, type, ...) \
	do { \
		if (!runtime->callbacks[event]) break; \
		inside = event; \
		((type)runtime->callbacks[event])(__VA_ARGS__); \
		inside = 0; \
	} while (0)

/* As the thread that begins it, and as a worker whose end is told late. */
static void one_region(ompt_data_t *task, unsigned long number)
{
	const void *code = (const void *)(0x400000 + number % 5);
	ompt_data_t word = { 0 }, none = { 0 };
	ompt_dispatch_chunk_t chunk = { .start = number % 3, .iterations = 10 };
	ompt_data_t instance = { .ptr = &chunk };
	ompt_dependence_t on[] = { { { .value = 0xdead0 }, OMPT_DEPENDENCE_IN } };
	CALL(OMPT_PARALLEL_BEGIN, ompt_parallel_begin_t, task, NULL, &word, 2, 2, code);
	for (unsigned index = 0; index < 2; index++) {
		runtime->set_parent(task);
		CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_BEGIN, &word, &none, 2, index, OMPT_TASK_IMPLICIT);
		CALL(OMPT_DISPATCH, ompt_dispatch_t, NULL, &none, OMPT_DISPATCH_WS_LOOP_CHUNK, instance);
		CALL(OMPT_DEPENDENCES, ompt_dependences_t, &none, on, 1);
		CALL(OMPT_TASK_SCHEDULE, ompt_task_schedule_t, task, 7, &none);
		CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_BEGIN, &word, &none, code);
		CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_END, NULL, &none, code);
		CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_END, NULL, &none, 0, index, OMPT_TASK_IMPLICIT);
	}
	CALL(OMPT_PARALLEL_END, ompt_parallel_end_t, &word, task, 2, code);
}

static void *run(void *arg)
{
	ompt_data_t task = { 0 };
	(void)arg;
	for (unsigned long i = 0; i < 10; i++) one_region(&task, i);
	settled = 1;
	for (unsigned look = 0; look < LOOKS; look++) {   /* the helper steps, plans and binds in between */
		for (unsigned long i = 0; i < REGIONS / LOOKS; i++) one_region(&task, i);
		usleep(LOOK_US);
	}
	return NULL;
}

static void load_runtime(void)
{
	void *module = dlopen("tests/plugin/.libs/libomp_made_up.so", RTLD_NOW | RTLD_LOCAL), *symbol = module ? dlsym(module, "made_up") : NULL;
	made_up_t made_up;
	if (!symbol) exit(99);
	memcpy(&made_up, &symbol, sizeof made_up);
	runtime = made_up();
}

int main(void)
{
	pthread_t thread[THREADS];
	nsched_stats_t stats = { .size = sizeof stats };
	nsched_t *handle = NULL;
	setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	setenv("NSCHED_INTERVAL_MS", "10", 1);
	load_runtime();
	ompt_start_tool_result_t *tool = ompt_start_tool(201611, "made up");
	if (!tool || !tool->initialize(runtime->lookup, 0, &tool->tool_data)) {
		printf("SKIP: nsched stands aside on this machine\n");
		return 77;
	}
	ompt_data_t task = { 0 };
	one_region(&task, 0);   /* opens nsched and waits for it; others would not wait, and try until it is there */
	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, run, NULL)) return 99;
	for (unsigned i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
	if (nsched_open(NULL, &handle) || nsched_stats(handle, &stats)) return 99;
	nsched_close(handle);
	tool->finalize(&tool->tool_data);
	printf("%d threads, %d regions each, %u steps: locks taken in callbacks: %lu when threads were seen first, %lu later (first in event %d); outside: %lu\n", THREADS,
	       REGIONS, stats.steps, (unsigned long)first, (unsigned long)later, culprit, (unsigned long)elsewhere);
	return !first || !elsewhere || later || !stats.steps;
}
