#include "fake_source.h"

#include <stdio.h>

struct fake_source fake_source;

static int start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	fake_source.starts++;
	fake_source.period_ns = setup->period_ns;
	fake_source.last_ns = fake_source.clock->now_ns;
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

/* Threads sample at the same time, so they take turns. */
static int poll(void *state, const struct sink *sink, unsigned most)
{
	struct fake_source *f = state;
	if (f->dies_at && ++f->polls >= f->dies_at) return f->dies_of;
	uint64_t n = f->period_ns ? (f->clock->now_ns - f->last_ns) / f->period_ns : 0;
	unsigned put = 0;
	f->last_ns += n * f->period_ns;
	for (uint64_t i = 0; i < n; i++)
		for (unsigned k = 0; k < f->n_feeds; k++) {
			if (!f->watched[f->feed[k].thread]) continue;
			if (put == most) {
				f->lost++;
				continue;
			}
			struct access a = { .addr = f->feed[k].addr + roll(f) % f->feed[k].bytes, .thread = f->feed[k].thread,
			                    .weight_ns = f->faults ? FAKE_SOURCE_SAMPLE_NS : (float)f->period_ns,
			                    .kind = f->faults ? ACCESS_HINT_FAULT : ACCESS_SAMPLE };
			sink->put(sink->arg, &a);
			put++;
		}
	f->samples += put;
	f->lost += f->flood;
	f->clock->own_ns += put * f->access_ns;
	return (int)put;
}

static void set_period(void *state, uint64_t period_ns)
{
	((struct fake_source *)state)->period_ns = period_ns;
}

static void counts(const void *state, struct source_counts *counts)
{
	const struct fake_source *f = state;
	*counts = (struct source_counts){ .samples = f->samples, .resolved = f->samples, .lost = f->lost };
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
