#include "fake_source.h"

#include <stdio.h>

struct fake_source fake_source;

static int start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	fake_source.starts++;
	fake_source.first_ns = setup->period_ns;
	if (fake_source.why) snprintf(why, SOURCE_WHY, "%s", fake_source.why);
	*state = &fake_source;
	return fake_source.start_error;
}

static int thread_add(void *state, unsigned thread, pid_t tid)
{
	struct fake_source *f = state;
	(void)tid;
	f->adds++;
	f->watched[thread] = true;
	f->period_ns[thread] = f->first_ns;
	f->last_ns[thread] = f->clock->now_ns;
	return 0;
}

static void thread_remove(void *state, unsigned thread)
{
	struct fake_source *f = state;
	f->removes++;
	f->watched[thread] = false;
}

static uint64_t roll(struct fake_source *f)
{
	f->dice = f->dice * 6364136223846793005ull + 1442695040888963407ull;
	return f->dice >> 11;
}

/* Samples of one feed since the last poll. */
static unsigned due(struct fake_source *f, unsigned thread)
{
	double busy = f->busy[thread] > 0 ? (double)f->busy[thread] : 1, period = (double)f->period_ns[thread] / busy;
	unsigned n = (unsigned)((double)(f->clock->now_ns - f->last_ns[thread]) / period);
	f->last_ns[thread] += (uint64_t)((double)n * period);
	return n;
}

static void put_one(struct fake_source *f, unsigned k, const struct sink *sink)
{
	unsigned thread = f->feed[k].thread;
	struct access a = { .addr = f->feed[k].addr + roll(f) % f->feed[k].bytes, .thread = thread,
	                    .weight_ns = f->faults ? FAKE_SOURCE_SAMPLE_NS : (float)f->period_ns[thread],
	                    .kind = f->faults ? ACCESS_HINT_FAULT : ACCESS_SAMPLE };
	sink->put(sink->arg, &a);
}

/* Threads sample at the same time, so they take turns. */
static int poll(void *state, const struct sink *sink, unsigned most)
{
	static struct source_taken taken[FAKE_SOURCE_FEEDS];
	struct fake_source *f = state;
	if (f->dies_at && ++f->polls >= f->dies_at) return f->dies_of;
	unsigned put = 0, came = 1;
	for (unsigned k = 0; k < f->n_feeds; k++)
		taken[k] = (struct source_taken){ .thread = f->feed[k].thread, .lost = f->watched[f->feed[k].thread] ? due(f, f->feed[k].thread) : 0 };
	for (unsigned i = 0; came; i++) {
		came = 0;
		for (unsigned k = 0; k < f->n_feeds; k++) {
			if (i >= taken[k].samples + taken[k].lost) continue;
			came++;
			if (put == most) {
				f->lost++;
				continue;
			}
			if (!f->nothing) put_one(f, k, sink);
			put++;
			taken[k].lost--;
			taken[k].samples++;
			taken[k].accesses += !f->nothing;
			taken[k].decode_ns += f->decode_ns[taken[k].thread];
		}
	}
	for (unsigned k = 0; k < f->n_feeds; k++) {
		taken[k].time_ns = (taken[k].samples + taken[k].lost) * f->period_ns[taken[k].thread];
		f->decoded_ns += taken[k].decode_ns;
		f->clock->own_ns += taken[k].decode_ns;
		if (sink->taken && f->watched[taken[k].thread]) sink->taken(sink->arg, &taken[k]);
	}
	f->samples += put;
	f->lost += f->flood;
	f->clock->own_ns += put * f->access_ns;
	return f->nothing ? 0 : (int)put;
}

static void set_period(void *state, unsigned thread, uint64_t period_ns)
{
	((struct fake_source *)state)->period_ns[thread] = period_ns;
}

static void counts(const void *state, struct source_counts *counts)
{
	const struct fake_source *f = state;
	*counts = (struct source_counts){ .samples = f->samples, .resolved = f->samples, .lost = f->lost, .decode_ns = f->decoded_ns };
}

static void stop(void *state)
{
	((struct fake_source *)state)->stops++;
}

void fake_source_feed(unsigned thread, uint64_t addr, uint64_t bytes)
{
	unsigned k = 0;
	while (k < fake_source.n_feeds && fake_source.feed[k].thread != thread) k++;
	fake_source.feed[k].thread = thread;
	fake_source.feed[k].addr = addr;
	fake_source.feed[k].bytes = bytes;
	if (k == fake_source.n_feeds) fake_source.n_feeds++;
}

const struct source_ops fake_source_ops = { .name = "fake", .sample_ns = FAKE_SOURCE_SAMPLE_NS, .start = start, .thread_add = thread_add,
	.thread_remove = thread_remove, .poll = poll, .set_period = set_period, .counts = counts, .stop = stop };
