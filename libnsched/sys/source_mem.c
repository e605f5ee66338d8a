/* Hardware samples of memory accesses: address, latency and who served it. Where the hardware has them they are the best
 * there is; nothing runs in the program's threads, and the helper reads the rings.
 *
 * A sample stands for the time that so many such accesses take. Accesses overlap, so all of them together may stand
 * for more time than has passed: a thread's are scaled down to that, by what its last poll added up to. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "mem_pmu.h"
#include "mem_sample.h"
#include "pick.h"
#include "source.h"

enum {
	PROBE_HZ = 4000,                  /* while the probe walks... */
	PROBE_MOST_NS = 8000000,          /* ...so long at most */
	PROBE_BYTES = 32 << 20,           /* more than a core's caches hold */
	SPE_RECORD_BYTES = 44,            /* usually, with what is asked for */
	AUX_BYTES = 64 << 10,             /* 1,500 records of SPE, six seconds at the usual rate */
	AUX_FULL_PART = 2,
	SPE_PERIOD_LEAST = 1024,          /* operations: shorter ones collide with those that are still under way */
	STORES_PART = 4,                  /* stores are sampled so much more seldom: their latency is not told */
};

/* 2.5 GHz: what a cycle is, to 40 %; only how samples compare with each other hangs on it. */
#define CYCLE_NS 0.4f

/* A sample without latency, by who served it. */
#define UNKNOWN_NS 90.0f

struct mem_source {
	struct mem_pmu pmu;
	struct perf_rings loads, stores;
	struct source_counts counts;
	uint64_t period_ns;               /* at first */
	struct { uint64_t polled_ns, period_ns; float sum_ns, scale; } *thread;
};

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* SPE counts operations, about one a ns; the others are asked for a frequency, and adjust their periods to it. */
static void set_rate(const struct mem_pmu *pmu, struct perf_event_attr *attr, uint64_t period_ns)
{
	if (pmu->kind == MEM_PMU_SPE) {
		attr->sample_period = period_ns < SPE_PERIOD_LEAST ? SPE_PERIOD_LEAST : period_ns;
	} else {
		attr->freq = 1;
		attr->sample_freq = period_ns < 1000000000 ? 1000000000 / period_ns : 1;
	}
}

static bool decode(const struct mem_pmu *pmu, const union perf_record *record, struct mem_sample *sample)
{
	return pmu->kind == MEM_PMU_IBS_RAW ? mem_sample_ibs(record, sample) : mem_sample_perf(record, sample);
}

static size_t aux_of(const struct mem_pmu *pmu)
{
	return pmu->kind == MEM_PMU_SPE ? AUX_BYTES : 0;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

struct take {
	struct mem_source *s;
	const struct sink *sink;
	unsigned thread, put, most;
};

static float weight_of(const struct take *t, const struct mem_sample *sample)
{
	float ns = sample->cycles ? (float)sample->cycles * CYCLE_NS : UNKNOWN_NS;
	/* without a period, the time between two samples is all that one can stand for */
	return sample->period ? ns * (float)sample->period : (float)t->s->thread[t->thread].period_ns;
}

static void take_sample(struct take *t, const struct mem_sample *sample)
{
	struct access access = { .addr = sample->addr, .thread = t->thread, .kind = ACCESS_SAMPLE };
	float weight = weight_of(t, sample);

	t->s->counts.resolved++;
	if (sample->served == SERVED_CACHE)
		return; /* where its memory is does not matter */
	t->s->thread[t->thread].sum_ns += weight;
	access.weight_ns = weight * t->s->thread[t->thread].scale;
	t->sink->put(t->sink->arg, &access);
	t->put++;
}

static void read_records(struct take *t, struct perf_ring *ring, unsigned most)
{
	struct perf_cursor cursor = perf_ring_begin(ring);
	struct pick pick = { .all = perf_cursor_records(&cursor), .keep = most };
	union perf_record record;

	while (perf_cursor_next(&cursor, &record)) {
		struct mem_sample sample;

		t->s->counts.lost += perf_record_lost(&record);
		if (record.header.type != PERF_RECORD_SAMPLE)
			continue;
		if (!pick_next(&pick) || t->put >= t->most) {
			t->s->counts.lost++;
			continue;
		}
		t->s->counts.samples++;
		if (decode(&t->s->pmu, &record, &sample))
			take_sample(t, &sample);
		else
			t->s->counts.unresolved++;
	}
	perf_ring_read(ring, &cursor);
}

/* The area is read in one piece, or two where it wraps; a record that lies across is put together. */
static void read_aux(struct take *t, struct perf_ring *ring)
{
	static uint8_t piece[AUX_BYTES]; /* one thread polls at a time */
	uint64_t tail, head = perf_ring_aux_head(ring, &tail), broken = 0;
	size_t bytes = head - tail > ring->aux_bytes ? ring->aux_bytes : (size_t)(head - tail);
	size_t begin = tail & (ring->aux_bytes - 1), first = bytes < ring->aux_bytes - begin ? bytes : ring->aux_bytes - begin;
	size_t at = 0;
	struct mem_sample sample;
	struct perf_aux_told told;
	struct pick pick = { .all = (unsigned)(bytes / SPE_RECORD_BYTES), .keep = t->most };

	memcpy(piece, ring->aux + begin, first);
	memcpy(piece + first, ring->aux, bytes - first);
	while (mem_sample_spe(piece, bytes, &at, &sample, &broken)) {
		if (!pick_next(&pick) || t->put >= t->most) {
			t->s->counts.lost++;
			continue;
		}
		t->s->counts.samples++;
		sample.period = t->s->thread[t->thread].period_ns;
		take_sample(t, &sample);
	}
	told = perf_ring_aux_told(ring);
	t->s->counts.lost += broken + told.lost;
	perf_ring_aux_read(ring, told.full ? head : tail + at); /* of a record that found no room the rest will not come */
	/* the record that says so may have found no room itself: so much between two looks is near enough */
	if (told.full || bytes > ring->aux_bytes / AUX_FULL_PART)
		(void)perf_ring_enable(ring, true);
}

/* A sample stands for a period, or that is what its frequency was asked to be. */
static void tell(const struct take *t, const struct source_counts *before)
{
	const struct source_counts *now = &t->s->counts;
	uint64_t samples = now->samples - before->samples, lost = now->lost - before->lost;
	struct source_taken taken = { .thread = t->thread, .samples = (unsigned)samples, .lost = (unsigned)lost, .accesses = t->put,
	                              .time_ns = (samples + lost) * t->s->thread[t->thread].period_ns };

	if (t->sink->taken)
		t->sink->taken(t->sink->arg, &taken);
}

static unsigned read_thread(void *arg, unsigned thread, unsigned most)
{
	struct take take = *(struct take *)arg;
	struct mem_source *s = take.s;
	uint64_t now = now_ns(), passed = now - s->thread[thread].polled_ns;
	bool stores = s->pmu.has_stores && s->stores.ring[thread].page;
	struct source_counts before = s->counts;
	float sum;

	take.thread = thread;
	take.most = most;
	s->thread[thread].sum_ns = 0;
	if (s->loads.ring[thread].aux)
		read_aux(&take, &s->loads.ring[thread]);
	else
		read_records(&take, &s->loads.ring[thread], stores ? (most + 1) / 2 : most);
	if (stores)
		read_records(&take, &s->stores.ring[thread], most - take.put);
	sum = s->thread[thread].sum_ns;
	s->thread[thread].scale = sum > (float)passed ? (float)passed / sum : 1;
	s->thread[thread].polled_ns = now;
	tell(&take, &before);
	return take.put;
}

static int mem_poll(void *state, const struct sink *sink, unsigned most)
{
	struct mem_source *s = state;
	struct take take = { .s = s, .sink = sink };

	return (int)perf_rings_poll(&s->loads, most, 2, read_thread, &take);
}

/* ---- start ---------------------------------------------------------------------------------------------------------- */

static int add_ring(struct perf_rings *rings, const struct mem_pmu *pmu, const struct perf_event_attr *attr, unsigned thread, pid_t tid)
{
	if (thread >= rings->most)
		return -EINVAL;
	perf_ring_close(&rings->ring[thread]);
	if (thread >= rings->end)
		rings->end = thread + 1;
	return perf_ring_open_more(&rings->ring[thread], attr, pmu->has_leader ? &pmu->leader : NULL, aux_of(pmu), tid);
}

static void probe_sink(void *arg, const struct access *access)
{
	(void)access;
	*(bool *)arg = true;
}

/* Walks over more memory than caches hold until an access of its own was sampled. */
static int probe(struct mem_source *s)
{
	struct perf_event_attr attr = s->pmu.attr;
	bool sampled = false;
	struct sink sink = { probe_sink, &sampled };
	volatile char *memory;
	uint64_t begin = now_ns();
	int err;

	set_rate(&s->pmu, &attr, 1000000000 / PROBE_HZ);
	err = add_ring(&s->loads, &s->pmu, &attr, 0, 0);
	if (err)
		return err;
	memory = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		perf_rings_remove(&s->loads, 0);
		return -ENOMEM;
	}
	for (uint64_t i = 0; !sampled && now_ns() - begin < PROBE_MOST_NS; i++) {
		for (unsigned k = 0; k < 256; k++)
			memory[(i * 256 + k) * 4160 % PROBE_BYTES]++;
		(void)mem_poll(s, &sink, 64);
	}
	munmap((void *)memory, PROBE_BYTES);
	perf_rings_remove(&s->loads, 0);
	s->counts = (struct source_counts){ 0 };
	return sampled ? 0 : -ENODATA;
}

static void free_state(struct mem_source *s)
{
	free(s->thread);
	free(s);
}

static int make(const struct source_setup *setup, struct mem_source *s)
{
	unsigned most = setup->max_threads ? setup->max_threads : 1;

	s->thread = calloc(most, sizeof(*s->thread));
	if (!s->thread || perf_rings_create(&s->loads, most))
		return -ENOMEM;
	if (perf_rings_create(&s->stores, most)) {
		perf_rings_destroy(&s->loads);
		return -ENOMEM;
	}
	s->period_ns = setup->period_ns ? setup->period_ns : 1;
	return 0;
}

static int mem_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct mem_source *s = calloc(1, sizeof(*s));
	struct utsname kernel;
	int err = s && !uname(&kernel) ? mem_pmu_find("", kernel.release, &s->pmu, why) : -ENOMEM;

	if (err) {
		free(s);
		return err;
	}
	err = make(setup, s);
	if (err) {
		snprintf(why, SOURCE_WHY, "no memory");
		free_state(s);
		return err;
	}
	err = probe(s);
	if (err == -ENODATA)
		snprintf(why, SOURCE_WHY, "%s is there, but no sample of an access came", s->pmu.name);
	else if (err)
		snprintf(why, SOURCE_WHY, "%s: %.90s", s->pmu.name, perf_refusal(err));
	if (err) {
		perf_rings_destroy(&s->loads);
		perf_rings_destroy(&s->stores);
		free_state(s);
		return err;
	}
	s->period_ns = setup->period_ns;
	*state = s;
	return 0;
}

/* ---- hooks ------------------------------------------------------------------------------------------------------------ */

static int mem_thread_add(void *state, unsigned thread, pid_t tid)
{
	struct mem_source *s = state;
	struct perf_event_attr attr = s->pmu.attr, stores = s->pmu.stores;
	int err;

	set_rate(&s->pmu, &attr, s->period_ns);
	err = add_ring(&s->loads, &s->pmu, &attr, thread, tid);
	if (err)
		return err;
	s->thread[thread].polled_ns = now_ns();
	s->thread[thread].period_ns = s->period_ns;
	s->thread[thread].scale = 1;
	if (!s->pmu.has_stores)
		return 0;
	set_rate(&s->pmu, &stores, s->period_ns * STORES_PART);
	(void)add_ring(&s->stores, &(struct mem_pmu){ .kind = s->pmu.kind }, &stores, thread, tid); /* loads alone will do */
	return 0;
}

static void mem_thread_remove(void *state, unsigned thread)
{
	struct mem_source *s = state;

	perf_rings_remove(&s->loads, thread);
	perf_rings_remove(&s->stores, thread);
}

static void mem_set_period(void *state, unsigned thread, uint64_t period_ns)
{
	struct mem_source *s = state;
	struct perf_event_attr loads = { 0 }, stores = { 0 };

	if (thread >= s->loads.end)
		return;
	s->thread[thread].period_ns = period_ns;
	set_rate(&s->pmu, &loads, period_ns);
	set_rate(&s->pmu, &stores, period_ns * STORES_PART);
	perf_rings_set_period(&s->loads, thread, loads.sample_period);
	perf_rings_set_period(&s->stores, thread, stores.sample_period);
}

static void mem_counts(const void *state, struct source_counts *counts)
{
	const struct mem_source *s = state;

	*counts = s->counts;
}

static void mem_stop(void *state)
{
	struct mem_source *s = state;

	perf_rings_destroy(&s->loads);
	perf_rings_destroy(&s->stores);
	free_state(s);
}

static void mem_forked(void *state)
{
	struct mem_source *s = state;

	perf_rings_forked(&s->loads);
	perf_rings_forked(&s->stores);
	free_state(s);
}

const struct source_ops source_mem = {
	.name = "memory-samples",
	.sample_ns = 1500, /* an interrupt */
	.start = mem_start,
	.thread_add = mem_thread_add,
	.thread_remove = mem_thread_remove,
	.poll = mem_poll,
	.set_period = mem_set_period,
	.counts = mem_counts,
	.stop = mem_stop,
	.forked = mem_forked,
};
