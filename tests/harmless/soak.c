/* soak SECONDS [SEED]: a program that opens and closes nsched again and again, while threads come and go, register, enter regions, hint, bind themselves,
 * fork and start programs, at random; with the helper or by steps of its own, with every kind of sample. What it takes may not grow: resident
 * memory, open files, threads, mappings, after a first third that is not counted. Shows "nothing grew", or what did. */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nsched.h"

enum { THREADS = 8, ROUND_MS = 150, BYTES = 1 << 20, GROWTH_KIB = 4096 /* what the C library's heaps take at their leisure */ };

static char memory[THREADS][BYTES];
static nsched_t *handle;
static _Atomic int over;
static _Atomic uint64_t calls;

static uint64_t chance(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void must(int holds, const char *what)
{
	if (holds) return;
	fprintf(stderr, "soak: %s\n", what);
	abort();
}

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fork_once(uint64_t choice)
{
	int status = 0;
	pid_t child = fork();
	if (!child) {
		nsched_t *own = NULL;
		/* a child may have a scheduler of its own, or may not care */
		if (choice % 4 == 0 && !nsched_open(NULL, &own)) nsched_close(own);
		_exit(3);
	}
	must(child < 0 || (waitpid(child, &status, 0) == child && status == 3 << 8), "a child ended otherwise");
}

static void bind_once(uint64_t choice)
{
	cpu_set_t mask;
	if (sched_getaffinity(0, sizeof mask, &mask)) return;
	if (choice % 2 && CPU_COUNT(&mask) > 1)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &mask)) { CPU_CLR(cpu, &mask); break; }
	(void)sched_setaffinity(0, sizeof mask, &mask);
}

static void *work(void *arg)
{
	unsigned number = (unsigned)(uintptr_t)arg;
	uint64_t state = number + atomic_load(&calls);
	nsched_thread_t *me = NULL;
	must(!nsched_thread_register(handle, &me) && me, "not registered");
	while (!atomic_load(&over)) {
		for (unsigned i = 0; i < BYTES; i += 64) memory[number][i]++;
		uint64_t choice = chance(&state);
		nsched_region_begin(me, (const void *)(uintptr_t)(0x400000 + choice % 5));
		nsched_loop_chunk(me, choice % 100);
		nsched_thread_place(me);
		nsched_mem_touch(me, memory[number] + choice % BYTES);
		nsched_region_end(me);
		if (choice % 61 == 0) fork_once(choice >> 8);
		if (choice % 53 == 0) bind_once(choice >> 8);
		if (choice % 47 == 0) (void)!nsched_mem_hint(handle, me, memory[number], BYTES, choice % 1000000000);
		if (choice % 101 == 0) break;   /* leaves early, and perhaps without a word */
		atomic_fetch_add(&calls, 1);
	}
	if (chance(&state) % 3) nsched_thread_unregister(me);
	return NULL;
}

static void one_round(uint64_t *state)
{
	static const char *const samplers[] = { "auto", "timer", "off" }, *const policies[] = { "joint", "autonuma", "stay", "concentric" };
	nsched_config_t *config = NULL;
	pthread_t thread[THREADS];
	uint64_t choice = chance(state);
	int by_hand = choice % 5 == 0;
	must(!nsched_config_create(&config), "no options");
	must(!nsched_config_set(config, "interval_ms", "10", NULL) && !nsched_config_set(config, "sampler", samplers[choice / 5 % 3], NULL) &&
	     !nsched_config_set(config, "policy", policies[choice / 15 % 4], NULL) && !nsched_config_set(config, "threads", choice / 64 % 2 ? "all" : "registered", NULL), "options");
	must(!nsched_open(config, &handle), "not opened");
	nsched_config_destroy(config);
	if (!by_hand) must(!nsched_start(handle), "not started");
	must(!nsched_mem_attach(handle, "memory", memory, sizeof memory), "not attached");
	atomic_store(&over, 0);
	for (unsigned i = 0; i < THREADS; i++) must(!pthread_create(&thread[i], NULL, work, (void *)(uintptr_t)i), "no thread");
	double until = now_s() + ROUND_MS / 1000.0;
	do {
		int ret = by_hand ? nsched_step(handle) : 0;
		must(ret >= 0 || ret == -EBUSY, "a step failed");   /* busy: another thread forks just now */
		usleep(5000);
	} while (now_s() < until);
	if (choice / 128 % 2) must(!nsched_report(handle, "/dev/null"), "no report");
	int early = choice / 256 % 2;   /* closed while threads go on with it */
	if (early) must(!nsched_close(handle), "not closed");
	atomic_store(&over, 1);
	for (unsigned i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
	if (!early) must(!nsched_close(handle), "not closed");
}

/* ---- what it takes ------------------------------------------------------------------------------------------------ */

struct taken { long rss_kib, files, threads, mappings; };

static long entries(const char *folder)
{
	long n = -2;
	DIR *d = opendir(folder);
	while (d && readdir(d)) n++;
	if (d) closedir(d);
	return n;
}

static struct taken look(void)
{
	struct taken t = { 0, entries("/proc/self/fd"), entries("/proc/self/task"), 0 };
	char line[1024];
	long pages = 0;
	FILE *in = fopen("/proc/self/statm", "re");
	if (in && fscanf(in, "%*d %ld", &pages) != 1) pages = 0;
	if (in) fclose(in);
	t.rss_kib = pages * 4;
	in = fopen("/proc/self/maps", "re");
	while (in && fgets(line, sizeof line, in)) t.mappings += strchr(line, '\n') != NULL;
	if (in) fclose(in);
	return t;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10, begin = now_s();
	uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, rounds = 0;
	struct taken first = { 0 }, last;
	setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	while (now_s() - begin < seconds) {
		one_round(&state);
		rounds++;
		if (!first.threads && now_s() - begin > seconds / 3) first = look();
	}
	last = look();
	printf("%.0f s, %llu rounds, %llu calls; resident %ld -> %ld KiB, files %ld -> %ld, threads %ld -> %ld, mappings %ld -> %ld\n", now_s() - begin,
	       (unsigned long long)rounds, (unsigned long long)calls, first.rss_kib, last.rss_kib, first.files, last.files, first.threads, last.threads,
	       first.mappings, last.mappings);
	int grew = last.rss_kib > first.rss_kib + GROWTH_KIB || last.files > first.files || last.threads > first.threads || last.mappings > first.mappings + 8;
	printf("%s\n", grew ? "GREW" : "nothing grew");
	return grew;
}
