/* Clock samples by perf_event: the kernel's CPU clock with the user's registers, one ring for each
 * thread, read by the helper. Nothing of it runs in the program's threads. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock_sample.h"
#include "perf_ring.h"
#include "pick.h"
#include "source.h"

enum {
	PERIOD_LEAST_NS = 20000,        /* the kernel takes none shorter than 10 us */
	PROBE_PERIOD_NS = 100000,       /* while the probe spins... */
	PROBE_MOST_NS = 50000000,       /* ...so long at most, of the caller's CPU time */
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
	uint64_t period_ns;             /* 0: stopped */
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

static bool sample_regs(const union perf_record *record, struct regs *regs)
{
	const struct clock_sample *sample = (const struct clock_sample *)record;

	if (record->header.type != PERF_RECORD_SAMPLE || record->header.size < sizeof(*sample) || sample->abi != ABI_64)
		return false;
	regs_from_perf(regs, sample->regs);
	return true;
}

/* ---- start -------------------------------------------------------------------------------------------- */

/* Spins in user space until the calling thread was sampled. */
static int probe(void)
{
	struct perf_event_attr attr = clock_attr(PROBE_PERIOD_NS);
	struct perf_ring ring = { 0 };
	uint64_t start = clock_cpu_now_ns();
	bool sampled = false;
	int err = perf_ring_open(&ring, &attr, 0);

	if (err)
		return err;
	while (!sampled && clock_cpu_now_ns() - start < PROBE_MOST_NS) {
		struct perf_cursor cursor;
		union perf_record record;
		struct regs regs;

		for (volatile unsigned spin = 0; spin < 20000; spin++)
			continue;
		cursor = perf_ring_begin(&ring);
		while (!sampled && perf_cursor_next(&cursor, &record))
			sampled = sample_regs(&record, &regs);
	}
	perf_ring_close(&ring);
	return sampled ? 0 : -ENODATA;
}

static int clock_perf_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct clock_perf *s = calloc(1, sizeof(*s));
	int err = s ? perf_rings_create(&s->rings, setup->max_threads) : -ENOMEM;

	if (err) {
		snprintf(why, SOURCE_WHY, "no memory");
		free(s);
		return err;
	}
	err = probe();
	if (err == -ENODATA)
		snprintf(why, SOURCE_WHY, "perf_event_open works, but no sample of the CPU clock came");
	else if (err)
		snprintf(why, SOURCE_WHY, "%s", perf_refusal(err));
	else
		err = clock_samples_open(&s->samples, why);
	if (err) {
		clock_samples_close(&s->samples);
		perf_rings_destroy(&s->rings);
		free(s);
		return err;
	}
	s->period_ns = setup->period_ns;
	*state = s;
	return 0;
}

/* ---- hooks -------------------------------------------------------------------------------------------- */

static uint64_t period_in_force(uint64_t period_ns)
{
	return period_ns < PERIOD_LEAST_NS ? PERIOD_LEAST_NS : period_ns;
}

static int clock_perf_thread_add(void *state, unsigned thread, pid_t tid)
{
	struct clock_perf *s = state;
	struct perf_event_attr attr = clock_attr(period_in_force(s->period_ns));

	attr.disabled = s->period_ns == 0;
	return perf_rings_add(&s->rings, &attr, thread, tid);
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
	struct clock_perf *s = ((struct take *)arg)->s;
	struct perf_ring *ring = &s->rings.ring[thread];
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
			put += clock_samples_put(&s->samples, thread, &regs, period_in_force(s->period_ns), ((struct take *)arg)->sink);
		else
			s->samples.counts.lost++;
	}
	perf_ring_read(ring, &cursor);
	return put;
}

static int clock_perf_poll(void *state, const struct sink *sink, unsigned most)
{
	struct clock_perf *s = state;
	struct take take = { s, sink };
	int err = clock_samples_begin(&s->samples);

	return err ? err : (int)perf_rings_poll(&s->rings, most, OPERAND_MOST, poll_ring, &take);
}

static void clock_perf_set_period(void *state, uint64_t period_ns)
{
	struct clock_perf *s = state;

	s->period_ns = period_ns;
	perf_rings_set_period(&s->rings, period_ns ? period_in_force(period_ns) : 0);
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
	clock_samples_close(&s->samples);
	free(s);
}

static void clock_perf_forked(void *state)
{
	struct clock_perf *s = state;

	perf_rings_forked(&s->rings);
	clock_samples_close(&s->samples);
	free(s);
}

const struct source_ops source_clock_perf = {
	.name = "clock-perf",
	.sample_ns = 1500, /* an interrupt */
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
