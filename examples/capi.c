/* nsched by its C API: a program that knows which thread works on what says so, and needs no sampling to have
 * threads and memory brought together. It runs the scheduler's steps itself, between two passes of its loop, so
 * that there is no thread but its own.
 *
 *     cc -O2 capi.c support.c -lnsched -lpthread -lm -o capi
 *     ./capi -v
 *
 * As in triad.c the first thread fills all arrays, so that all memory is on its NUMA node. */
#define _GNU_SOURCE
#include <nsched.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "support.h"

enum {
	THREADS_MOST = 256,
	STEP_EVERY = 16,         /* passes between two steps of the scheduler */
	ARRAYS = 3,
};

/* About what one thread moves; only how the hints compare matters. */
static const uint64_t bytes_per_s = 2000000000;

static struct {
	nsched_t *nsched;
	double *array[ARRAYS];   /* a = b + scale * c */
	size_t n;
	unsigned threads;
	pthread_barrier_t pass;
	double scale;
	bool goes_on, look_now;
	struct progress progress;
	struct pages seen[THREADS_MOST];
} work;

/* ---- what nsched is told ---------------------------------------------------------------------------- */

/* Nothing here may fail the program: without nsched it runs as it would without it. */
static void say(int ret, const char *what)
{
	if (ret < 0)
		fprintf(stderr, "nsched: %s did not work (%d); going on without\n", what, ret);
}

static void open_nsched(void)
{
	static const char *const names[ARRAYS] = { "a", "b", "c" };

	say(nsched_open(NULL, &work.nsched), "opening it");
	for (int k = 0; k < ARRAYS && work.nsched; k++)
		say(nsched_mem_attach(work.nsched, names[k], work.array[k], work.n * sizeof(double)), "naming an array");
}

static nsched_thread_t *register_thread(size_t first, size_t end)
{
	nsched_thread_t *thread = NULL;

	if (work.nsched)
		say(nsched_thread_register(work.nsched, &thread), "registering a thread");
	for (int k = 0; k < ARRAYS && thread; k++)
		say(nsched_mem_hint(work.nsched, thread, work.array[k] + first, (end - first) * sizeof(double), bytes_per_s),
		    "saying who uses what");
	return thread;
}

static void close_nsched(void)
{
	for (int k = 0; k < ARRAYS && work.nsched; k++)
		say(nsched_mem_detach(work.nsched, work.array[k]), "forgetting an array");
	if (work.nsched)
		say(nsched_close(work.nsched), "closing it");
}

/* ---- the program ------------------------------------------------------------------------------------ */

static struct pages look(size_t first, size_t end)
{
	struct pages sum = { 0, 0 };

	for (int k = 0; k < ARRAYS; k++) {
		struct pages pages = pages_of(work.array[k], first, end);

		sum.all += pages.all;
		sum.local += pages.local;
	}
	return sum;
}

static struct pages seen_by_all(void)
{
	struct pages sum = { 0, 0 };

	for (unsigned t = 0; t < work.threads; t++) {
		sum.all += work.seen[t].all;
		sum.local += work.seen[t].local;
	}
	return sum;
}

/* Between two passes, while the others wait. */
static void between(long pass)
{
	if (pass == 0)
		progress_begin(&work.progress, work.progress.options, seen_by_all());
	if (work.look_now)
		progress_look(&work.progress, seen_by_all());
	if (work.nsched && pass % STEP_EVERY == 0)
		nsched_step(work.nsched);   /* -EBUSY where a helper thread does it: as good */
	work.goes_on = progress_goes_on(&work.progress, &work.look_now);
	work.scale += 1.0;
}

static void *worker(void *arg)
{
	unsigned self = (unsigned)(size_t)arg;
	size_t first = work.n * self / work.threads, end = work.n * (self + 1) / work.threads;
	double *a = work.array[0], *b = work.array[1], *c = work.array[2];
	nsched_thread_t *thread = register_thread(first, end);

	work.seen[self] = look(first, end);
	for (long pass = 0;; pass++) {
		pthread_barrier_wait(&work.pass);
		if (self == 0)
			between(pass);
		pthread_barrier_wait(&work.pass);
		if (!work.goes_on)
			break;
		nsched_region_begin(thread, (const void *)worker);
		nsched_thread_place(thread);
		for (size_t i = first; i < end; i++)
			a[i] = b[i] + work.scale * c[i];
		nsched_region_end(thread);
		if (work.look_now)
			work.seen[self] = look(first, end);
	}
	work.seen[self] = look(first, end);
	nsched_thread_unregister(thread);
	return NULL;
}

static bool run_threads(void)
{
	pthread_t thread[THREADS_MOST];

	for (unsigned t = 0; t < work.threads; t++)
		if (pthread_create(&thread[t], NULL, worker, (void *)(size_t)t) != 0) {
			perror("no thread");
			exit(2);
		}
	for (unsigned t = 0; t < work.threads; t++)
		pthread_join(thread[t], NULL);
	for (size_t i = 0; i < work.n; i++)
		if (work.array[0][i] != 1.0 + (work.scale - 1.0) * 2.0)
			return false;
	return true;
}

static unsigned cpus(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return n > THREADS_MOST ? THREADS_MOST : (unsigned)n;
}

int main(int argc, char **argv)
{
	struct options options = options_from(argc, argv, "a[i] = b[i] + scale * c[i] by threads that say what they use");

	work.n = (options.mib << 20) / sizeof(double);
	work.threads = cpus();
	work.progress.options = &options;
	for (int k = 0; k < ARRAYS; k++)
		work.array[k] = array_of(work.n);
	for (size_t i = 0; i < work.n; i++) {
		work.array[0][i] = 0.0;
		work.array[1][i] = 1.0;
		work.array[2][i] = 2.0;
	}
	pthread_barrier_init(&work.pass, NULL, work.threads);
	open_nsched();

	bool right = run_threads();
	int status = progress_end(&work.progress, seen_by_all(), right);

	close_nsched();
	return status;
}
