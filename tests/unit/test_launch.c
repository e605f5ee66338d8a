/* What `nsched run` tells a process, and the names of reports. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libnsched/launch.h"
#include "libnsched/pure/filename.h"

START_TEST(insert)
{
	static const struct { const char *file, *word, *name; } cases[] = {
		{ "run.json", "7", "run.7.json" },
		{ "run", "7", "run.7" },
		{ ".run", "7", ".run.7" },
		{ "out.d/run", "7", "out.d/run.7" },
		{ "/a/b.c/run.tar.gz", "rank3", "/a/b.c/run.tar.rank3.gz" },
		{ "run.", "7", "run.7." },
		{ "", "7", ".7" },
	};
	char name[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(filename_insert(cases[i].file, cases[i].word, name, sizeof(name)), (int)strlen(cases[i].name));
		ck_assert_str_eq(name, cases[i].name);
	}
	ck_assert_int_eq(filename_insert("run.json", "7", name, 10), -1);
	ck_assert_int_eq(filename_insert("run.json", "7", name, 11), 10);
}
END_TEST

static void be_launched_as(long pid)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", pid);
	ck_assert_int_eq(setenv("NSCHED_LAUNCH_PID", text, 1), 0);
	ck_assert_int_eq(setenv("NSCHED_LAUNCH_CPUS", "0-3,8", 1), 0);
}

START_TEST(roles)
{
	char file[64], expected[64];

	clearenv();
	ck_assert_int_eq(launch_role(), LAUNCH_NONE);
	ck_assert_ptr_null(launch_cpus());
	ck_assert_int_eq(launch_report_file("r.json", file, sizeof(file)), 6);
	ck_assert_str_eq(file, "r.json");

	be_launched_as(getpid());
	ck_assert_int_eq(launch_role(), LAUNCH_FIRST);
	ck_assert_str_eq(launch_cpus(), "0-3,8");
	ck_assert_int_eq(launch_report_file("r.json", file, sizeof(file)), 6);
	ck_assert_str_eq(file, "r.json");

	be_launched_as(getppid());
	ck_assert_int_eq(launch_role(), LAUNCH_CHILD);
	ck_assert_ptr_null(launch_cpus());
	snprintf(expected, sizeof(expected), "r.%ld.json", (long)getpid());
	ck_assert_int_gt(launch_report_file("r.json", file, sizeof(file)), 6);
	ck_assert_str_eq(file, expected);
	ck_assert_int_eq(launch_report_file("-", file, sizeof(file)), 1);
	ck_assert_str_eq(file, "-");
	ck_assert_int_eq(launch_report_file("", file, sizeof(file)), 0);
	ck_assert_int_eq(launch_report_file("r.json", file, 7), -ENOSPC);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launch");
	TCase *tcase = tcase_create("launch");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, tcase);
	tcase_add_test(tcase, insert);
	tcase_add_test(tcase, roles);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
