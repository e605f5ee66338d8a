/* victim CASE: the table of cases, and the work that they do. Built twice, with and without OpenMP. With VICTIM_API=FILE in
 * the environment it uses nsched's calls itself, from that library. */
#include "victim.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "nsched.h"

enum { WORDS = 1 << 17, ROUND_MS = 3 }; /* for each thread: 1 MiB */

cpu_set_t victim_mask;
const char *victim_self;
static volatile unsigned long memory[VICTIM_THREADS][WORDS];

/* ---- nsched's calls, where wanted --------------------------------------------------------------------------- */

static struct {
	nsched_t *handle;
	__typeof__(&nsched_thread_register) enter;
	__typeof__(&nsched_thread_unregister) leave;
	__typeof__(&nsched_thread_place) place;
	__typeof__(&nsched_close) close;
	pid_t owner;
} api;

static void api_close(void)
{
	if (api.handle && api.owner == getpid()) api.close(api.handle);
}

static int api_open(const char *file)
{
	void *library = file ? dlopen(file, RTLD_NOW) : NULL;
	if (!file) return 0;
	if (!library) return fprintf(stderr, "%s\n", dlerror());
	__typeof__(&nsched_open) open_it = (__typeof__(open_it))dlsym(library, "nsched_open");
	__typeof__(&nsched_start) start = (__typeof__(start))dlsym(library, "nsched_start");
	api.enter = (__typeof__(api.enter))dlsym(library, "nsched_thread_register");
	api.leave = (__typeof__(api.leave))dlsym(library, "nsched_thread_unregister");
	api.place = (__typeof__(api.place))dlsym(library, "nsched_thread_place");
	api.close = (__typeof__(api.close))dlsym(library, "nsched_close");
	int ret = open_it(NULL, &api.handle);
	if (ret) api.handle = NULL, fprintf(stderr, "nsched: not opened, as it says: %d\n", ret);   /* it goes on without */
	else (void)!start(api.handle);
	api.owner = getpid();
	return atexit(api_close);
}

/* ---- the work ------------------------------------------------------------------------------------------------- */

struct task {
	int who, wanted;
	void (*inside)(void *arg);
	void *arg;
	struct timespec until;
};

static int before(const struct timespec *until)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec < until->tv_nsec);
}

static void after_ms(struct timespec *until, int ms)
{
	clock_gettime(CLOCK_MONOTONIC, until);
	until->tv_sec += ms / 1000;
	until->tv_nsec += ms % 1000 * 1000000L;
	if (until->tv_nsec < 1000000000) return;
	until->tv_nsec -= 1000000000;
	until->tv_sec++;
}

static void *one(void *arg)
{
	struct task *t = arg;
	nsched_thread_t *me = NULL;
	if (api.handle && api.owner == getpid() && api.enter(api.handle, &me)) me = NULL;
	do {
		for (int i = 0; i < WORDS; i += 8) memory[t->who][i]++;
		if (me) api.place(me);
	} while (before(&t->until));
	if (t->who == t->wanted && t->inside) t->inside(t->arg);
	if (me) api.leave(me);
	return NULL;
}

static void region(struct task task[VICTIM_THREADS])
{
#ifdef _OPENMP
#pragma omp parallel num_threads(VICTIM_THREADS)
	one(&task[omp_get_thread_num()]);
#else
	pthread_t thread[VICTIM_THREADS];
	for (int i = 1; i < VICTIM_THREADS; i++) pthread_create(&thread[i], NULL, one, &task[i]);
	one(&task[0]);
	for (int i = 1; i < VICTIM_THREADS; i++) pthread_join(thread[i], NULL);
#endif
}

void work_with(int ms, int who, void (*inside)(void *arg), void *arg)
{
	struct timespec until;
	after_ms(&until, ms / 2);
	for (int half = 0; half < 2; half++) {
		do {
			struct task task[VICTIM_THREADS] = { { 0 } };
			for (int i = 0; i < VICTIM_THREADS; i++) {
				task[i].who = i;
				task[i].wanted = who;
				after_ms(&task[i].until, ROUND_MS);
			}
			if (half) {
				task[who].inside = inside;
				task[who].arg = arg;
				inside = NULL;
			}
			region(task);
		} while (before(&until));
		after_ms(&until, ms - ms / 2);
	}
}

void work(int ms)
{
	work_with(ms, 0, NULL, NULL);
}

int victim_mask_kept(void)
{
	cpu_set_t now;
	return !sched_getaffinity(0, sizeof now, &now) && CPU_EQUAL(&now, &victim_mask);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static int plain(void)
{
	work(300);
	printf("done\n");
	return 7;
}

/* The same, quicker: for tests that run it hundreds of times */
static int brief(void)
{
	work(120);
	printf("done\n");
	return 7;
}

/* For the images that other cases become: the mask that they were started with */
static int mask(void)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &victim_mask)) printf("%d ", cpu);
	return printf("\n") < 0;
}

static const struct victim_case own[] = { { "plain", plain }, { "brief", brief }, { "mask", mask }, { NULL, NULL } };

int main(int argc, char **argv)
{
	const struct victim_case *const tables[] = { own, victim_ends, victim_children, victim_lives, victim_openmp };
	const char *name = argc > 1 ? argv[1] : "";
	sched_getaffinity(0, sizeof victim_mask, &victim_mask);
	victim_self = argv[0];
	for (unsigned t = 0; t < sizeof tables / sizeof *tables; t++)
		for (const struct victim_case *c = tables[t]; c->name; c++)
			if (!strcmp(name, "list")) printf("%s\n", c->name);
			else if (!strcmp(name, c->name)) return api_open(getenv("VICTIM_API")) ? 98 : c->run();
	return strcmp(name, "list") ? 99 : 0;
}
