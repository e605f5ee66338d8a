/* stress SECONDS [SEED]: threads, regions, forks and bindings at random, with the OpenMP plugin under a made-up runtime (tests/plugin/made_up.c) and the real
 * core beside it, which threads of the program's own use too. Teams of two play regions through the plugin's callbacks; others register, step, ask,
 * hint, report; all fork, bind themselves, map memory and take it away, end and are followed by others. The tool is finalized while they go on, or
 * afterwards, and started again. What must hold: nothing crashes or hangs, every child ends as it means to, errno is kept, every answer is one
 * that the header has. The seed is printed; a run of the same seed does the same things, though not at the same times.
 * Built with -DSTRESS_HERE it is shown a machine of two nodes (tests/stubs/two_nodes.c); without, the machine has to have them. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nsched.h>

#include "../plugin/made_up.h"
#include "dice.h"

enum {
	TEAMS = 2, OTHERS = 3, ROUND_MS = 400,
	SLICE = 256 * 1024,
	CHILD_MS = 60000,           /* a child that has not ended by then hangs */
	HANG_S = 300,               /* the same of the whole, beyond its time */
	KEPT_ERRNO = 4711,
};

static struct made_up *runtime;
static _Atomic int over;
static _Atomic unsigned long regions, forks, binds, lives;
static uint64_t seed;

static void must(int holds, const char *what)
{
	if (holds) return;
	fprintf(stderr, "stress, seed %llu: %s\n", (unsigned long long)seed, what);
	abort();
}

static pthread_t started(void *(*run)(void *arg), void *arg)
{
	pthread_t thread = 0;
	must(!pthread_create(&thread, NULL, run, arg), "no thread");
	atomic_fetch_add(&lives, 1);
	return thread;
}

/* ---- what any thread may do at any time -------------------------------------------------------------------------- */

/* gcc says so by a name, clang by a feature. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
enum { CHILDREN_OPEN = 0 };   /* its own lock about dlopen is not made anew in a child: seen to hang there */
#else
enum { CHILDREN_OPEN = 1 };
#endif

static void child(uint64_t choice)
{
	nsched_t *own = NULL;
	if (CHILDREN_OPEN && choice % 3 == 0 && (nsched_open(NULL, &own) || nsched_step(own) < 0 || nsched_close(own))) _exit(9);
	_exit(3 + (int)(choice % 2));
}

static void fork_once(uint64_t choice)
{
	int status = 0;
	pid_t pid = fork(), ended = 0;
	if (!pid) child(choice);
	if (pid < 0) return;   /* no room for more */
	for (int ms = 0; !ended && ms < CHILD_MS; ms++) {
		ended = waitpid(pid, &status, WNOHANG);
		if (!ended) usleep(1000);
	}
	if (!ended) {
		fprintf(stderr, "stress, seed %llu: child %d hangs, and is left to be looked at\n", (unsigned long long)seed, (int)pid);
		abort();
	}
	must(WIFEXITED(status) && WEXITSTATUS(status) == 3 + (int)(choice % 2), "a child ended otherwise");
	atomic_fetch_add(&forks, 1);
}

static void bind_once(uint64_t choice)
{
	cpu_set_t mask;
	if (sched_getaffinity(0, sizeof mask, &mask)) return;
	if (choice % 2 && CPU_COUNT(&mask) > 1)
		for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
			if (CPU_ISSET(cpu, &mask)) { CPU_CLR(cpu, &mask); break; }
	(void)sched_setaffinity(0, sizeof mask, &mask);
	atomic_fetch_add(&binds, 1);
}

static void map_once(uint64_t choice)
{
	size_t bytes = (choice % 64 + 1) * 4096;
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED) return;
	for (size_t i = 0; i < bytes; i += 512) at[i] = 1;
	munmap(at, bytes);
}

static void something(uint64_t choice)
{
	if (choice % 97 == 0) fork_once(choice >> 8);
	if (choice % 53 == 0) bind_once(choice >> 8);
	if (choice % 31 == 0) map_once(choice >> 8);
	if (choice % 61 == 0) usleep((useconds_t)(choice >> 8) % 2000);
}

static void use(char *memory, uint64_t choice)
{
	for (size_t i = choice % 64; i < SLICE; i += 64) memory[i]++;
}

/* ---- teams of two ------------------------------------------------------------------------------------------------- */

struct team {
	pthread_barrier_t barrier;
	ompt_data_t word, task;     /* of the region that both are in; of the one that begins it */
	int last, alone;            /* this region is the last one; it is serialized */
	uint64_t state, members_state;
};

#define CALL(event, type, ...) \
	do { \
		errno = KEPT_ERRNO; \
		if (runtime->callbacks[event]) ((type)runtime->callbacks[event])(__VA_ARGS__); \
		must(errno == KEPT_ERRNO, "a callback changed errno"); \
	} while (0)

static void in_region(struct team *team, unsigned index, uint64_t choice, char *memory)
{
	ompt_data_t word = team->word, task = { 0 };
	ompt_dispatch_chunk_t chunk = { .start = choice % 7, .iterations = 10 };
	ompt_data_t instance = { .ptr = &chunk };
	runtime->set_parent(&team->task);
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_BEGIN, &word, &task, 2, index, OMPT_TASK_IMPLICIT);
	CALL(OMPT_DISPATCH, ompt_dispatch_t, NULL, &task, 3, instance);
	use(memory, choice);
	something(choice);
	CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_BEGIN, &word, &task, NULL);
	if (!team->alone) (void)pthread_barrier_wait(&team->barrier);
	CALL(OMPT_SYNC_REGION, ompt_sync_region_t, OMPT_SYNC_BARRIER_IMPLICIT, OMPT_SCOPE_END, NULL, &task, NULL);
	CALL(OMPT_IMPLICIT_TASK, ompt_implicit_task_t, OMPT_SCOPE_END, NULL, &task, 0, index, OMPT_TASK_IMPLICIT);
}

static void *member(void *arg)
{
	struct team *team = arg;
	ompt_data_t mine = { 0 };
	uint64_t state = team->members_state;
	char *memory = calloc(1, SLICE);
	must(memory != NULL, "no memory");
	for (int last = 0; !last;) {
		(void)pthread_barrier_wait(&team->barrier);
		last = team->last;
		in_region(team, 1, chance(&state), memory);
	}
	CALL(OMPT_THREAD_END, ompt_thread_end_t, &mine);
	free(memory);
	return NULL;
}

static void *beginner(void *arg)
{
	struct team *team = arg;
	ompt_data_t mine = { 0 };
	char *memory = calloc(1, SLICE);
	must(memory != NULL, "no memory");
	pthread_t other = started(member, team);
	for (int last = 0; !last;) {
		uint64_t choice = chance(&team->state);
		const void *code = (const void *)(uintptr_t)(0x400000 + choice % 5);
		team->alone = choice % 11 == 0;
		if (!team->alone) last = team->last = atomic_load(&over) || choice % 401 == 0;
		team->word.value = 0;
		CALL(OMPT_PARALLEL_BEGIN, ompt_parallel_begin_t, &team->task, NULL, &team->word, team->alone ? 1 : 2, 2, code);
		if (!team->alone) (void)pthread_barrier_wait(&team->barrier);
		in_region(team, 0, choice, memory);
		CALL(OMPT_PARALLEL_END, ompt_parallel_end_t, &team->word, &team->task, 2, code);
		atomic_fetch_add(&regions, 1);
	}
	pthread_join(other, NULL);
	CALL(OMPT_THREAD_END, ompt_thread_end_t, &mine);
	free(memory);
	return NULL;
}

/* ---- the program's own threads --------------------------------------------------------------------------------------- */

static void ask(nsched_t *handle, uint64_t choice)
{
	nsched_stats_t stats = { .size = sizeof stats };
	int ret;
	switch (choice % 5) {
	case 0: ret = nsched_step(handle); must(ret >= 0 || ret == -EBUSY, "a step's answer"); break;
	case 1: must(!nsched_stats(handle, &stats), "no figures"); break;
	case 2: must(!nsched_report(handle, "/dev/null"), "no report"); break;
	case 3: must(!nsched_masks_changed(handle), "masks"); break;
	default: must(!nsched_start(handle), "no helper"); break;
	}
}

static void tell(nsched_t *handle, nsched_thread_t *me, char *memory, uint64_t choice)
{
	int ret = 0;
	switch (choice % 3) {
	case 0: ret = nsched_mem_attach(handle, "slice", memory, SLICE); must(!ret || ret == -EEXIST || ret == -ENOSPC, "attached?"); break;
	case 1: ret = nsched_mem_detach(handle, memory); must(!ret || ret == -ENOENT, "detached?"); break;
	default: ret = nsched_mem_hint(handle, me, memory, SLICE, choice % 1000000000); must(!ret || ret == -ENOENT || ret == -ENOSPC, "told?"); break;
	}
}

static void live(uint64_t *state, char *memory)
{
	nsched_t *handle = NULL;
	nsched_thread_t *me = NULL;
	must(!nsched_open(NULL, &handle) && !nsched_thread_register(handle, &me), "not registered");
	for (uint64_t more = chance(state) % 300; more && !atomic_load(&over); more--) {
		uint64_t choice = chance(state);
		errno = KEPT_ERRNO;
		nsched_region_begin(me, memory + choice % 3);
		nsched_loop_chunk(me, choice % 9);
		nsched_mem_touch(me, memory + choice % SLICE);
		nsched_thread_place(me);
		if (choice % 41 == 0) ask(handle, choice >> 8);
		if (choice % 37 == 0) tell(handle, me, memory, choice >> 8);
		must(errno == KEPT_ERRNO, "a call changed errno");
		use(memory, choice);
		something(choice >> 4);
		nsched_region_end(me);
	}
	(void)nsched_mem_detach(handle, memory);
	if (chance(state) % 3) nsched_thread_unregister(me);   /* or leaves without a word */
	must(!nsched_close(handle), "not closed");
}

static void *other(void *arg)
{
	char *memory = calloc(1, SLICE);
	must(memory != NULL, "no memory");
	live(arg, memory);
	free(memory);
	return NULL;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------------ */

struct slot { uint64_t state; };

static void *teams(void *arg)
{
	struct slot *slot = arg;
	while (!atomic_load(&over)) {
		struct team team = { .state = chance(&slot->state), .members_state = chance(&slot->state) };
		pthread_barrier_init(&team.barrier, NULL, 2);
		pthread_join(started(beginner, &team), NULL);
		pthread_barrier_destroy(&team.barrier);
	}
	return NULL;
}

static void *others(void *arg)
{
	struct slot *slot = arg;
	while (!atomic_load(&over)) pthread_join(started(other, &slot->state), NULL);
	return NULL;
}

static void one_round(uint64_t *state, unsigned long *steps, unsigned long *moves)
{
	struct slot slot[TEAMS + OTHERS];
	pthread_t thread[TEAMS + OTHERS];
	nsched_stats_t stats = { .size = sizeof stats };
	nsched_t *handle = NULL;
	atomic_store(&over, 0);
	runtime->reset();
	ompt_start_tool_result_t *tool = ompt_start_tool(201611, "made up");
	must(tool && tool->initialize(runtime->lookup, 0, &tool->tool_data), "no tool");
	for (unsigned i = 0; i < TEAMS + OTHERS; i++) {
		slot[i].state = chance(state);
		thread[i] = started(i < TEAMS ? teams : others, &slot[i]);
	}
	usleep(ROUND_MS * 1000);
	if (!nsched_open(NULL, &handle)) {
		must(!nsched_stats(handle, &stats), "no figures");
		*steps += stats.steps;
		*moves += (unsigned long)stats.thread_moves;
		must(!nsched_close(handle), "not closed");
	}
	int early = chance(state) % 2 == 0;
	if (early) tool->finalize(&tool->tool_data);
	if (early) usleep(20000);
	atomic_store(&over, 1);
	for (unsigned i = 0; i < TEAMS + OTHERS; i++) pthread_join(thread[i], NULL);
	if (!early) tool->finalize(&tool->tool_data);
}

static void load_runtime(void)
{
	const char *name = getenv("STRESS_RUNTIME");
	void *module = dlopen(name ? name : "tests/plugin/.libs/libomp_made_up.so", RTLD_NOW | RTLD_LOCAL), *symbol = module ? dlsym(module, "made_up") : NULL;
	made_up_t made_up;
	must(symbol != NULL, "no made-up runtime");
	memcpy(&made_up, &symbol, sizeof made_up);
	runtime = made_up();
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 10, begun = now_s();
	unsigned long rounds = 0, steps = 0, moves = 0;
	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : (uint64_t)time(NULL);
	uint64_t state = seed;
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
#ifdef STRESS_HERE
	setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
#endif
	setenv("NSCHED_INTERVAL_MS", "10", 1);
	if (!nsched_worthwhile(NULL)) {
		printf("skipped: nsched stands aside on this machine\n");
		return 77;
	}
	alarm((unsigned)seconds + HANG_S);
	load_runtime();
	for (; now_s() - begun < seconds; rounds++) one_round(&state, &steps, &moves);
	printf("%.0f s, %lu rounds: %lu regions of teams, %lu threads, %lu forks, %lu bindings; %lu steps of nsched, %lu moves of threads\n", now_s() - begun, rounds,
	       (unsigned long)regions, (unsigned long)lives, (unsigned long)forks, (unsigned long)binds, steps, moves);
	must(steps && regions, "nothing was done");
	return 0;
}
