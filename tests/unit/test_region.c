/* Regions: each visit is counted, one in some timed, and more than fit share the last entry. */
#include <check.h>

#include "made.h"
#include "region.h"
#include "sys/clock.h"

static const struct region *find(const struct region_table *table, const void *key)
{
	for (unsigned i = 0; i < REGION_KEYS; i++)
		if (table->region[i].key == ((uintptr_t)key | 1)) return &table->region[i];
	ck_abort_msg("the region is not in the table");
}

START_TEST(counts)
{
	static char code[2];
	struct region_table table;
	region_table_clear(&table);
	for (unsigned i = 0; i < 10 * REGION_TIMED_EVERY; i++) {
		region_begin(&table, &code[0]);
		region_end(&table);
	}
	ck_assert_uint_eq(find(&table, &code[0])->count, 10 * REGION_TIMED_EVERY);
	/* the first ones all, then one in so many; and one more each time that something else had the CPU for long */
	ck_assert_uint_ge(find(&table, &code[0])->timed, REGION_TIMED_EVERY + 9);
	ck_assert_uint_le(find(&table, &code[0])->timed, REGION_TIMED_EVERY + 9 + 10);
}
END_TEST

/* Of a region whose visits are long, each is timed. */
START_TEST(long_visits)
{
	struct region_table table;
	region_table_clear(&table);
	for (unsigned i = 0; i < 5 * REGION_TIMED_EVERY; i++) {
		region_begin(&table, &table);
		region_end(&table);
		((struct region *)find(&table, &table))->last_ticks = REGION_LONG_TICKS;
	}
	ck_assert_uint_eq(find(&table, &table)->timed, 5 * REGION_TIMED_EVERY);
	unsigned bits = 0;
	for (unsigned i = 0; i < REGION_KEYS; i++) bits |= table.region[i].key ? 1u << i : 0;
	ck_assert_uint_eq(table.used, bits);
}
END_TEST

START_TEST(time_passes)
{
	struct region_table table;
	clock_ticks_start();
	region_table_clear(&table);
	region_begin(&table, &table);
	for (volatile unsigned i = 0; i < 1000000; i++) ;
	region_end(&table);
	double ns = clock_ticks_to_ns(find(&table, &table)->timed_ticks);
	ck_assert_double_gt(ns, 10000);
	ck_assert_double_lt(ns, 60e9);
}
END_TEST

/* Ends without a beginning, beginnings without an end, nested ones, no key at all. */
START_TEST(odd_calls)
{
	struct region_table table;
	region_table_clear(&table);
	region_end(&table);
	region_begin(&table, NULL);
	region_begin(&table, &table);
	region_end(&table);
	region_end(&table);
	ck_assert_uint_eq(find(&table, NULL)->count, 1);
	ck_assert_uint_eq(find(&table, NULL)->timed, 0);
	ck_assert_uint_eq(find(&table, &table)->timed, 1);
}
END_TEST

START_TEST(too_many)
{
	static char code[4 * REGION_KEYS * 4];
	struct region_table table;
	uint64_t sum = 0;
	region_table_clear(&table);
	for (unsigned i = 0; i < 4 * REGION_KEYS; i++) {
		region_begin(&table, &code[4 * i]);
		region_end(&table);
	}
	for (unsigned i = 0; i < REGION_KEYS; i++) sum += table.region[i].count;
	ck_assert_uint_eq(sum, 4 * REGION_KEYS);
	ck_assert_uint_ge(table.region[REGION_KEYS - 1].count, 3 * REGION_KEYS);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_test(tcase, counts);
	tcase_add_test(tcase, long_visits);
	tcase_add_test(tcase, time_passes);
	tcase_add_test(tcase, odd_calls);
	tcase_add_test(tcase, too_many);
}

int main(void)
{
	return made_main("region", add);
}
