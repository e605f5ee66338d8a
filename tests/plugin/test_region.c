/* Kinds and levels of regions, and the store that carries them to other threads. */
#include <check.h>
#include <ompt_region.h>
#include <stdlib.h>

static const void *const code = (const void *)0x7f1234567890;

START_TEST(levels)
{
	region_t region = 0;

	for (unsigned level = 1; level <= 9; level++) {
		region = region_enter(region, false, false, code);
		ck_assert_int_eq(region_kind(region), REGION_PARALLEL);
		ck_assert_uint_eq(region_level(region), level < REGION_LEVEL_MOST ? level : REGION_LEVEL_MOST);
		ck_assert_ptr_eq(region_key(region), code);
		ck_assert_int_eq(region_is_timed(region), level == 1);
		ck_assert(region_is_served(region));
	}
	ck_assert_uint_eq(region_level(region_outer(region_enter(region_enter(0, false, false, code), false, false, NULL))), 1);
	ck_assert_uint_eq(region_outer(region_enter(0, false, false, code)), 0);
	ck_assert_uint_eq(region_outer(0), 0);
	ck_assert(!region_is_served(0) && !region_is_timed(0));
}
END_TEST

START_TEST(highest_address)
{
	const void *highest = (const void *)0xffffffffffffff; /* five-level page tables */
	region_t region = region_enter(0, false, false, highest);

	ck_assert_ptr_eq(region_key(region), highest);
	ck_assert_uint_eq(region_level(region), 1);
	ck_assert_int_eq(region_kind(region), REGION_PARALLEL);
}
END_TEST

START_TEST(kinds)
{
	region_t league = region_enter(0, true, false, code), wrapper = region_enter(league, false, false, NULL);
	region_t inner = region_enter(wrapper, false, false, code), helper = region_enter(0, false, true, code);
	region_t in_helper = region_enter(helper, false, false, code);

	ck_assert_int_eq(region_kind(league), REGION_LEAGUE);
	ck_assert_int_eq(region_kind(region_enter(0, true, true, code)), REGION_LEAGUE);
	ck_assert_int_eq(region_kind(wrapper), REGION_WRAPPER);
	ck_assert_int_eq(region_kind(region_enter(league, false, true, code)), REGION_WRAPPER);
	ck_assert(region_is_served(league) && !region_is_timed(league));
	ck_assert(region_is_served(wrapper) && !region_is_timed(wrapper));
	ck_assert(region_is_served(inner) && region_is_timed(inner));
	ck_assert(region_is_timed(region_enter(league, false, false, code)));
	ck_assert_int_eq(region_kind(region_outer(inner)), REGION_WRAPPER);
	ck_assert_int_eq(region_kind(region_outer(wrapper)), REGION_LEAGUE);
	ck_assert_uint_eq(region_outer(league), 0);

	ck_assert_int_eq(region_kind(helper), REGION_HELPER);
	ck_assert(!region_is_served(helper) && !region_is_timed(helper));
	ck_assert_int_eq(region_kind(in_helper), REGION_HELPER);
	ck_assert_int_eq(region_kind(region_outer(in_helper)), REGION_HELPER);
	ck_assert_uint_eq(region_outer(helper), 0);
}
END_TEST

/* More than fit: those that are kept are right, the others are not found. */
START_TEST(store)
{
	enum { MANY = 4096 };
	char *addresses = malloc(MANY * 64);
	unsigned kept = 0;

	for (size_t i = 0; i < MANY; i++)
		region_store_put(&addresses[i * 64], i + 1);
	for (size_t i = 0; i < MANY; i++) {
		region_t found = region_store_get(&addresses[i * 64]);

		ck_assert(found == 0 || found == i + 1);
		kept += found != 0;
	}
	ck_assert_uint_ge(kept, 700);
	for (size_t i = 0; i < MANY; i++)
		region_store_take(&addresses[i * 64]);
	region_store_put(&addresses[0], 5);
	region_store_put(&addresses[0], 6);
	ck_assert_uint_eq(region_store_get(&addresses[0]), 6);
	ck_assert_uint_eq(region_store_take(&addresses[0]), 6);
	ck_assert_uint_eq(region_store_take(&addresses[0]), 0);
	region_store_put(&addresses[64], 7);
	region_store_clear();
	ck_assert_uint_eq(region_store_get(&addresses[64]), 0);
	region_store_put(NULL, 8);
	ck_assert_uint_eq(region_store_get(NULL), 0);
	ck_assert_uint_eq(region_store_take(NULL), 0);
	free(addresses);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ompt region");
	TCase *tcase = tcase_create("region");

	tcase_add_test(tcase, levels);
	tcase_add_test(tcase, highest_address);
	tcase_add_test(tcase, kinds);
	tcase_add_test(tcase, store);
	suite_add_tcase(suite, tcase);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
