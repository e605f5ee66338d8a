/* The kernel's fault statistics: texts of several kernels, texts that no kernel writes, and what the session
 * makes of them. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "made.h"
#include "scene.h"
#include "sys/kernel_faults.h"

enum { NODES = 4 };

struct seen {
	uint64_t faults[KERNEL_NODES];
	unsigned calls;
};

static void see(void *arg, unsigned node_os, uint64_t faults)
{
	struct seen *seen = arg;
	made_hold(node_os < KERNEL_NODES);
	seen->faults[node_os] = faults;
	seen->calls++;
}

/* ---- the text ---------------------------------------------------------------------------------------------- */

static const struct text_case { const char *file; int ret; unsigned n; uint64_t total, migrated; int preferred; uint64_t faults[NODES]; } text_cases[] = {
	{ "6.1-four-nodes.sched", 0, 4, 4417, 1548, 0, { 2, 2867, 0, 1548 } },
	{ "6.18-one-node.sched", 0, 1, 0, 0, -1, { 0 } },
	{ "5.4-two-nodes.sched", 0, 2, 18211, 5120, 1, { 108, 7892 } },
	{ "4.14-two-nodes.sched", 0, 2, 410, 0, 0, { 304, 106 } },
	{ "6.18-without.sched", -ENODATA, 0, 0, 0, -1, { 0 } },
};

static char *text_of(const struct text_case *c, size_t *bytes)
{
	char name[128];
	snprintf(name, sizeof name, "fixtures/sched/%s", c->file);
	return made_read(name, bytes);
}

START_TEST(reads)
{
	const struct text_case *c = &text_cases[_i];
	struct kernel_faults faults;
	struct seen seen = { 0 };
	size_t bytes;
	char *text = text_of(c, &bytes);
	ck_assert_int_eq(kernel_faults_parse(text, &faults, see, &seen), c->ret);
	ck_assert_uint_eq(faults.n, c->n);
	ck_assert_uint_eq(seen.calls, c->n);
	ck_assert_uint_eq(faults.total, c->total);
	ck_assert_uint_eq(faults.migrated, c->migrated);
	ck_assert_int_eq(faults.preferred_os, c->preferred);
	uint64_t sum = 0;
	for (unsigned n = 0; n < NODES; n++) {
		ck_assert_uint_eq(seen.faults[n], c->faults[n]);
		sum += c->faults[n];
	}
	ck_assert_uint_eq(faults.sum, sum);
	free(text);
}
END_TEST

static const struct odd_case { const char *text; int ret; } odd_cases[] = {
	{ "", -ENODATA },
	{ "\n\n\n", -ENODATA },
	{ "numa_faults", -ENODATA },
	{ "numa_faults node=0 task_private=1 task_shared=2", -ENODATA },           /* cut: the rest of the number is missing */
	{ "numa_faults node=0 task_private=1 task_shared=2\n", 0 },
	{ "numa_faults node=0 task_private=1\nnuma_faults node=1 task_shared=2\n", -EINVAL },
	{ "numa_faults node=1024 task_private=1 task_shared=2\n", -EINVAL },
	{ "numa_faults node=-1 task_private=1 task_shared=2\n", -EINVAL },
	{ "numa_faults node= task_private=1 task_shared=2\n", -EINVAL },
	{ "numa_faults node=1 task_private=99999999999999999999999 task_shared=2\n", -EINVAL },
	{ "numa_faults node=1 task_private=4294967296 task_shared=2\n", -EINVAL },
	{ "numa_faults node=1 task_private=4 task_shared=2 new_word=7 group_private=1\n", 0 },
	{ "total_numa_faults : 17\n", -ENODATA },
	{ "numa_preferred_nid : 4096\nnuma_faults node=3 task_shared=2 task_private=1\n", 0 },
};

START_TEST(odd)
{
	struct kernel_faults faults;
	ck_assert_int_eq(kernel_faults_parse(odd_cases[_i].text, &faults, NULL, NULL), odd_cases[_i].ret);
	ck_assert_int_eq(faults.preferred_os, -1);
}
END_TEST

/* Bytes changed, cut out and put in at random: read or refused, and never a number that can't be. */
START_TEST(mutated)
{
	struct dice dice = { 42 };
	size_t bytes;
	char *text = text_of(&text_cases[_i], &bytes), *copy = malloc(bytes + 64);
	for (unsigned round = 0; round < 4000; round++) {
		struct kernel_faults faults;
		struct seen seen = { 0 };
		size_t length = bytes;
		memcpy(copy, text, bytes + 1);
		for (unsigned k = 1 + dice_below(&dice, 6); k; k--) {
			size_t at = dice_below(&dice, 2) ? dice_below(&dice, (unsigned)length) : length - 1 - dice_below(&dice, (unsigned)length / 4);
			unsigned what = dice_below(&dice, 4);
			if (what == 0) copy[at] = (char)dice_next(&dice);
			else if (what == 1) copy[at] = "0123456789=\n :-"[dice_below(&dice, 15)];
			else if (what == 2) memmove(copy + at, copy + at + 1, length-- - at);
			else if (length < bytes + 60) memmove(copy + at + 1, copy + at, ++length - at);
			if (length < 16) break;
		}
		copy[length] = 0;
		int ret = kernel_faults_parse(copy, &faults, see, &seen);
		made_hold(ret == 0 || ret == -ENODATA || ret == -EINVAL);
		made_hold(seen.calls == faults.n);
		made_hold(faults.preferred_os >= -1 && faults.preferred_os < KERNEL_NODES);
	}
	free(copy);
	free(text);
}
END_TEST

/* This kernel's own, whatever it is. */
START_TEST(of_this_kernel)
{
	struct kernel_faults faults;
	int ret = kernel_faults_read(getpid(), &faults, NULL, NULL), mode = kernel_balancing("");
	ck_assert_msg(ret == 0 || ret == -ENODATA || ret == -ENOENT, "%d", ret);
	ck_assert(mode >= 0 && mode <= 3);
	ck_assert_int_eq(kernel_balancing("/nowhere"), 0);
	ck_assert(kernel_faults_read(0x3fffffff, &faults, NULL, NULL) == -ENOENT);
}
END_TEST

/* ---- the session ------------------------------------------------------------------------------------------- */

/* Four threads on two nodes, of which nothing is seen but what the kernel says. */
static struct scene *with_kernel(bool source)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	ck_assert_int_eq(scene_begin(s, source), 0);
	ck_assert(!s->session.kernel.on);         /* a made-up machine has no /proc */
	s->session.kernel.balances = KERNEL_BALANCES;
	s->session.kernel.share = calloc((size_t)REGISTRY_THREADS * 2, sizeof(float));
	s->session.kernel.on = true;
	return s;
}

/* A second, in which the kernel says of each thread that so many of its faults were on node 1. */
static void tell(struct scene *s, const unsigned on_1[4])
{
	for (unsigned t = 0; t < 4; t++) {
		char text[160];
		snprintf(text, sizeof text, "numa_faults node=0 task_private=%u task_shared=0\nnuma_faults node=1 task_private=%u task_shared=0\n",
		         1000 - on_1[t], on_1[t]);
		session_kernel_saw(&s->session, registry_at(&s->registry, t), text);
	}
	scene_steps(s, 5);
}

/* Threads go to where their memory lies; no page is touched. */
START_TEST(threads_go_to_their_memory)
{
	static const unsigned across[] = { 950, 30, 980, 10 };
	struct scene *s = with_kernel(false);
	for (unsigned i = 0; i < 4; i++) tell(s, across);
	ck_assert_int_eq(scene_node(s, 0), 1);
	ck_assert_int_eq(scene_node(s, 1), 0);
	ck_assert_int_eq(scene_node(s, 2), 1);
	ck_assert_int_eq(scene_node(s, 3), 0);
	ck_assert_uint_eq(s->hands.asked, 0);
	scene_end(s);
}
END_TEST

/* Too few faults, or the same on both nodes, say nothing. */
START_TEST(threads_stay)
{
	static const unsigned even[] = { 640, 480, 370, 500 };
	struct scene *s = with_kernel(false);
	if (_i == 0)
		for (unsigned i = 0; i < 4; i++) tell(s, even);
	for (unsigned i = 0; _i == 1 && i < 4; i++) {
		for (unsigned t = 0; t < 4; t++)
			session_kernel_saw(&s->session, registry_at(&s->registry, t), t % 2 ? "numa_faults node=0 task_private=30 task_shared=0\n"
			                                                                     : "numa_faults node=1 task_private=30 task_shared=0\n");
		scene_steps(s, 5);
	}
	for (unsigned t = 0; t < 4; t++) ck_assert_int_eq(scene_node(s, t), (int)t / 2);
	ck_assert_uint_eq(s->session.totals.thread_moves, 0);
	scene_end(s);
}
END_TEST

/* Where samples tell of a thread, its statistics are not needed: they say the contrary here, and are not heard. */
START_TEST(samples_come_first)
{
	static const unsigned wrong[] = { 1000, 1000, 0, 0 };
	struct scene *s = with_kernel(true);
	for (unsigned t = 0; t < 4; t++) fake_hands_pages(&s->hands, t * 512, 512, (int)t / 2);
	scene_feed(s);
	scene_steps(s, 5);
	for (unsigned i = 0; i < 6; i++) tell(s, wrong);
	for (unsigned t = 0; t < 4; t++) ck_assert_int_eq(scene_node(s, t), (int)t / 2);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	scene_end(s);
}
END_TEST

/* The kernel takes a thread's memory away to the other node. Where it balances it has its way for a cooldown, then it is
 * told once more; where it does not, the memory comes back at once. */
START_TEST(kernel_moves)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	ck_assert_int_eq(nsched_config_set(&s->config, "cooldown_ms", "20000", NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	s->session.kernel.balances = _i;
	for (unsigned t = 0; t < 4; t++) fake_hands_pages(&s->hands, t * 512, 512, (int)t / 2);
	scene_feed(s);
	scene_steps(s, 30);
	ck_assert_uint_eq(s->hands.moved, 0);
	fake_hands_pages(&s->hands, 3 * 512, 512, 0);
	scene_steps(s, 40);
	ck_assert_uint_eq(scene_local(s, 3), _i ? 0 : 512);
	ck_assert_uint_eq(s->session.kernel.moves, _i ? 1 : 0);
	if (_i) scene_steps(s, 220);
	ck_assert_uint_eq(scene_local(s, 3), 512);
	ck_assert_uint_eq(s->session.kernel.moves, _i ? 1 : 0);         /* our own do not count */
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, reads, text_cases);
	made_loop(tcase, odd, odd_cases);
	made_loop(tcase, mutated, text_cases);
	tcase_add_test(tcase, of_this_kernel);
	tcase_add_test(tcase, threads_go_to_their_memory);
	tcase_add_loop_test(tcase, threads_stay, 0, 2);
	tcase_add_test(tcase, samples_come_first);
	tcase_add_loop_test(tcase, kernel_moves, 0, 2);
}

int main(void)
{
	return made_main("kernel_faults", add);
}
