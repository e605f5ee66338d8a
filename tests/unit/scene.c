#include "scene.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made.h"

static struct scene scene;

static int first_node(unsigned thread)
{
	return (int)(thread * scene.nodes / scene.threads);
}

struct scene *scene_made(unsigned nodes, unsigned cpus, unsigned threads, unsigned slice)
{
	struct cpu_mask all;
	memset(&scene, 0, sizeof scene);
	memset(&fake_source, 0, sizeof fake_source);
	scene.nodes = nodes;
	scene.cpus = cpus;
	scene.threads = threads;
	scene.slice = slice;
	scene.clock.now_ns = 1000000000000;
	scene.hands.clock = fake_source.clock = &scene.clock;
	scene.hands.first_page = SCENE_PAGE;
	ck_assert_uint_le(threads * slice, FAKE_HANDS_PAGES);
	fake_hands_pages(&scene.hands, 0, threads * slice, 0);
	config_defaults(&scene.config);
	registry_init(&scene.registry);
	ranges_init(&scene.ranges, 64, 64);
	mask_clear(&all);
	for (unsigned c = 0; c < nodes * cpus; c++) mask_add(&all, c);
	for (unsigned t = 0; t < threads; t++) {
		fake_hands_thread(&scene.hands, SCENE_TID + (pid_t)t, &all);
		struct nsched_thread *thread = registry_add(&scene.registry, SCENE_TID + (pid_t)t, true);
		ck_assert_ptr_nonnull(thread);
		thread->node = first_node(t);
	}
	return &scene;
}

static void start_record(struct scene *s, struct session_setup *setup)
{
	static unsigned number;
	static char name[512];
	const char *folder = getenv("SCENE_RECORDS");
	if (folder && !s->record && !s->unrecorded) {
		snprintf(name, sizeof name, "%s/%ld-%u.nsr", folder, (long)getpid(), number++);
		s->record = name;
	}
	if (!s->record) return;
	ck_assert_msg(!recorder_open(&s->recorder, s->record, &s->config), "%s: %s", s->record, s->recorder.why);
	recorder_join(&s->recorder, setup);
}

int scene_begin(struct scene *s, bool with_source)
{
	static const struct source_ops *const sources[] = { &fake_source_ops, NULL };
	struct session_setup setup = { .config = &s->config, .clock = &fake_clock_ops, .clock_state = &s->clock, .hands = &fake_hands_ops,
	                               .hands_state = &s->hands, .sources = with_source ? s->sources ? s->sources : sources : NULL, .registry = &s->registry, .counters = s->counters,
	                               .bandwidth = s->bandwidth, .eyes = s->eyes, .eyes_state = s->eyes_state, .ranges = &s->ranges };
	made_machine(&setup.machine, s->nodes, s->cpus);
	for (unsigned c = 0; c < s->nodes * s->cpus; c++) mask_add(&setup.allowed, c);
	start_record(s, &setup);
	return session_init(&s->session, &setup);
}

static uint64_t slice_addr(const struct scene *s, unsigned thread)
{
	return SCENE_ADDR + ((uint64_t)thread * s->slice << 12);
}

void scene_feed(struct scene *s)
{
	for (unsigned t = 0; t < s->threads; t++) fake_source_feed(t, slice_addr(s, t), (uint64_t)s->slice << 12);
}

void scene_hint(struct scene *s, uint64_t bytes_per_s)
{
	ck_assert_int_eq(ranges_attach(&s->ranges, "slices", SCENE_ADDR, (uint64_t)s->threads * s->slice << 12), 0);
	for (unsigned t = 0; t < s->threads; t++)
		ck_assert_int_eq(ranges_hint(&s->ranges, t, slice_addr(s, t), (uint64_t)s->slice << 12, bytes_per_s), 0);
}

int scene_steps(struct scene *s, unsigned steps)
{
	int sum = 0;
	for (unsigned i = 0; i < steps; i++) {
		fake_clock_pass(&s->clock, SCENE_STEP_MS * 1000000ull, s->threads);
		int ret = session_step(&s->session);
		if (ret < 0) return ret;
		sum += ret;
	}
	return sum;
}

int scene_node(const struct scene *s, unsigned thread)
{
	const struct cpu_mask *mask = fake_hands_mask(&s->hands, SCENE_TID + (pid_t)thread);
	int node = -1;
	for (unsigned c = 0; mask && c < s->nodes * s->cpus; c++) {
		if (!mask_has(mask, c)) continue;
		if (node >= 0 && node != (int)(c / s->cpus)) return first_node(thread);
		node = (int)(c / s->cpus);
	}
	return node;
}

unsigned scene_local(const struct scene *s, unsigned thread)
{
	return fake_hands_count(&s->hands, thread * s->slice, s->slice, scene_node(s, thread));
}

unsigned scene_all_local(const struct scene *s)
{
	unsigned sum = 0;
	for (unsigned t = 0; t < s->threads; t++) sum += scene_local(s, t);
	return sum;
}

void scene_end(struct scene *s)
{
	session_stop(&s->session);
	if (s->record) recorder_close(&s->recorder);
	session_free(&s->session);
	ranges_free(&s->ranges);
	for (unsigned b = 0; b < REGISTRY_THREADS / REGISTRY_BLOCK; b++) free(s->registry.block[b]);
}
