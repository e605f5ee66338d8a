/* Samples of a kernel by a real source. The linker's --wrap lets us see each sample on its way through
 * the decoder (operand_resolve), which a source's sink does not show. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "sys/source.h"

enum {
	PERF_PERIOD_NS = 50000,
	TIMER_PERIOD_NS = 1000000, /* the kernel's tick decides in the end */
	POLL_US = 2000,
	KEPT = 512,                /* samples kept for the measurement of costs */
};

unsigned __real_operand_resolve(struct operand_decoder *decoder, const struct regs *regs, uint64_t addrs[], unsigned most);
unsigned __wrap_operand_resolve(struct operand_decoder *decoder, const struct regs *regs, uint64_t addrs[], unsigned most);

static struct tally *seen; /* NULL: not sampling, the call is another's */
static struct regs kept[KEPT];
static unsigned kept_count;

static void show(const struct regs *regs, const uint64_t addrs[], unsigned count)
{
	printf("# ip %llx:", (unsigned long long)regs->ip);
	for (unsigned i = 0; i < count; i++)
		printf(" %llx(%u)", (unsigned long long)addrs[i], array_of(addrs[i]));
	printf("\n");
}

unsigned __wrap_operand_resolve(struct operand_decoder *decoder, const struct regs *regs, uint64_t addrs[], unsigned most)
{
	struct operand_counts before, after;
	unsigned count;

	if (!seen)
		return __real_operand_resolve(decoder, regs, addrs, most);
	operand_counts(decoder, &before);
	count = __real_operand_resolve(decoder, regs, addrs, most);
	operand_counts(decoder, &after);
	tally_add(seen, addrs, count, after.gather > before.gather);
	if (kept_count < KEPT)
		kept[kept_count++] = *regs;
	if (getenv("CHECK_SHOW"))
		show(regs, addrs, count);
	return count;
}

/* ---- the thread that runs the kernel --------------------------------------------------------------------- */

struct worker {
	const struct kernel *kernel;
	struct data *data;
	_Atomic int tid;
	_Atomic bool go;
	_Atomic bool stop;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	w->tid = (int)syscall(SYS_gettid);
	while (!w->go)
		usleep(100);
	while (!w->stop)
		w->kernel->run(w->data);
	return NULL;
}

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void ignore(void *arg, const struct access *access)
{
	(void)arg;
	(void)access;
}

static int watch(const struct source_ops *ops, void *state, struct worker *w, double seconds)
{
	struct sink sink = { ignore, NULL };
	double end = now(CLOCK_MONOTONIC) + seconds;
	int err;

	while (!w->tid)
		usleep(100);
	err = ops->thread_add(state, 0, w->tid);
	w->go = true;
	while (err >= 0 && now(CLOCK_MONOTONIC) < end) {
		usleep(POLL_US);
		err = ops->poll(state, &sink, 1u << 20);
	}
	ops->thread_remove(state, 0);
	return err < 0 ? err : 0;
}

int sample_kernel(const char *source, const struct kernel *kernel, struct data *data, double seconds, struct tally *tally)
{
	const struct source_ops *ops = strcmp(source, "timer") == 0 ? &source_clock_timer : &source_clock_perf;
	struct source_setup setup = { ops == &source_clock_timer ? TIMER_PERIOD_NS : PERF_PERIOD_NS, 1 };
	struct worker w = { .kernel = kernel, .data = data };
	char why[SOURCE_WHY] = "";
	void *state = NULL;
	pthread_t thread;
	int err;

	seen = tally;
	kept_count = 0;
	err = ops->start(&setup, &state, why);
	if (err) {
		seen = NULL;
		printf("%s: off: %s (%s)\n", ops->name, why, strerror(-err));
		return err;
	}
	err = -pthread_create(&thread, NULL, work, &w);
	if (!err) {
		err = watch(ops, state, &w, seconds);
		w.stop = true;
		w.go = true;
		pthread_join(thread, NULL);
	}
	ops->stop(state);
	seen = NULL;
	return err;
}

/* ---- costs -------------------------------------------------------------------------------------------------- */

static double resolve_kept_ns(struct operand_decoder *decoder, unsigned times)
{
	uint64_t addrs[OPERAND_MOST];
	double start = now(CLOCK_THREAD_CPUTIME_ID); /* whatever else runs on the machine */

	for (unsigned t = 0; t < times; t++)
		for (unsigned i = 0; i < kept_count; i++)
			(void)__real_operand_resolve(decoder, &kept[i], addrs, OPERAND_MOST);
	return (now(CLOCK_THREAD_CPUTIME_ID) - start) * 1e9 / times;
}

int cost_kernel(const struct kernel *kernel, struct data *data)
{
	struct operand_decoder *decoder;
	struct operand_counts counts;
	struct tally tally = { 0 };
	double first, again;
	int err = sample_kernel("perf", kernel, data, 0.1, &tally);

	if (err || operand_open(&operand_code_self, &decoder))
		return err ? err : -ENOMEM;
	first = resolve_kept_ns(decoder, 1);
	again = resolve_kept_ns(decoder, 50);
	operand_counts(decoder, &counts);
	operand_close(decoder);
	if (kept_count == 0)
		return 0;
	printf("%s\tuncached %.1f us\tcached %.0f ns\t(%u samples, %llu instructions)\n", kernel->name,
	       (first - again) / 1e3 / (double)(51 * kept_count - counts.cached), again / kept_count, kept_count,
	       (unsigned long long)(51 * kept_count - counts.cached));
	return 0;
}
