/* Scenes, recorded and replayed: the same plans, bit for bit; and whatever is done to a record, it is said where it is wrong. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "file.h"
#include "made.h"
#include "scene.h"
#include "whatif.h"

enum { STEPS = 40, BYTES_MOST = 1 << 20 };

static char file[64];
static struct player player;
static struct whatif whatif;

static void name_file(void)
{
	snprintf(file, sizeof file, "test_replay.%ld.nsr", (long)getpid());
}

static void remove_file(void)
{
	ck_assert_int_eq(unlink(file), 0);
}

/* ---- the same again --------------------------------------------------------------------------------------------- */

static void bind_some(struct scene *s, unsigned step)
{
	struct cpu_mask one;
	mask_clear(&one);
	mask_add(&one, 0);
	if (step == 10) s->hands.thread[1].mask = one;      /* somebody binds it, */
	if (step == 12) atomic_store(&s->registry.masks_changed, true);
	if (step == 25) fake_hands_thread(&s->hands, 0, &one);
}

static void come_and_go(struct scene *s, unsigned step)
{
	struct cpu_mask all = s->hands.thread[0].mask;
	if (step == 8) registry_leave(registry_at(&s->registry, 2));
	if (step == 14) fake_hands_thread(&s->hands, 2000, &all);
	if (step == 14) ck_assert_ptr_nonnull(registry_add(&s->registry, 2000, true));
	if (step == 20) fake_hands_gone(&s->hands, SCENE_TID);
}

static void touch(struct scene *s, unsigned step)
{
	for (unsigned t = 0; t < s->threads; t += 2)
		for (unsigned i = 0; i < step % 5; i++)
			registry_touch(registry_at(&s->registry, t), SCENE_ADDR + ((uint64_t)((t + 1) % s->threads) * s->slice << 12) + ((uint64_t)i << 12));
}

static void hint(struct scene *s, unsigned step)
{
	if (step == 5) scene_hint(s, 1000000000);
	if (step == 20) ck_assert_int_eq(ranges_detach(&s->ranges, SCENE_ADDR), 0);
}

static void fail_calls(struct scene *s, unsigned step)
{
	for (unsigned c = 0; step == 6 && c < FAKE_HANDS_CALLS; c++) {
		s->hands.fail[c].at = s->hands.calls[c];
		s->hands.fail[c].times = 3;
		s->hands.fail[c].error = c == FAKE_MOVE ? -EPERM : -EINVAL;
	}
}

static void lose_source(struct scene *s, unsigned step)
{
	(void)s;
	if (step == 15) fake_source.dies_at = fake_source.polls + 1;
	fake_source.dies_of = -EBUSY;
}

static void flood(struct scene *s, unsigned step)
{
	(void)s;
	fake_source.flood = step * 100;
}

static void refuse_pages(struct scene *s, unsigned step)
{
	for (unsigned i = 0; step == 0 && i < s->slice; i++) s->hands.refuses[i] = -EBUSY;
	if (step == 0) s->hands.policy[s->slice] = true;
}

static const struct played {
	const char *name, *policy;
	void (*happens)(struct scene *s, unsigned step);
} played[] = {
	{ "quiet", "joint", NULL }, { "bound by others", "joint", bind_some }, { "threads come and go", "joint", come_and_go }, { "touches", "joint", touch },
	{ "hints", "joint", hint }, { "calls fail", "joint", fail_calls }, { "source lost", "joint", lose_source }, { "flood", "joint", flood },
	{ "pages refuse", "joint", refuse_pages }, { "stay", "stay", NULL }, { "simple", "simple", come_and_go }, { "pool", "pool", NULL },
	{ "homenode", "homenode", come_and_go }, { "homenode-dynamic", "homenode-dynamic", NULL }, { "concentric", "concentric", bind_some },
	{ "balancenuma", "balancenuma", NULL }, { "autonuma", "autonuma", NULL }, { "adaptive", "adaptive", come_and_go }, { "reconciled", "reconciled", NULL },
};

/* What came of each step then, for a look at the replayed one. */
static uint64_t record(const struct played *p, unsigned steps)
{
	name_file();
	struct scene *s = scene_made(4, 2, 8, 512);
	s->record = file;
	ck_assert_int_eq(nsched_config_set(&s->config, "policy", p->policy, NULL), 0);
	ck_assert_int_eq(scene_begin(s, true), 0);
	scene_feed(s);
	for (unsigned i = 0; i < steps; i++) {
		if (p->happens) p->happens(s, i);
		ck_assert_int_ge(scene_steps(s, 1), 0);
	}
	uint64_t moved = s->session.totals.moved_pages + s->session.totals.thread_moves;
	scene_end(s);
	ck_assert_str_eq(s->recorder.why, "");
	ck_assert_uint_gt(recorder_bytes(&s->recorder), 100);
	return moved;
}

static int play(FILE *in, struct tape_reader *reader)
{
	struct replay_file *f;
	int ret = replay_file_open(in, reader, &f);
	if (!ret) {
		ret = player_open(&player, reader);
		bool open = !ret;
		while (!ret && (ret = player_step(&player)) > 0) ret = 0;
		if (open) player_close(&player);
	}
	replay_file_close(f);
	return ret;
}

START_TEST(same_again)
{
	struct tape_reader reader;
	uint64_t moved = record(&played[_i], STEPS);
	FILE *in = fopen(file, "rbe");
	ck_assert_ptr_nonnull(in);
	ck_assert_msg(play(in, &reader) == 0, "%s: %s", played[_i].name, reader.error);
	ck_assert_str_eq(reader.error, "");
	ck_assert(player.ended);
	ck_assert_uint_eq(player.steps, STEPS);
	ck_assert_msg(!player.first_other, "%s: step %llu differs", played[_i].name, (unsigned long long)player.first_other);
	ck_assert_uint_eq(player.session.totals.moved_pages + player.session.totals.thread_moves, moved);
	ck_assert((player.moves > 0) == (moved > 0 || strcmp(played[_i].policy, "stay") != 0));
	fclose(in);
	remove_file();
}
END_TEST

/* ---- another policy ------------------------------------------------------------------------------------------------ */

static void told_access(void *arg, const struct access *a) { whatif_access(arg, a); }
static void told_located(void *arg, const uint64_t *addr, unsigned n, const int *node) { whatif_located(arg, addr, n, node); }
static void told_moved(void *arg, const uint64_t *addr, unsigned n, const int *status) { whatif_moved(arg, addr, n, status); }
static void told_touch(void *arg, uint32_t thread, uint64_t addr) { whatif_touch(arg, thread, addr); }

static double cost_at_end(const struct session *s)
{
	double cost = whatif_cost(&s->situation);
	ck_assert(cost > 0);
	return cost;
}

/* The cost at the end by the estimate, of the policy recorded and of the other. */
static void play_beside(const char *recorded, const char *other, double cost[2])
{
	struct played p = { "", recorded, NULL };
	struct player_listener listener = { told_access, told_located, told_moved, told_touch, &whatif };
	struct tape_reader reader;
	struct replay_file *f;
	record(&p, STEPS);
	FILE *in = fopen(file, "rbe");
	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(replay_file_open(in, &reader, &f), 0);
	ck_assert_int_eq(player_open(&player, &reader), 0);
	ck_assert_int_eq(whatif_open(&whatif, &player, other), 0);
	player.listener = &listener;
	int ret;
	while ((ret = player_step(&player)) > 0) ck_assert_int_eq(whatif_step(&whatif), 0);
	ck_assert_msg(ret == 0, "%s", reader.error);
	cost[0] = cost_at_end(&player.session);
	cost[1] = cost_at_end(&whatif.session);
	whatif_close(&whatif);
	player_close(&player);
	replay_file_close(f);
	fclose(in);
	remove_file();
}

/* Where nobody moved anything it would have paid to; where everything was moved, not to would have been dear; and what was
 * done then comes out once more. */
START_TEST(beside)
{
	double cost[2];
	play_beside("stay", "joint", cost);
	ck_assert_msg(cost[1] < 0.8 * cost[0], "joint %g, stay %g", cost[1], cost[0]);
	play_beside("joint", "stay", cost);
	ck_assert_msg(cost[1] > 1.25 * cost[0], "stay %g, joint %g", cost[1], cost[0]);
	play_beside("joint", "joint", cost);
	ck_assert_msg(cost[1] < 1.02 * cost[0] && cost[1] > 0.98 * cost[0], "joint %g, joint %g", cost[1], cost[0]);
	ck_assert_uint_eq(whatif.session.totals.moved_pages, player.session.totals.moved_pages);
	ck_assert_uint_eq(whatif.session.totals.thread_moves, player.session.totals.thread_moves);
	ck_assert_int_eq(whatif_open(&whatif, &player, "nothing"), -EINVAL);
}
END_TEST

/* ---- damage ------------------------------------------------------------------------------------------------------------ */

static uint8_t bytes[BYTES_MOST];

static size_t recorded_bytes(unsigned steps)
{
	record(&played[2], steps);
	FILE *in = fopen(file, "rbe");
	ck_assert_ptr_nonnull(in);
	size_t n = fread(bytes, 1, sizeof bytes, in);
	fclose(in);
	remove_file();
	return n;
}

static int play_bytes(const uint8_t *data, size_t n, struct tape_reader *reader)
{
	FILE *in = fmemopen((void *)(uintptr_t)data, n, "rb");
	ck_assert_ptr_nonnull(in);
	int ret = play(in, reader);
	fclose(in);
	return ret;
}

/* Cut off anywhere: it is said, with the place, unless that is between two steps. */
START_TEST(cut_off)
{
	struct tape_reader reader;
	size_t n = recorded_bytes(12);
	ck_assert_int_eq(play_bytes(bytes, n, &reader), 0);
	for (size_t k = 1; k < n; k += 1 + n / 300) {
		int ret = play_bytes(bytes, k, &reader);
		ck_assert_msg(ret < 0, "cut off at %zu of %zu: no error", k, n);
		ck_assert_msg(strstr(reader.error, "byte "), "cut off at %zu: %s", k, reader.error);
	}
}
END_TEST

/* One bit is another: the checksum finds it, if nothing else does. But for one in a hundred that means nothing to zstd (the filling
 * behind a stream of literals): what comes out is the same then. */
START_TEST(damaged)
{
	struct tape_reader reader;
	size_t n = recorded_bytes(12), tried = 0, nothing = 0;
	for (size_t k = 0; k < n; k += 1 + n / 300) {
		bytes[k] ^= (uint8_t)(1 << k % 8);
		int ret = play_bytes(bytes, n, &reader);
		ck_assert_msg(ret >= 0 || strstr(reader.error, "byte "), "byte %zu of %zu: %s", k, n, reader.error);
		tried++;
		nothing += ret >= 0;
		bytes[k] ^= (uint8_t)(1 << k % 8);
	}
	ck_assert_uint_le(nothing * 100, tried);
}
END_TEST

static const struct { const char *text, *error; } foreign[] = {
	{ "x", "byte 0 of the file: it is no record of nsched's" },
	{ "nsched record 7\nabcdef", "byte 14 of the file: a record of version 7; this nsched reads version 1" },
	{ "nsched record 1\n", "byte 0: it ends here, in the middle of something" },
	{ "nsched record 1\nnonsense", "byte 16 of the file: it is damaged" },
};

START_TEST(no_record)
{
	struct tape_reader reader;
	ck_assert_int_lt(play_bytes((const uint8_t *)foreign[_i].text, strlen(foreign[_i].text), &reader), 0);
	ck_assert_msg(!strncmp(reader.error, foreign[_i].error, strlen(foreign[_i].error)), "%s", reader.error);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, same_again, played);
	tcase_add_test(tcase, beside);
	tcase_add_test(tcase, cut_off);
	tcase_add_test(tcase, damaged);
	made_loop(tcase, no_record, foreign);
	tcase_set_timeout(tcase, 120);
}

int main(void)
{
	return made_main("replay", add);
}
