/* What only programs with OpenMP do, and what those do that load one. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "victim.h"

/* A plugin with OpenMP is loaded and used, `times` times, and unloaded each time, if `unload`. */
static int use(const char *variable, int times, int unload)
{
	const char *name = getenv(variable);
	for (int i = 0; i < times && name; i++) {
		void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (!library) {
			printf("%s\n", dlerror());
			return 1;
		}
		long (*sum)(void) = (long (*)(void))dlsym(library, "plugin_sum");
		printf("%ld\n", sum ? sum() : -1);
		if (unload) dlclose(library);
	}
	return 0;
}

static int plugin_of(const char *variable)
{
	int ret = use(variable, 3, 1);
	work(100);
	return ret;
}

static int plugin_llvm(void) { return plugin_of("VICTIM_PLUGIN_LLVM"); }
static int plugin_gcc(void) { return plugin_of("VICTIM_PLUGIN_GCC"); }

/* Two runtimes in one process (built with OpenMP: two or three), in turns */
static int runtimes(void)
{
	int ret = 0;
	for (int i = 0; i < 3; i++) {
		ret |= use("VICTIM_PLUGIN_LLVM", 1, 0) | use("VICTIM_PLUGIN_GCC", 1, 0);
		work(60);
	}
	return ret;
}

#ifdef _OPENMP
static long sum(int threads)
{
	long total = 0;
#pragma omp parallel for reduction(+ : total) num_threads(threads)
	for (long i = 0; i < 1000000; i++) total += i % 7;
	return total;
}

static void *root(void *arg)
{
	for (int i = 0; i < 50; i++) *(long *)arg += sum(2);
	return NULL;
}

static int roots(void)
{
	enum { ROOTS = 4 };
	pthread_t thread[ROOTS];
	long total[ROOTS] = { 0 };
	work(100);
	for (int i = 0; i < ROOTS; i++) pthread_create(&thread[i], NULL, root, &total[i]);
	for (int i = 0; i < ROOTS; i++) pthread_join(thread[i], NULL);
	printf("%ld %ld %ld %ld\n", total[0], total[1], total[2], total[3]);
	return 0;
}

static int paused(void)
{
	for (int i = 0; i < 3; i++) {
		work(100);
		printf("%d %ld\n", omp_pause_resource_all(i % 2 ? omp_pause_soft : omp_pause_hard), sum(3));
	}
	return 0;
}

/* As a program sees it */
static int places(void)
{
	work(200);
	printf("%d processors, %d threads, %d places, binding %d, %d in parallel\n", omp_get_num_procs(), omp_get_max_threads(), omp_get_num_places(),
	       (int)omp_get_proc_bind(), omp_in_parallel());
	return 0;
}

static int many_threads(void)
{
	long total = 0;
	for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(200) reduction(+ : total)
		total += omp_get_thread_num();
	}
	printf("%ld\n", total);
	return 0;
}
#endif

const struct victim_case victim_openmp[] = {
	{ "plugin_llvm", plugin_llvm }, { "plugin_gcc", plugin_gcc }, { "runtimes", runtimes },
#ifdef _OPENMP
	{ "roots", roots }, { "pause", paused }, { "places", places }, { "many_threads", many_threads },
#endif
	{ NULL, NULL },
};
