#define _GNU_SOURCE
#include "bench.h"

#include "../../numabox/mark.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- options ------------------------------------------------------------------------------------------ */

static void usage(const char *program, const char *what, int status)
{
	fprintf(stderr,
	        "%s: %s\n"
	        "usage: %s [-p PROCESSES] [-t THREADS] [-k KIB] [-s SECONDS] [-K KERNEL] [-c INSTRUCTIONS] [--shared]\n"
	        "       [--huge] [--touch serial|parallel] [--bind none|hard|inverse|pack]\n",
	        program, what, program);
	exit(status);
}

/* The index of a word in a list that ends with NULL, -1 if it is not there. */
static int word_of(const char *word, const char *const *list)
{
	for (int i = 0; list[i] != NULL; i++)
		if (strcmp(word, list[i]) == 0)
			return i;
	return -1;
}

static bool set_word(struct bench_options *options, int letter, const char *word)
{
	static const char *const binds[] = { "none", "hard", "inverse", "pack", NULL };
	static const char *const touches[] = { "serial", "parallel", NULL };
	int i = word_of(word, letter == 'b' ? binds : touches);

	if (letter == 'b')
		options->bind = (enum bench_bind)i;
	else
		options->parallel_touch = i == 1;
	return i >= 0;
}

static bool set_option(struct bench_options *options, int letter, const char *value)
{
	switch (letter) {
	case 'p':
		options->processes = (unsigned)strtoul(value, NULL, 10);
		return true;
	case 't':
		options->threads = (unsigned)strtoul(value, NULL, 10);
		return true;
	case 'k':
		options->kib = strtoul(value, NULL, 10);
		return true;
	case 's':
		options->seconds = strtod(value, NULL);
		return true;
	case 'c':
		options->compute = (unsigned)strtoul(value, NULL, 10);
		return true;
	case 'K':
		options->kernel = value;
		return true;
	case 'S':
		options->shared = true;
		return true;
	case 'H':
		options->huge = true;
		return true;
	case 'b':
	case 'f':
		return set_word(options, letter, value);
	default:
		return false;
	}
}

struct bench_options bench_options(int argc, char **argv, struct bench_options options, const char *what)
{
	static const struct option longs[] = {
		{ "bind", required_argument, NULL, 'b' }, { "touch", required_argument, NULL, 'f' },
		{ "shared", no_argument, NULL, 'S' },     { "huge", no_argument, NULL, 'H' },
		{ "help", no_argument, NULL, 'h' },       { 0 },
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "p:t:k:s:c:K:h", longs, NULL)) != -1)
		if (!set_option(&options, letter, optarg))
			usage(argv[0], what, letter == 'h' ? 0 : 2);
	if (options.threads == 0)
		options.threads = bench_machine.cpus;
	if (optind != argc || options.processes == 0 || options.kib == 0 || !(options.seconds > 0) ||
	    (uint64_t)options.processes * options.threads > BENCH_THREADS_MOST)
		usage(argv[0], what, 2);
	NUMABOX_OFF(); /* what comes now, until the clock starts, is not measured */
	return options;
}

/* ---- the clock ------------------------------------------------------------------------------------------ */

double bench_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void sleep_until(double when_s)
{
	double wait_s;

	while ((wait_s = when_s - bench_now_s()) > 0) {
		struct timespec wait = { (time_t)wait_s, (long)(1e9 * (wait_s - (double)(time_t)wait_s)) };

		nanosleep(&wait, NULL);
	}
}

void bench_clock_begin(struct bench_clock *clock, double seconds)
{
	NUMABOX_ON();
	*clock = (struct bench_clock){ .seconds = seconds, .begin_s = bench_now_s() };
}

bool bench_clock_goes_on(struct bench_clock *clock, uint64_t done)
{
	double past_s = bench_now_s() - clock->begin_s;

	clock->done += done;
	if (clock->third_s <= 0 && past_s >= clock->seconds * 2 / 3) {
		clock->third_s = past_s;
		clock->third_done = clock->done;
	}
	return past_s < clock->seconds;
}

void bench_clock_end(const struct bench_clock *clock)
{
	double seconds = bench_now_s() - clock->begin_s;

	NUMABOX_OFF();
	printf("bench: work %llu seconds %.3f last_work %llu last_seconds %.3f\n", (unsigned long long)clock->done, seconds,
	       (unsigned long long)(clock->done - clock->third_done), seconds - clock->third_s);
}

/* ---- processes and threads -------------------------------------------------------------------------------- */

/* Shared by all processes. */
static struct shared {
	pthread_barrier_t ready;
	atomic_bool stop;
	struct {
		_Atomic uint64_t done;
		char pad[56]; /* the next thread's count is on another cache line */
	} thread[BENCH_THREADS_MOST];
} *shared;

static const struct bench_work *the_work;

static uint64_t done_by_all(unsigned all)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < all; i++)
		sum += atomic_load_explicit(&shared->thread[i].done, memory_order_relaxed);
	return sum;
}

static void *thread_main(void *argument)
{
	struct bench_worker *worker = argument;
	const struct bench_options *options = worker->options;

	if (options->bind != BENCH_NONE)
		bench_pin(bench_cpu_of(options->bind, worker->i, worker->all));
	if (the_work->touch != NULL)
		the_work->touch(worker);
	pthread_barrier_wait(&shared->ready); /* all are ready: the clock's owner turns the model on */
	pthread_barrier_wait(&shared->ready);
	for (uint64_t round = 0; !atomic_load_explicit(&shared->stop, memory_order_relaxed); round++)
		atomic_fetch_add_explicit(&shared->thread[worker->i].done, the_work->work(worker, round), memory_order_relaxed);
	return NULL;
}

static void start_threads(const struct bench_options *options, unsigned process, pthread_t *threads)
{
	static struct bench_worker workers[BENCH_THREADS_MOST];
	void *memory;

	/* One thread touches all memory first, and it is on the first node: as most programs do it */
	if (options->bind == BENCH_NONE)
		bench_pin(0);
	memory = the_work->prepare(options, process);
	bench_unpin();
	for (unsigned t = 0; t < options->threads; t++) {
		workers[t] = (struct bench_worker){ .process = process, .thread = t, .i = process * options->threads + t,
			                            .all = options->processes * options->threads, .options = options,
			                            .memory = memory };
		if (pthread_create(&threads[t], NULL, thread_main, &workers[t]) != 0) {
			perror("no thread");
			exit(2);
		}
	}
}

static void join_threads(const struct bench_options *options, const pthread_t *threads)
{
	for (unsigned t = 0; t < options->threads; t++)
		pthread_join(threads[t], NULL);
}

/* The clock's owner: sleeps, counts at two thirds and at the end, and stops all. */
static void keep_time(const struct bench_options *options)
{
	unsigned all = options->processes * options->threads;
	struct bench_clock clock;

	pthread_barrier_wait(&shared->ready);
	bench_clock_begin(&clock, options->seconds);
	pthread_barrier_wait(&shared->ready);
	sleep_until(clock.begin_s + options->seconds * 2 / 3);
	bench_clock_goes_on(&clock, done_by_all(all));
	sleep_until(clock.begin_s + options->seconds);
	clock.done = done_by_all(all);
	bench_clock_end(&clock);
	atomic_store(&shared->stop, true);
}

static void child(const struct bench_options *options, unsigned process)
{
	pthread_t threads[BENCH_THREADS_MOST];

	start_threads(options, process, threads);
	join_threads(options, threads);
	exit(0); /* not _exit: what was put into the process has its report to write */
}

static int run_children(const struct bench_options *options)
{
	pid_t pids[BENCH_THREADS_MOST];
	int failed = 0;

	for (unsigned p = 0; p < options->processes; p++) {
		pids[p] = fork();
		if (pids[p] < 0) {
			perror("no process");
			return 2;
		}
		if (pids[p] == 0)
			child(options, p);
	}
	keep_time(options);
	for (unsigned p = 0; p < options->processes; p++) {
		int status = 0;

		while (waitpid(pids[p], &status, 0) < 0 && errno == EINTR)
			continue;
		failed |= status != 0;
	}
	return failed ? 2 : 0;
}

static int run_here(const struct bench_options *options)
{
	pthread_t threads[BENCH_THREADS_MOST];

	start_threads(options, 0, threads);
	keep_time(options);
	join_threads(options, threads);
	return 0;
}

int bench_run(const struct bench_options *options, const struct bench_work *work)
{
	pthread_barrierattr_t attributes;

	the_work = work;
	shared = bench_map_shared(sizeof(*shared));
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->ready, &attributes, options->processes * options->threads + 1);
	fflush(stdout);
	return options->processes > 1 ? run_children(options) : run_here(options);
}
