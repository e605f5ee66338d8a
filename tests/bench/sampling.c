/* What sampling costs a program, natively: threads do a fixed amount of work beside a real session under `stay`, without
 * any source and with each kind of clock sampling, in turn; the least time of each. On a machine with one node a real
 * nsched would stand aside, so this one is given a machine of two: its hands move nothing, so no more is needed.
 *
 *     sampling [ROUNDS [THREADS...]]        5 rounds; 1, 2, 4, ... 64 threads
 *
 * A variant runs in a process of its own, since timers and rings belong to a process. */
#include <float.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"
#include "session.h"

enum {
	THREADS_MOST = 64,
	NUMBERS = 1 << 17,     /* of each thread: 1 MiB, in the second cache or beyond */
	PASSES = 6000,         /* over them, by all threads together: about half a second of CPU time */
	VARIANTS = 3,
};

static const struct variant {
	const char *name;
	const struct source_ops *sources[2];
} variants[VARIANTS] = {
	{ "off", { NULL } },
	{ "clock-timer", { &source_clock_timer, NULL } },
	{ "clock-perf", { &source_clock_perf, NULL } },
};

static struct nsched_config config;
static struct registry registry;
static struct ranges ranges;
static struct session session;
static struct loop loop;
static pthread_barrier_t ready;
static unsigned threads;

/* ---- a machine of two nodes out of the CPUs that are here ------------------------------------------------- */

static int make_machine(struct machine *machine, struct cpu_mask *allowed)
{
	unsigned cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN), half = cpus > 1 ? cpus / 2 : 1;
	int ret = machine_init(machine, cpus);

	mask_clear(allowed);
	for (unsigned c = 0; c < cpus && ret == 0; c++) {
		if (c == 0 || c == half)
			machine_add_node(machine, c / half, 1ull << 32);
		machine_add_cpu(machine, c, c, 0);
		mask_add(allowed, c);
	}
	if (ret == 0 && cpus == 1)
		machine_add_node(machine, 1, 1ull << 32);
	if (ret == 0)
		machine_set_distances(machine, NULL);
	return ret;
}

static int begin_session(const struct variant *variant)
{
	struct session_setup setup = { .config = &config, .clock = &clock_linux, .hands = &actuator_dry,
	                               .sources = variant->sources, .registry = &registry, .ranges = &ranges };

	config_defaults(&config);
	if (nsched_config_set(&config, "policy", "stay", NULL) != 0)
		return -1;
	registry_init(&registry);
	ranges_init(&ranges, (unsigned)config.max_ranges, (unsigned)config.max_hints);
	if (make_machine(&setup.machine, &setup.allowed) != 0)
		return -1;
	return session_init(&session, &setup);
}

static uint64_t step(void *arg, pid_t self_tid)
{
	(void)arg;
	session.self_tid = self_tid;
	session_step(&session);
	return session_wait_ms(&session);
}

/* ---- the program -------------------------------------------------------------------------------------------- */

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *work(void *arg)
{
	volatile double *mine = calloc(NUMBERS, sizeof(double));
	struct nsched_thread *self = registry_add(&registry, (pid_t)syscall(SYS_gettid), true);

	(void)arg;
	pthread_barrier_wait(&ready);
	for (unsigned pass = 0; mine && pass < PASSES / threads; pass++)
		for (size_t i = 0; i < NUMBERS; i++)
			mine[i] += 1;
	if (self)
		registry_leave(self);
	free((void *)(uintptr_t)mine);
	return NULL;
}

/* How long the threads took; negative, with a word, where the source is closed here. */
static double run(const struct variant *variant)
{
	pthread_t thread[THREADS_MOST];
	double begin, seconds;

	if (begin_session(variant) != 0)
		return -1;
	if (variant->sources[0] && !session.source[0].on) {
		fprintf(stderr, "sampling: %s is closed here: %s\n", variant->name, session.source[0].why);
		return -1;
	}
	pthread_barrier_init(&ready, NULL, threads + 1);
	for (unsigned t = 0; t < threads; t++)
		if (pthread_create(&thread[t], NULL, work, NULL) != 0)
			return -1;
	if (loop_start(&loop, step, NULL) != 0)
		return -1;
	begin = now_s();
	pthread_barrier_wait(&ready);
	for (unsigned t = 0; t < threads; t++)
		pthread_join(thread[t], NULL);
	seconds = now_s() - begin;
	loop_stop(&loop);
	if (variant->sources[0] && session.totals.samples == 0)
		fprintf(stderr, "sampling: %s took no sample of %u threads\n", variant->name, threads);
	return seconds;
}

static double run_apart(const struct variant *variant)
{
	double seconds = -1;
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || (pid = fork()) < 0)
		exit(99);
	if (pid == 0) {
		seconds = run(variant);
		_exit(write(ends[1], &seconds, sizeof(seconds)) == (ssize_t)sizeof(seconds) ? 0 : 99);
	}
	close(ends[1]);
	if (read(ends[0], &seconds, sizeof(seconds)) != (ssize_t)sizeof(seconds))
		seconds = -1;
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return seconds;
}

static void measure(unsigned rounds)
{
	double least[VARIANTS];

	for (unsigned v = 0; v < VARIANTS; v++)
		least[v] = DBL_MAX;
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned v = 0; v < VARIANTS; v++) {
			double seconds = least[v] < 0 ? -1 : run_apart(&variants[v]);

			if (seconds < least[v])
				least[v] = seconds;
		}
	printf("native: program time, %u threads, sampling off %.3f s\n", threads, least[0]);
	for (unsigned v = 1; v < VARIANTS; v++)
		if (least[v] > 0)
			printf("native: sampling by %s, %u threads %.2f %% of the program's time\n", variants[v].name, threads,
			       100 * (least[v] / least[0] - 1));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;

	for (int i = 2; i < argc; i++) {
		threads = (unsigned)atoi(argv[i]);
		if (threads >= 1 && threads <= THREADS_MOST)
			measure(rounds);
	}
	for (threads = 1; argc <= 2 && threads <= THREADS_MOST; threads *= 2)
		measure(rounds);
	return 0;
}
