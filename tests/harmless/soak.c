/* soak SECONDS [SEED [LEAK]]: a program that opens and closes nsched again and again, while threads come and go, register, enter regions, hint,
 * bind themselves, fork and start programs, at random; with the helper or by steps of its own, with every kind of sample, under several
 * policies. Each combination of these is compared with itself: a few rounds to warm up, then it is looked what the process has (bytes from malloc,
 * mapped bytes, open files, threads), and after some more rounds once more. SECONDS 0: four combinations, each once. Shows "nothing grew", or what did.
 *
 * So that what malloc has given out is the same whenever nothing is used, to 16 bytes a block, the program starts itself anew with one arena and no
 * caches of threads: these keep what was freed, a little more with each thread, and look like a leak of some kilobytes a minute.
 * LEAK (memory, pages, file, thread) loses a page, a file or a thread in each round by intent: what does not fail then is no test. */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nsched.h"
#include "dice.h"

enum {
	THREADS = 8, BYTES = 1 << 20, ROUND_MS = 30,
	WARM_ROUNDS = 3, COUNTED_ROUNDS = 6,
	PAGE_BYTES = 4096,
	/* malloc gives a rest of 16 bytes along where it is too small to be a block: for each of some tens of blocks. A page in each round is
	 * forty-eight times as much. */
	REST_BYTES = 512,
	STACK_BYTES = 256 * 1024, /* so that the C library, which keeps 40 MiB of stacks for the next threads, keeps all */
	GONE_MS = 2000, /* until the kernel has done away with a thread that was joined */
};

static char memory[THREADS][BYTES];
static nsched_t *handle;
static _Atomic int over;
static _Atomic uint64_t calls;
static uint64_t rounds;

static void must(int holds, const char *what)
{
	if (holds) return;
	fprintf(stderr, "soak: %s\n", what);
	abort();
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

static pthread_t started(void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread = 0;
	pthread_attr_init(&attr);
	must(!pthread_attr_setstacksize(&attr, STACK_BYTES) && !pthread_create(&thread, &attr, run, arg), "no thread");
	pthread_attr_destroy(&attr);
	return thread;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------- */

static const char *const samplers[] = { "auto", "timer", "off" }, *const policies[] = { "joint", "autonuma", "stay", "concentric" };
enum { SAMPLERS = 3, POLICIES = 4, COMBINATIONS = 2 * 2 * SAMPLERS * POLICIES };

struct combination { int by_hand, all; const char *sampler, *policy; };

static struct combination combination(unsigned number)
{
	return (struct combination){ .by_hand = number % 2, .all = number / 2 % 2, .sampler = samplers[number / 4 % SAMPLERS],
		                         .policy = policies[number / 4 / SAMPLERS % POLICIES] };
}

static void begin(const struct combination *c)
{
	nsched_config_t *config = NULL;
	must(!nsched_config_create(&config), "no options");
	must(!nsched_config_set(config, "interval_ms", "10", NULL) && !nsched_config_set(config, "sampler", c->sampler, NULL) &&
	     !nsched_config_set(config, "policy", c->policy, NULL) && !nsched_config_set(config, "threads", c->all ? "all" : "registered", NULL), "options");
	must(!nsched_open(config, &handle), "not opened");
	nsched_config_destroy(config);
	if (!c->by_hand) must(!nsched_start(handle), "not started");
	must(!nsched_mem_attach(handle, "memory", memory, sizeof memory), "not attached");
}

static void go_on(const struct combination *c)
{
	double until = now_s() + ROUND_MS / 1000.0;
	do {
		int ret = c->by_hand ? nsched_step(handle) : 0;
		must(ret >= 0 || ret == -EBUSY, "a step failed");   /* busy: another thread forks just now */
		usleep(5000);
	} while (now_s() < until);
}

static void one_round(const struct combination *c, uint64_t *state)
{
	pthread_t thread[THREADS];
	uint64_t choice = chance(state);
	begin(c);
	atomic_store(&over, 0);
	for (unsigned i = 0; i < THREADS; i++) thread[i] = started(work, (void *)(uintptr_t)i);
	go_on(c);
	if (choice % 2) must(!nsched_report(handle, "/dev/null"), "no report");
	int early = choice / 2 % 2;   /* closed while threads go on with it */
	if (early) must(!nsched_close(handle), "not closed");
	atomic_store(&over, 1);
	for (unsigned i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
	if (!early) must(!nsched_close(handle), "not closed");
	rounds++;
}

static void *only_register(void *arg)
{
	nsched_thread_t *me = NULL;
	must(!nsched_thread_register(handle, &me), "not registered");
	(void)pthread_barrier_wait(arg);   /* all are there */
	(void)pthread_barrier_wait(arg);   /* and may go */
	nsched_thread_unregister(me);
	return NULL;
}

/* What is kept for good, one for each of the threads that there were at a time (a ring for the timer's samples), is made for more threads than any
 * round has, those included that have left without a word. */
static void most_threads(void)
{
	enum { MOST = 4 * THREADS };
	const struct combination timers = { .by_hand = 1, .sampler = "timer", .policy = "joint" };
	pthread_t thread[MOST];
	pthread_barrier_t barrier;
	begin(&timers);
	pthread_barrier_init(&barrier, NULL, MOST + 1);
	for (unsigned i = 0; i < MOST; i++) thread[i] = started(only_register, &barrier);
	(void)pthread_barrier_wait(&barrier);
	go_on(&timers);
	(void)pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < MOST; i++) pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&barrier);
	must(!nsched_close(handle), "not closed");
}

/* ---- what it takes ------------------------------------------------------------------------------------------------ */

struct taken { long allocated, mapped, files, threads, resident; };

static long entries(const char *folder)
{
	long n = -2;
	DIR *d = opendir(folder);
	while (d && readdir(d)) n++;
	if (d) closedir(d);
	return n - !strcmp(folder, "/proc/self/fd");   /* the folder itself was open */
}

/* All that is mapped but the heap, which malloc accounts for itself, and the first thread's stack. */
static long mapped_bytes(void)
{
	char line[1024];
	long sum = 0;
	FILE *in = fopen("/proc/self/maps", "re");
	must(in != NULL, "no maps");
	while (fgets(line, sizeof line, in)) {
		unsigned long from, to;
		if (!strstr(line, "[heap]") && !strstr(line, "[stack]") && sscanf(line, "%lx-%lx", &from, &to) == 2) sum += (long)(to - from);
	}
	fclose(in);
	return sum;
}

static long resident_bytes(void)
{
	long pages = 0;
	FILE *in = fopen("/proc/self/statm", "re");
	if (in && fscanf(in, "%*d %ld", &pages) != 1) pages = 0;
	if (in) fclose(in);
	return pages * PAGE_BYTES;
}

static struct taken look(void)
{
	for (int ms = 0; ms < GONE_MS && entries("/proc/self/task") > 1; ms++) usleep(1000);
	struct mallinfo2 info = mallinfo2();
	return (struct taken){ .allocated = (long)(info.uordblks + info.hblkhd), .mapped = mapped_bytes(), .files = entries("/proc/self/fd"),
		                   .threads = entries("/proc/self/task"), .resident = resident_bytes() };
}

static void *for_ever(void *arg)
{
	for (;;) pause();
	return arg;
}

static void lose(const char *what)
{
	static void *lost;   /* the last one; the others are nowhere */
	if (!strcmp(what, "memory")) lost = malloc(PAGE_BYTES);
	else if (!strcmp(what, "pages")) lost = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (!strcmp(what, "file")) must(dup(0) >= 0, "no file to lose");
	else if (!strcmp(what, "thread")) (void)started(for_ever, lost);
	else must(0, "LEAK is memory, pages, file or thread");
}

static int grew(const struct taken *a, const struct taken *b, const struct combination *c)
{
	if (b->allocated <= a->allocated + REST_BYTES && b->mapped <= a->mapped && b->files <= a->files && b->threads <= a->threads) return 0;
	printf("GREW: steps by %s, samples %s, policy %s, threads %s: in %d rounds allocated %ld -> %ld, mapped %ld -> %ld bytes, files %ld -> %ld, threads %ld -> %ld\n",
	       c->by_hand ? "hand" : "the helper", c->sampler, c->policy, c->all ? "all" : "registered", COUNTED_ROUNDS, a->allocated, b->allocated, a->mapped,
	       b->mapped, a->files, b->files, a->threads, b->threads);
	return 1;
}

static int try_combination(unsigned number, uint64_t *state, const char *leak)
{
	const struct combination c = combination(number);
	for (unsigned i = 0; i < WARM_ROUNDS; i++) one_round(&c, state);
	struct taken before = look();
	for (unsigned i = 0; i < COUNTED_ROUNDS; i++) {
		one_round(&c, state);
		if (leak) lose(leak);
	}
	struct taken after = look();
	return grew(&before, &after, &c);
}

/* Every combination once before any a second time, in an order that has no pattern: 29 and their number have no divisor in common. */
static unsigned nth(uint64_t n)
{
	return (unsigned)(n * 29 % COMBINATIONS);
}

static void start_anew(char **argv)
{
	static const char with[] = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1";
	const char *now = getenv("GLIBC_TUNABLES");
	if (now && !strcmp(now, with)) return;
	setenv("GLIBC_TUNABLES", with, 1);
	execv("/proc/self/exe", argv);
	must(0, "not started anew");
}

int main(int argc, char **argv)
{
	enum { FEW = 4 };
	double seconds = argc > 1 ? atof(argv[1]) : 10, begun = now_s();
	uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, tried = 0;
	int failed = 0;
	start_anew(argv);
	setenv("HWLOC_SYNTHETIC", "node:2 core:1 pu:1", 1);
	setenv("HWLOC_THISSYSTEM", "1", 1);
	most_threads();
	struct taken first = look();
	for (; seconds > 0 ? now_s() - begun < seconds : tried < (argc > 3 ? 1 : FEW); tried++) failed += try_combination(nth(tried), &state, argc > 3 ? argv[3] : NULL);
	struct taken last = look();
	printf("%.0f s, %llu times one of %d combinations, %llu rounds, %llu calls; at the begin and the end allocated %ld, %ld, mapped %ld, %ld, resident %ld, %ld bytes, "
	       "files %ld, %ld, threads %ld, %ld\n", now_s() - begun, (unsigned long long)tried, COMBINATIONS, (unsigned long long)rounds, (unsigned long long)calls, first.allocated,
	       last.allocated, first.mapped, last.mapped, first.resident, last.resident, first.files, last.files, first.threads, last.threads);
	if (!failed) printf("nothing grew\n");
	return failed != 0;
}
