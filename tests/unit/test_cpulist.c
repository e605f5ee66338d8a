/* The kernel's lists of CPUs: what is one, and what is not. */
#include <check.h>
#include <errno.h>

#include "made.h"
#include "sys/cpulist.h"

static const struct list_case { const char *text; int result; unsigned count; int first, last; } cases[] = {
	{ "0", 0, 1, 0, 0 }, { "0-3", 0, 4, 0, 3 }, { "0-3,8,10-11", 0, 7, 0, 11 }, { "5-5", 0, 1, 5, 5 }, { "8,2", 0, 2, 2, 8 },
	{ "0-3,2-5", 0, 6, 0, 5 }, { "63-64", 0, 2, 63, 64 }, { "8191", 0, 1, 8191, 8191 }, { "0-8191", 0, 8192, 0, 8191 }, { "0-3\n", 0, 4, 0, 3 },
	{ "", -EINVAL }, { "\n", -EINVAL }, { "3-1", -EINVAL }, { "a", -EINVAL }, { "0-", -EINVAL }, { "-3", -EINVAL }, { "0,", -EINVAL },
	{ ",0", -EINVAL }, { "0 1", -EINVAL }, { "0-3-5", -EINVAL }, { "0\n\n", -EINVAL }, { "0\n1", -EINVAL }, { " 0", -EINVAL }, { "+1", -EINVAL },
	{ "0x1", -EINVAL }, { "0-7:2", -EINVAL },
	{ "8192", -ERANGE }, { "0-8192", -ERANGE }, { "18446744073709551616", -ERANGE }, { "99999999999999999999999", -ERANGE },
};

START_TEST(list)
{
	const struct list_case *c = &cases[_i];
	struct cpu_mask mask;
	ck_assert_msg(cpulist_parse(c->text, &mask) == c->result, "\"%s\"", c->text);
	if (c->result) return;
	ck_assert_uint_eq(cpulist_count(&mask), c->count);
	ck_assert(mask_has(&mask, (unsigned)c->first) && mask_has(&mask, (unsigned)c->last));
	ck_assert(c->first == 0 || !mask_has(&mask, (unsigned)c->first - 1));
	ck_assert(!mask_has(&mask, (unsigned)c->last + 1));
}
END_TEST

START_TEST(masks)
{
	struct cpu_mask a, b;
	ck_assert_int_eq(cpulist_parse("1-2,70", &a), 0);
	ck_assert_int_eq(cpulist_parse("0-70", &b), 0);
	ck_assert(mask_within(&a, &b) && !mask_within(&b, &a) && mask_within(&a, &a));
	ck_assert(!mask_equal(&a, &b) && mask_equal(&a, &a));
	mask_add(&a, MACHINE_CPUS);          /* none of ours */
	ck_assert_uint_eq(cpulist_count(&a), 3);
	ck_assert(!mask_has(&a, MACHINE_CPUS) && !mask_has(&a, UINT32_MAX));
	mask_clear(&a);
	ck_assert_uint_eq(cpulist_count(&a), 0);
	ck_assert(mask_within(&a, &b));
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, list, cases);
	tcase_add_test(tcase, masks);
}

int main(void)
{
	return made_main("cpulist", add);
}
