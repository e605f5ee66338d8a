/* soak_clock HOURS: so many hours of simulated time in a session whose threads come and go and whose memory changes its users: what it has
 * allocated after the first tenth is what it has at the end. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/scene.h"

enum { NODES = 4, CPUS = 2, THREADS = 8, SLICE = 256, CHANGE_STEPS = 600 /* a minute */, GROWTH_BYTES = 64 * 1024 };

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();
	return info.uordblks + info.hblkhd;
}

/* One thread leaves and another comes; all say anew what they use, which is another's slice each time. */
static void change(struct scene *s, unsigned turn)
{
	struct nsched_thread *gone = registry_at(&s->registry, turn % THREADS);
	pid_t tid = gone->tid;
	fake_hands_gone(&s->hands, tid);
	registry_bye(gone);
	scene_steps(s, 2);
	struct cpu_mask all;
	mask_clear(&all);
	for (unsigned cpu = 0; cpu < NODES * CPUS; cpu++) mask_add(&all, cpu);
	fake_hands_thread(&s->hands, tid, &all);
	registry_add(&s->registry, tid, true);
	for (unsigned t = 0; t < THREADS; t++) {
		uint64_t slice = SCENE_ADDR + (uint64_t)((t + turn) % THREADS) * SLICE * 4096;
		(void)!ranges_hint(&s->ranges, t, slice, SLICE * 4096, 1000000000);
	}
}

int main(int argc, char **argv)
{
	double hours = argc > 1 ? atof(argv[1]) : 8;
	unsigned long steps = (unsigned long)(hours * 3600 * 1000 / SCENE_STEP_MS), done = 0;
	struct scene *s = scene_made(NODES, CPUS, THREADS, SLICE);
	size_t first = 0;
	if (scene_begin(s, true)) return 99;
	scene_hint(s, 1000000000);
	for (unsigned turn = 0; done < steps; turn++, done += CHANGE_STEPS + 2) {
		change(s, turn);
		if (scene_steps(s, CHANGE_STEPS) < 0) return 98;
		if (!first && done > steps / 10) first = allocated();
	}
	size_t last = allocated();
	printf("%.1f hours, %lu steps, %llu moves of threads, %llu pages; allocated %zu -> %zu bytes\n", hours, done, (unsigned long long)s->session.totals.thread_moves,
	       (unsigned long long)s->session.totals.moved_pages, first, last);
	int grew = last > first + GROWTH_BYTES;
	scene_end(s);
	printf("%s\n", grew ? "GREW" : "nothing grew");
	return grew;
}
