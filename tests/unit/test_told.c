/* What threads tell by themselves: memory that their tasks use, and how their regions and loops go. */
#include <check.h>
#include <string.h>

#include "made.h"
#include "scene.h"

/* ---- touches --------------------------------------------------------------------------------------------- */

/* Each thread tells, in each step, of a few places of its own slice; there is no other evidence. */
static void tell(struct scene *s, struct dice *dice, unsigned touches)
{
	for (unsigned t = 0; t < s->threads; t++)
		for (unsigned i = 0; i < touches; i++)
			registry_touch(registry_at(&s->registry, t), SCENE_ADDR + ((uint64_t)t * s->slice << 12) + dice_below(dice, s->slice << 12));
	scene_steps(s, 1);
}

START_TEST(tasks_draw_their_memory)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	struct dice dice = { 3 };
	ck_assert_int_eq(scene_begin(s, false), 0);
	for (unsigned step = 0; step < 60; step++) tell(s, &dice, 16);
	ck_assert_uint_eq(scene_all_local(s), 4 * 512);
	ck_assert_uint_eq(s->session.totals.touches, 60 * 4 * 16);
	scene_end(s);
}
END_TEST

/* More than are kept between two steps: the last ones count. */
START_TEST(last_ones_are_kept)
{
	struct scene *s = scene_made(2, 2, 4, 512);
	struct dice dice = { 4 };
	ck_assert_int_eq(scene_begin(s, false), 0);
	tell(s, &dice, 1000);
	ck_assert_uint_eq(s->session.totals.touches, 4 * REGISTRY_TOUCHES);
	tell(s, &dice, 3);
	ck_assert_uint_eq(s->session.totals.touches, 4 * REGISTRY_TOUCHES + 4 * 3);
	tell(s, &dice, 0);
	ck_assert_uint_eq(s->session.totals.touches, 4 * REGISTRY_TOUCHES + 4 * 3);
	scene_end(s);
}
END_TEST

/* ---- regions --------------------------------------------------------------------------------------------- */

static void visit(struct nsched_thread *t, const void *key, uint64_t ns, uint64_t chunk)
{
	region_begin(&t->regions, key);
	region_chunk(&t->regions, chunk);
	region_chunk(&t->regions, chunk + 7);                /* later chunks of the visit do not count */
	struct region *r = t->regions.inside;
	region_end(&t->regions);
	if (r) {                                             /* as if it had taken so long */
		uint64_t timed = atomic_load(&r->timed);
		atomic_store(&r->timed_ticks, timed * ns);
	}
}

START_TEST(who_waits)
{
	static const int code[2];
	struct session_region region[SESSION_REGIONS];
	struct scene *s = scene_made(2, 2, 4, 512);
	ck_assert_int_eq(scene_begin(s, false), 0);
	ck_assert_uint_eq(session_regions(&s->session, region), 0);
	for (unsigned i = 0; i < 11; i++)
		for (unsigned t = 0; t < 4; t++) {
			visit(registry_at(&s->registry, t), &code[0], t == 3 ? 4000 : 2000, 100 * t);      /* as static schedules go */
			visit(registry_at(&s->registry, t), &code[1], 50000, 100 * ((t + i) % 4));         /* and as dynamic ones may */
		}
	ck_assert_uint_eq(session_regions(&s->session, region), 2);
	ck_assert_uint_eq(region[0].key & ~(uintptr_t)1, (uintptr_t)&code[1] & ~(uintptr_t)1);     /* the longest first */
	ck_assert_uint_eq(region[0].threads, 4);
	ck_assert_uint_eq(region[0].visits, 11);
	ck_assert_uint_eq(region[0].waits_permille, 0);
	ck_assert_uint_eq(region[0].returned_permille, 0);
	ck_assert_uint_eq(region[1].waits_permille, 375);                                          /* 1 - 2500 / 4000 */
	ck_assert_uint_eq(region[1].returned_permille, 1000);
	scene_end(s);
}
END_TEST

/* More regions than have room, no region, a chunk outside of one. */
START_TEST(odd_regions)
{
	static const int code[64];
	struct session_region region[SESSION_REGIONS];
	struct scene *s = scene_made(2, 2, 4, 512);
	ck_assert_int_eq(scene_begin(s, false), 0);
	region_chunk(&registry_at(&s->registry, 0)->regions, 5);
	for (unsigned i = 0; i < 64; i += 2)
		for (unsigned t = 0; t < 4; t++) visit(registry_at(&s->registry, t), &code[i], 1000, 0);
	visit(registry_at(&s->registry, 1), NULL, 10, 0);
	ck_assert_uint_le(session_regions(&s->session, region), SESSION_REGIONS);
	for (unsigned i = 0; i + 1 < session_regions(&s->session, region); i++) ck_assert_uint_le(region[i].waits_permille, 1000);
	scene_end(s);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, tasks_draw_their_memory);
	tcase_add_test(tcase, last_ones_are_kept);
	tcase_add_test(tcase, who_waits);
	tcase_add_test(tcase, odd_regions);
}

int main(void)
{
	return made_main("told", add);
}
