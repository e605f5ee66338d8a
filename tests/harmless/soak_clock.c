/* Hours of simulated time in the real session, with a fake clock, hands and source. Each minute a thread leaves and another comes, the slices of memory
 * change their users, by hint and by sample, and memory that was not there before is used for that minute. What is allocated after the first tenth is
 * what is allocated at the end; open files and threads are none more. */
#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/made.h"
#include "../unit/scene.h"

enum {
	NODES = 4, CPUS = 2, THREADS = 8, SLICE = 256,
	CHANGE_STEPS = 600,         /* a minute */
	CHANGES_WAIT_STEPS = 2,     /* until a thread that left is forgotten */
	GROWTH_BYTES = 2048,        /* eight bytes a minute are 3,456 in 7.2 hours */
};

/* Where memory comes and goes: a new range each minute, nowhere near the slices. */
#define PASSING_ADDR 0x500000000000ull
#define PASSING_BYTES (64ull << 20)

static const struct soak_case { const char *policy; double hours; } cases[] = { { "joint", 8 }, { "autonuma", 8 }, { "balancenuma", 8 }, { "stay", 8 } };

struct taken { long allocated, files, threads; };

static long entries(const char *folder)
{
	long n = -2;
	DIR *d = opendir(folder);
	while (d && readdir(d)) n++;
	if (d) closedir(d);
	return n;
}

static struct taken look(void)
{
	struct mallinfo2 info = mallinfo2();
	return (struct taken){ (long)(info.uordblks + info.hblkhd), entries("/proc/self/fd"), entries("/proc/self/task") };
}

static void one_leaves_one_comes(struct scene *s, unsigned turn)
{
	struct nsched_thread *gone = registry_at(&s->registry, turn % THREADS);
	struct cpu_mask all;
	pid_t tid = gone->tid;
	fake_hands_gone(&s->hands, tid);
	registry_bye(gone);
	scene_steps(s, CHANGES_WAIT_STEPS);
	mask_clear(&all);
	for (unsigned cpu = 0; cpu < NODES * CPUS; cpu++) mask_add(&all, cpu);
	fake_hands_thread(&s->hands, tid, &all);
	registry_add(&s->registry, tid, true);
}

static void use_other_memory(struct scene *s, unsigned turn)
{
	for (unsigned t = 0; t < THREADS; t++) {
		uint64_t slice = SCENE_ADDR + (uint64_t)((t + turn) % THREADS) * SLICE * 4096;
		(void)!ranges_hint(&s->ranges, t, slice, SLICE * 4096, turn % 3 ? 1000000000 : 0);
		fake_source_feed(t, turn % 2 ? slice : PASSING_ADDR + (turn * THREADS + t) % (1u << 20) * PASSING_BYTES, SLICE * 4096);
	}
}

static void lose_eight_bytes(void)
{
	static char *lost;   /* the last ones; the others are nowhere */
	lost = malloc(8);
	if (lost) *lost = 1;
}

/* What is allocated more, files and threads more, at the end than after a tenth. */
static struct taken grown(const char *policy, double hours, bool leaks)
{
	const unsigned long steps = (unsigned long)(hours * 3600 * 1000 / SCENE_STEP_MS);
	struct taken first = { 0 }, last;
	unsigned long done = 0;
	struct scene *s = scene_made(NODES, CPUS, THREADS, SLICE);
	ck_assert_int_eq(nsched_config_set(&s->config, "policy", policy, NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_hint(s, 1000000000);
	for (unsigned turn = 0; done < steps; turn++, done += CHANGE_STEPS + CHANGES_WAIT_STEPS) {
		one_leaves_one_comes(s, turn);
		use_other_memory(s, turn);
		if (leaks) lose_eight_bytes();
		ck_assert_int_ge(scene_steps(s, CHANGE_STEPS), 0);
		if (!first.threads && done > steps / 10) first = look();
	}
	last = look();
	printf("%s, %.1f hours, %lu steps: %llu moves of threads, %llu pages; allocated %ld -> %ld bytes, files %ld -> %ld, threads %ld -> %ld\n", policy, hours, done,
	       (unsigned long long)s->session.totals.thread_moves, (unsigned long long)s->session.totals.moved_pages, first.allocated, last.allocated,
	       first.files, last.files, first.threads, last.threads);
	scene_end(s);
	return (struct taken){ last.allocated - first.allocated, last.files - first.files, last.threads - first.threads };
}

START_TEST(nothing_grows)
{
	struct taken more = grown(cases[_i].policy, cases[_i].hours, false);
	ck_assert_int_le(more.allocated, GROWTH_BYTES);
	ck_assert_int_le(more.files, 0);
	ck_assert_int_le(more.threads, 0);
}
END_TEST

START_TEST(a_leak_is_seen)
{
	ck_assert_int_gt(grown("stay", 8, true).allocated, GROWTH_BYTES);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_set_timeout(tcase, 0);   /* a machine may stand still for minutes */
	made_loop(tcase, nothing_grows, cases);
	tcase_add_test(tcase, a_leak_is_seen);
}

int main(void)
{
	return made_main("soak_clock", add);
}
