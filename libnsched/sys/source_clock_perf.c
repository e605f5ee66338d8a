/* Clock samples by perf_event: the kernel's CPU clock with the user's registers, one ring for each
 * thread, read by the helper. Nothing of it runs in the program's threads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock_sample.h"
#include "perf_ring.h"
#include "pick.h"
#include "source.h"

enum {
	PERIOD_LEAST_NS = 20000,        /* the kernel takes none shorter than 10 us */
	PROBE_PERIOD_NS = 100000,       /* while the probe spins... */
	PROBE_MOST_NS = 100000000,      /* ...so long at most, of the caller's CPU time: emulated machines are slow */
	PRICE_NS = 300000,              /* spins with and without samples are so long, to see what a sample takes... */
	PRICE_SPINS = 3,                /* ...and so many of each: the middle one counts */
	PRICE_USUAL_NS = 1500,          /* of a real machine; where it could not be seen */
	PRICE_LEAST_NS = 500,           /* no interrupt is quicker */
	SPIN_ROUND = 4096,              /* turns between two looks at the clock, which may be a system call, where no sample is taken */
	ABI_64 = 2,                     /* PERF_SAMPLE_REGS_ABI_64 */
};

/* PERF_RECORD_SAMPLE with IP | TID | REGS_USER. */
struct clock_sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t abi;
	uint64_t regs[REGS_PERF_COUNT];
};

struct clock_perf {
	struct perf_rings rings;
	struct clock_samples samples;
	uint64_t period_ns;             /* at first */
	uint64_t *thread_ns;            /* and of each thread now */
	unsigned sample_ns;             /* what a sample takes */
};

static struct perf_event_attr clock_attr(uint64_t period_ns)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = REGS_PERF_MASK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody waits for it */
	};
}

static uint64_t period_in_force(uint64_t period_ns)
{
	return period_ns < PERIOD_LEAST_NS ? PERIOD_LEAST_NS : period_ns;
}

static bool sample_regs(const union perf_record *record, struct regs *regs)
{
	const struct clock_sample *sample = (const struct clock_sample *)record;

	if (record->header.type != PERF_RECORD_SAMPLE || record->header.size < sizeof(*sample) || sample->abi != ABI_64)
		return false;
	regs_from_perf(regs, sample->regs);
	return true;
}

/* ---- start -------------------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct spun {
	double rounds, ns;
};

/* Spins in user space for so long, or a little longer. */
static struct spun spin(uint64_t ns)
{
	struct spun spun = { 0 };
	uint64_t begin = now_ns();

	do {
		for (volatile unsigned i = 0; i < SPIN_ROUND; i++)
			continue;
		spun.rounds++;
		spun.ns = (double)(now_ns() - begin);
	} while (spun.ns < (double)ns);
	return spun;
}

/* Samples since the last call. */
static unsigned count_samples(struct perf_ring *ring)
{
	struct perf_cursor cursor = perf_ring_begin(ring);
	union perf_record record;
	struct regs regs;
	unsigned samples = 0;

	while (perf_cursor_next(&cursor, &record))
		samples += sample_regs(&record, &regs);
	perf_ring_read(ring, &cursor);
	return samples;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What a sample takes of the thread: the time that its spins take longer, for each sample in them. A virtual machine's interrupts cost ten
 * times those of a real one. */
static unsigned price(struct perf_ring *ring)
{
	struct spun with[PRICE_SPINS];
	unsigned samples[PRICE_SPINS], n = 0;
	double round_ns = 0, ns[PRICE_SPINS];

	for (unsigned i = 0; i < PRICE_SPINS; i++) {
		struct spun without;

		(void)perf_ring_enable(ring, false);
		without = spin(PRICE_NS);
		if (round_ns <= 0 || without.ns / without.rounds < round_ns)
			round_ns = without.ns / without.rounds;
		(void)perf_ring_enable(ring, true);
		(void)count_samples(ring);
		with[i] = spin(PRICE_NS);
		samples[i] = count_samples(ring);
	}
	for (unsigned i = 0; i < PRICE_SPINS; i++)
		if (samples[i])
			ns[n++] = (with[i].ns - with[i].rounds * round_ns) / samples[i];
	if (!n)
		return PRICE_USUAL_NS;
	qsort(ns, n, sizeof(*ns), by_value);
	return ns[n / 2] > PRICE_LEAST_NS ? (unsigned)ns[n / 2] : PRICE_LEAST_NS;
}

/* Spins until the calling thread was sampled, and then to see what that takes. */
static int probe(unsigned *sample_ns)
{
	struct perf_event_attr attr = clock_attr(PROBE_PERIOD_NS);
	struct perf_ring ring = { 0 };
	uint64_t start = clock_cpu_now_ns();
	bool sampled = false;
	int err = perf_ring_open(&ring, &attr, 0);

	if (err)
		return err;
	while (!sampled && clock_cpu_now_ns() - start < PROBE_MOST_NS) {
		(void)spin(PROBE_PERIOD_NS);
		sampled = count_samples(&ring) > 0;
	}
	if (sampled)
		*sample_ns = price(&ring);
	perf_ring_close(&ring);
	return sampled ? 0 : -ENODATA;
}

static void free_state(struct clock_perf *s)
{
	clock_samples_close(&s->samples);
	free(s->thread_ns);
	free(s);
}

static int make(const struct source_setup *setup, struct clock_perf *s)
{
	s->thread_ns = calloc(setup->max_threads ? setup->max_threads : 1, sizeof(*s->thread_ns));
	return s->thread_ns ? perf_rings_create(&s->rings, setup->max_threads) : -ENOMEM;
}

static int clock_perf_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct clock_perf *s = calloc(1, sizeof(*s));
	int err = s ? make(setup, s) : -ENOMEM;

	if (err) {
		snprintf(why, SOURCE_WHY, "no memory");
		if (s)
			free_state(s);
		return err;
	}
	err = probe(&s->sample_ns);
	if (err == -ENODATA)
		snprintf(why, SOURCE_WHY, "perf_event_open works, but no sample of the CPU clock came");
	else if (err)
		snprintf(why, SOURCE_WHY, "%s", perf_refusal(err));
	else
		err = clock_samples_open(&s->samples, why);
	if (err) {
		perf_rings_destroy(&s->rings);
		free_state(s);
		return err;
	}
	s->period_ns = period_in_force(setup->period_ns);
	*state = s;
	return 0;
}

/* ---- hooks -------------------------------------------------------------------------------------------- */

static int clock_perf_thread_add(void *state, unsigned thread, pid_t tid)
{
	struct clock_perf *s = state;
	struct perf_event_attr attr = clock_attr(s->period_ns);
	int err = perf_rings_add(&s->rings, &attr, thread, tid);

	if (!err)
		s->thread_ns[thread] = s->period_ns;
	return err;
}

static void clock_perf_thread_remove(void *state, unsigned thread)
{
	struct clock_perf *s = state;

	perf_rings_remove(&s->rings, thread);
}

struct take {
	struct clock_perf *s;
	const struct sink *sink;
};

static unsigned poll_ring(void *arg, unsigned thread, unsigned most)
{
	struct take *take = arg;
	struct clock_perf *s = take->s;
	struct perf_ring *ring = &s->rings.ring[thread];
	struct source_counts before = s->samples.counts;
	struct source_taken taken = { .thread = thread };
	struct perf_cursor cursor = perf_ring_begin(ring);
	struct pick pick = clock_samples_pick(&s->samples, perf_cursor_records(&cursor), most);
	union perf_record record;
	unsigned put = 0;

	while (perf_cursor_next(&cursor, &record)) {
		struct regs regs;

		s->samples.counts.lost += perf_record_lost(&record);
		if (!sample_regs(&record, &regs))
			continue;
		if (pick_next(&pick) && put + OPERAND_MOST <= most)
			put += clock_samples_put(&s->samples, thread, &regs, s->thread_ns[thread], take->sink);
		else
			s->samples.counts.lost++;
	}
	perf_ring_read(ring, &cursor);
	taken.accesses = put;
	taken.time_ns = s->thread_ns[thread] * (s->samples.counts.samples - before.samples + s->samples.counts.lost - before.lost);
	clock_samples_tell(&s->samples, &before, take->sink, &taken);
	return put;
}

static int clock_perf_poll(void *state, const struct sink *sink, unsigned most)
{
	struct clock_perf *s = state;
	struct take take = { s, sink };
	int err = clock_samples_begin(&s->samples);

	return err ? err : (int)perf_rings_poll(&s->rings, most, OPERAND_MOST, poll_ring, &take);
}

static void clock_perf_set_period(void *state, unsigned thread, uint64_t period_ns)
{
	struct clock_perf *s = state;

	if (thread >= s->rings.end)
		return;
	s->thread_ns[thread] = period_in_force(period_ns);
	perf_rings_set_period(&s->rings, thread, s->thread_ns[thread]);
}

static unsigned clock_perf_price(const void *state)
{
	return ((const struct clock_perf *)state)->sample_ns;
}

static void clock_perf_counts(const void *state, struct source_counts *counts)
{
	const struct clock_perf *s = state;

	*counts = s->samples.counts;
}

static void clock_perf_stop(void *state)
{
	struct clock_perf *s = state;

	perf_rings_destroy(&s->rings);
	free_state(s);
}

static void clock_perf_forked(void *state)
{
	struct clock_perf *s = state;

	perf_rings_forked(&s->rings);
	free_state(s);
}

const struct source_ops source_clock_perf = {
	.name = "clock-perf",
	.sample_ns = PRICE_USUAL_NS,
	.price = clock_perf_price,
	.stands_in_for = &source_mem,
	.start = clock_perf_start,
	.thread_add = clock_perf_thread_add,
	.thread_remove = clock_perf_thread_remove,
	.poll = clock_perf_poll,
	.set_period = clock_perf_set_period,
	.counts = clock_perf_counts,
	.stop = clock_perf_stop,
	.forked = clock_perf_forked,
};
