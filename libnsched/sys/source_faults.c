/* Page-fault addresses: every fault of a thread with the address it touched. The first at a page is who
 * made it; where the kernel samples accesses (kernel.numa_balancing), later ones are those samples:
 * the thread touches the page now.
 *
 * A program that faults hard (first touch of a large array: 250,000 faults a second and more) must
 * not pay for it. A full ring costs the thread next to nothing, and what it dropped is known from
 * the event's count; if it goes on, only every 4th, 16th, ... fault is recorded. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "perf_ring.h"
#include "pick.h"
#include "source.h"

enum {
	FAULT_NS = 1000,             /* a fault's own cost, about; the weight of what it tells of */
	MANY_PER_S = 20000,          /* samples a second, all threads: above, the period goes up; 1 % of a CPU */
	FEW_PER_S = 1000,            /* below, it comes down again */
	MANY_POLLS = 3,              /* in a row, before it goes up */
	FEW_POLLS = 10,              /* in a row, before it comes down */
	PERIOD_STEP = 4,
	PERIOD_MOST = 4096,
	PAGE_SHIFT = 12,             /* pages are told apart by 4 KiB; larger ones just fault less often */
	SEEN = 32768,                /* pages remembered, a power of two; a page that another pushed out counts as
	                              * first touched again, by a thread that touches it anyway */
};

/* PERF_RECORD_SAMPLE with TID | ADDR. */
struct fault_sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr;
};

struct faults {
	struct perf_rings rings;
	struct source_counts counts;
	uint64_t *counted;           /* by thread: the event's count at the last poll */
	uint64_t period;             /* faults for one sample */
	bool hints;                  /* the kernel makes hinting faults */
	unsigned many, few;          /* polls in a row */
	uint64_t polled_ns;          /* time of the last poll */
	uint32_t seen[SEEN];         /* folded page numbers */
};

static struct perf_event_attr fault_attr(uint64_t period)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* nobody waits for it */
	};
}

static bool fault_addr(const union perf_record *record, uint64_t *addr)
{
	const struct fault_sample *sample = (const struct fault_sample *)record;

	if (record->header.type != PERF_RECORD_SAMPLE || record->header.size < sizeof(*sample))
		return false;
	*addr = sample->addr;
	return true;
}

/* ---- start ---------------------------------------------------------------------------------------------- */

/* True if a fault at `page` (some bytes long) is in the ring. */
static bool ring_has(const struct perf_ring *ring, const void *page, size_t bytes)
{
	struct perf_cursor cursor = perf_ring_begin(ring);
	union perf_record record;
	uint64_t addr;

	while (perf_cursor_next(&cursor, &record))
		if (fault_addr(&record, &addr) && addr - (uint64_t)(uintptr_t)page < bytes)
			return true;
	return false;
}

/* Touches a new page and looks whether it was told. */
static int probe(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = fault_attr(1);
	struct perf_ring ring = { 0 };
	volatile char *page;
	int err = perf_ring_open(&ring, &attr, 0);

	if (err)
		return err;
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		err = -errno;
	} else {
		page[0] = 1;
		err = ring_has(&ring, (const void *)page, bytes) ? 0 : -ENODATA;
		munmap((void *)page, bytes);
	}
	perf_ring_close(&ring);
	return err;
}

static bool kernel_samples(void)
{
	FILE *file = fopen("/proc/sys/kernel/numa_balancing", "re");
	int mode = 0;

	if (!file)
		return false;
	if (fscanf(file, "%d", &mode) != 1)
		mode = 0;
	fclose(file);
	return mode != 0;
}

static void free_state(struct faults *s)
{
	free(s->counted);
	free(s);
}

static int faults_start(const struct source_setup *setup, void **state, char why[SOURCE_WHY])
{
	struct faults *s = NULL;
	int err = probe();

	if (err == -ENODATA)
		snprintf(why, SOURCE_WHY, "perf_event_open works, but a page fault was not told");
	else if (err)
		snprintf(why, SOURCE_WHY, "%s", perf_refusal(err));
	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (s)
		s->counted = calloc(setup->max_threads ? setup->max_threads : 1, sizeof(*s->counted));
	if (!s || !s->counted || perf_rings_create(&s->rings, setup->max_threads)) {
		snprintf(why, SOURCE_WHY, "no memory");
		if (s)
			free_state(s);
		return -ENOMEM;
	}
	s->period = 1;
	s->hints = kernel_samples();
	*state = s;
	return 0;
}

/* ---- keeping the rate down ------------------------------------------------------------------------------ */

static uint64_t now_ns(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void change_period(struct faults *s, uint64_t period)
{
	s->many = 0;
	s->few = 0;
	s->period = period;
	for (unsigned i = 0; i < s->rings.end; i++)
		perf_rings_set_period(&s->rings, i, period);
}

/* `faults` came since the last poll, told or not. */
static void throttle(struct faults *s, uint64_t faults)
{
	uint64_t now = now_ns();
	double seconds = (double)(now - s->polled_ns) / 1e9;
	double rate = seconds > 0 ? (double)faults / (double)s->period / seconds : 0;
	bool first = s->polled_ns == 0;

	s->polled_ns = now;
	if (first)
		return;
	s->many = rate > MANY_PER_S ? s->many + 1 : 0;
	s->few = rate < FEW_PER_S ? s->few + 1 : 0;
	if (s->many >= MANY_POLLS && s->period < PERIOD_MOST)
		change_period(s, s->period * PERIOD_STEP);
	else if (s->few >= FEW_POLLS && s->period > 1)
		change_period(s, s->period / PERIOD_STEP);
}

/* ---- hooks ---------------------------------------------------------------------------------------------- */

static int faults_thread_add(void *state, unsigned thread, pid_t tid)
{
	struct faults *s = state;
	struct perf_event_attr attr = fault_attr(s->period);
	int err = perf_rings_add(&s->rings, &attr, thread, tid);

	if (!err)
		s->counted[thread] = 0;
	return err;
}

static void faults_thread_remove(void *state, unsigned thread)
{
	struct faults *s = state;

	perf_rings_remove(&s->rings, thread);
}

/* True the first time that a page is seen; remembers it. */
static bool is_new(struct faults *s, uint64_t addr)
{
	uint64_t page = addr >> PAGE_SHIFT;
	uint32_t folded = (uint32_t)(page ^ page >> 32) | 1u << 31; /* never 0, which is an empty place */
	uint32_t *place = &s->seen[page * UINT64_C(0x9e3779b97f4a7c15) >> 49 & (SEEN - 1)];
	bool new = *place != folded;

	*place = folded;
	return new;
}

static unsigned put_fault(struct faults *s, unsigned thread, uint64_t addr, const struct sink *sink)
{
	struct access access = { addr, thread, (float)FAULT_NS * (float)s->period, ACCESS_FIRST_TOUCH };

	s->counts.samples++;
	s->counts.resolved++;
	if (!is_new(s, addr)) {
		if (!s->hints)
			return 0; /* a page that was unmapped and came back, or was copied on write */
		access.kind = ACCESS_HINT_FAULT;
	}
	sink->put(sink->arg, &access);
	return 1;
}

struct take {
	struct faults *s;
	const struct sink *sink;
	uint64_t faults;
};

/* Faults since the last poll. To read the count, the CPU that the thread runs on is interrupted: so it is read
 * only where the ring does not tell, since it may have been full. */
static uint64_t new_faults(struct faults *s, unsigned thread, const struct perf_cursor *cursor, unsigned records)
{
	uint64_t count = s->counted[thread] + records * s->period, faults;

	if (cursor->head - cursor->tail >= cursor->bytes / 2)
		count = perf_ring_count(&s->rings.ring[thread]);
	faults = count > s->counted[thread] ? count - s->counted[thread] : 0;
	s->counted[thread] = count;
	return faults;
}

static unsigned poll_ring(void *arg, unsigned thread, unsigned most)
{
	struct take *take = arg;
	struct faults *s = take->s;
	struct perf_ring *ring = &s->rings.ring[thread];
	struct perf_cursor cursor = perf_ring_begin(ring);
	union perf_record record;
	struct pick pick = { .all = perf_cursor_records(&cursor), .keep = most };
	unsigned put = 0;
	uint64_t addr;

	take->faults += new_faults(s, thread, &cursor, pick.all);
	while (perf_cursor_next(&cursor, &record)) {
		s->counts.lost += perf_record_lost(&record);
		if (!fault_addr(&record, &addr))
			continue;
		if (pick_next(&pick) && put < most)
			put += put_fault(s, thread, addr, take->sink);
		else
			s->counts.lost++;
	}
	perf_ring_read(ring, &cursor);
	return put;
}

static int faults_poll(void *state, const struct sink *sink, unsigned most)
{
	struct faults *s = state;
	struct take take = { .s = s, .sink = sink };
	unsigned put = perf_rings_poll(&s->rings, most, 1, poll_ring, &take);

	throttle(s, take.faults);
	return (int)put;
}

static void faults_counts(const void *state, struct source_counts *counts)
{
	const struct faults *s = state;

	*counts = s->counts;
}

static void faults_stop(void *state)
{
	struct faults *s = state;

	perf_rings_destroy(&s->rings);
	free_state(s);
}

static void faults_forked(void *state)
{
	struct faults *s = state;

	perf_rings_forked(&s->rings);
	free_state(s);
}

const struct source_ops source_faults = {
	.name = "faults",
	.sample_ns = 300, /* a record: the fault itself would have come anyway */
	.start = faults_start,
	.thread_add = faults_thread_add,
	.thread_remove = faults_thread_remove,
	.poll = faults_poll,
	.counts = faults_counts,
	.stop = faults_stop,
	.forked = faults_forked,
};
