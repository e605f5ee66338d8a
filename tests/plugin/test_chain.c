/* A tool chained behind the plugin: it gets its events and keeps its data words; who is chosen of several. */
#include <check.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../stubs/fake_nsched.h"
#include "sequence.h"

#ifndef SMALL_TOOL
#define SMALL_TOOL "tests/plugin/.libs/small_tool.so"
#endif
#ifndef MADE_UP_RUNTIME
#define MADE_UP_RUNTIME "tests/plugin/.libs/libomp_made_up.so"
#endif

enum { MUTEX_ACQUIRE = 26 };

#define REGION_A "0pA2@10 0bA.0 1bA.1 1s2 0s2@10 0w2 0eA.0 0xA@10 "
#define CALLS_A "0O 0S 0R 0P 0B10 1R 1P 1B10 1E 0E"

static int seen(const char *counter)
{
	char name[64] = "small_tool_";
	void *library = dlopen(SMALL_TOOL, RTLD_NOW | RTLD_NOLOAD);

	if (library == NULL)
		return -1; /* not loaded */

	atomic_int *value = dlsym(library, strncat(name, counter, sizeof(name) - 16));
	int result = value == NULL ? -2 : atomic_load(value);

	dlclose(library);
	return result;
}

static void setup(void)
{
	unsetenv("NSCHED_REPORT");
	setenv("NSCHED_TOOL_LIBRARIES", SMALL_TOOL, 1);
	sequence_load();
	fake_reset();
}

START_TEST(both_are_served)
{
	ompt_data_t thread = { 0 };

	ck_assert(sequence_start());
	ck_assert_ptr_nonnull(runtime->callbacks[OMPT_THREAD_BEGIN]);
	((void (*)(int, ompt_data_t *))runtime->callbacks[OMPT_THREAD_BEGIN])(2, &thread);
	runtime->callbacks[MUTEX_ACQUIRE]();
	sequence_play("0i " REGION_A "0pB2@20 1eA.1 1bB.1 0bB.0 1s2 0s2@20 0eB.0 0xB@20 1t 0t");
	sequence_finalize();
	ck_assert_str_eq(sequence_calls(), CALLS_A " 1P 1B20 0P 0B20 1E 0E 1U 0U 0C");
	ck_assert_ptr_null(fake_breach());
	ck_assert_int_eq(seen("begun"), 2);
	ck_assert_int_eq(seen("tasks"), 5);
	ck_assert_int_eq(seen("threads"), 1);
	ck_assert_int_eq(seen("mutexes"), 1);
	ck_assert_int_eq(seen("finalized"), 1);
	ck_assert_int_eq(seen("wrong"), 0);
}
END_TEST

START_TEST(the_tool_goes_on_without_the_plugin)
{
	fake.open = -12;
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	sequence_finalize();
	ck_assert_str_eq(sequence_calls(), "0O");
	ck_assert_int_eq(seen("begun"), 1);
	ck_assert_int_eq(seen("finalized"), 1);
	ck_assert_int_eq(seen("wrong"), 0);
}
END_TEST

/* Where nsched has nothing to do the chained tool is the runtime's own choice, with nothing between. */
START_TEST(not_worthwhile)
{
	fake.worthwhile = 0;

	ompt_start_tool_result_t *tool = ompt_start_tool(201611, "made up");

	ck_assert_ptr_nonnull(tool);
	ck_assert_int_eq((int)tool->tool_data.value, 0x5a5a);
	ck_assert_str_eq(sequence_calls(), "");
}
END_TEST

static const struct {
	const char *list;
	bool declines;
	int begun; /* -1: not loaded (any more) */
} lists[] = {
	{ "", false, -1 },
	{ ":::", false, -1 },
	{ "/no/such/tool.so", false, -1 },
	{ "/no/such/tool.so::" SMALL_TOOL, false, 1 },
	{ SMALL_TOOL ":" SMALL_TOOL, false, 1 },
	{ MADE_UP_RUNTIME ":" SMALL_TOOL, false, 1 }, /* a library that is no tool */
	{ SMALL_TOOL, true, -1 },
};

START_TEST(which_tool)
{
	setenv("NSCHED_TOOL_LIBRARIES", lists[_i].list, 1);
	if (lists[_i].declines)
		setenv("SMALL_TOOL_DECLINES", "1", 1);
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	ck_assert_str_eq(sequence_calls(), CALLS_A);
	ck_assert_int_eq(seen("begun"), lists[_i].begun);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ompt chain");
	TCase *tcase = tcase_create("chain");

	tcase_add_checked_fixture(tcase, setup, sequence_stop);
	tcase_add_test(tcase, both_are_served);
	tcase_add_test(tcase, the_tool_goes_on_without_the_plugin);
	tcase_add_test(tcase, not_worthwhile);
	tcase_add_loop_test(tcase, which_tool, 0, sizeof(lists) / sizeof(lists[0]));
	suite_add_tcase(suite, tcase);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
