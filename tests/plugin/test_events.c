/* The plugin through its entry, with a made-up runtime: what calls of the public API come of which
 * sequence of events. Every sequence is played twice, alone and with another tool chained behind. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "../stubs/fake_nsched.h"
#include "sequence.h"

#ifndef SMALL_TOOL
#define SMALL_TOOL "tests/plugin/.libs/small_tool.so"
#endif

/* A region A of two threads, and what comes of it in a process where nothing was before. */
#define REGION_A "0pA2@10 0bA.0 1bA.1 1s2 0s2@10 0w2 0eA.0 0xA@10 "
#define CALLS_A "0O 0S 0R 0P 0B10 1R 1P 1B10 1E 0E"
#define LATE_A "1w2 1eA.1 "

static const struct {
	const char *name, *steps, *calls;
	bool alone_only; /* tells of the data words, which a chained tool has to itself */
} cases[] = {
	{ "nothing but the initial task", "0i", "" },
	{ "a region; its worker's end is late", "0i " REGION_A LATE_A, CALLS_A },
	{ "the worker's late end comes after the next region's begin",
	  "0i " REGION_A "0pB2@20 " LATE_A "1bB.1 0bB.0 1s2 0s2@20 0eB.0 0xB@20", CALLS_A " 1P 1B20 0P 0B20 1E 0E" },
	{ "the worker's late end never comes", REGION_A "0pB2@20 1bB.1 0bB.0 1s2 0s2@20 0eB.0 0xB@20",
	  CALLS_A " 1P 1B20 0P 0B20 1E 0E" },
	{ "the last barrier as LLVM 19 names it", "0pA2@10 0bA.0 1bA.1 1s9 0s9@10 0eA.0 0xA@10",
	  CALLS_A },
	{ "explicit, workshare and other barriers are not the last",
	  "0pA2@10 0bA.0 1bA.1 1s3 1s3@10 1s8@10 1s2@77 1s4 1s5 1s6 0s2@10 1s2",
	  "0O 0S 0R 0P 0B10 1R 1P 1B10 0E 1E" },
	{ "gcc's code leaves out the worker's code address in worksharing barriers", "0pA2@10 0bA.0 1bA.1 1s4 0s4@22 1s2 0s2@10",
	  CALLS_A },
	{ "a missed barrier: the beginner's end serves", "0pA2@10 0bA.0 1bA.1 0eA.0 0xA@10", "0O 0S 0R 0P 0B10 1R 1P 1B10 0E" },
	{ "a missed barrier: the worker's late end does not serve, its next region starts anew",
	  "0pA2@10 0bA.0 1bA.1 0s2@10 0eA.0 0xA@10 1eA.1 0pB2@20 1bB.1 1s2", "0O 0S 0R 0P 0B10 1R 1P 1B10 0E 1P 1B20 1E" },
	{ "a task that has no region comes after one that had", "0pA2@10 0bA.0 0s2@10 0eA.0 0xA@10 0i", "0O 0S 0R 0P 0B10 0E" },
	{ "only the region's end comes", "0pA2@10 0bA.0 0xA@10", "0O 0S 0R 0P 0B10 0E" },
	{ "a serialized region opens nothing", "0i 0pA1@10 0bA.0 0eA.0 0xA", "" },
	{ "a serialized region later on", REGION_A "0pB1@20 0bB.0 0eB.0 0xB", CALLS_A " 0P 0B20 0E" },
	{ "a region of the runtime's default size", "0pA0@10 0bA.0 0eA.0 0xA", "0O 0S 0R 0P 0B10 0E" },
	{ "nested: inner threads are placed, the outer region is timed",
	  "0pA2@10 0bA.0 1bA.1 0pB2@20 0bB.0 2bB.1 2s2 0s2@20 0eB.0 0xB@20 1s2 0s2@10 0eA.0 0xA@10",
	  "0O 0S 0R 0P 0B10 1R 1P 1B10 0P 2R 2P 1E 0E" },
	{ "nested: an inner worker serves at level 1 afterwards",
	  "0pA2@10 0bA.0 0pB2@20 0bB.0 2bB.1 2s2 0s2@20 0eB.0 0xB@20 0s2@10 0eA.0 0xA@10 0pC2@30 2eB.1 2bC.1",
	  "0O 0S 0R 0P 0B10 0P 2R 2P 0E 2P 2B30" },
	{ "nested in a serialized region: the inner one opens",
	  "0pA1@10 0bA.0 0pB2@20 0bB.0 1bB.1 1s2 0s2@20 0eB.0 0xB@20 0eA.0 0xA 0pC2@30 1eB.1 1bC.1 0bC.0",
	  "0O 0S 0R 0P 1R 1P 1P 1B30 0P 0B30" },
	{ "nine levels deep and back: level 1 is still level 1",
	  "0pA2@1 0bA.0 0pB1@2 0bB.0 0pC1@3 0bC.0 0pD1@4 0bD.0 0pE1@5 0bE.0 0pF1@6 0bF.0 0pG1@7 0bG.0 0pH1@8 0bH.0 "
	  "0pI1@9 0bI.0 0eI.0 0xI 0eH.0 0xH 0eG.0 0xG 0eF.0 0xF 0eE.0 0xE 0eD.0 0xD 0eC.0 0xC 0eB.0 0xB 0s2@1 0eA.0 0xA "
	  "0pJ2@a 0bJ.0",
	  "0O 0S 0R 0P 0B1 0P 0P 0P 0P 0P 0P 0P 0P 0E 0P 0Ba" },
	{ "teams as in LLVM 14: a wrapper without a code address",
	  "0i 0lA2@10 0iA.0 1iA.1 0pB1 0bB.0 0pC2@30 0bC.0 2bC.1 2s2 0s2@30 0eC.0 0xC@30 0eB.0 0xB 0s2@10 0eA.0 0xA@10",
	  "0O 0S 0R 0P 1R 1P 0P 0P 0B30 2R 2P 2B30 2E 0E" },
	{ "teams whose wrapper has the runtime's code address",
	  "0i 0lA2@10 0iA.0 1iA.1 1pB2@R 1bB.0 1pC2@30 1bC.0 2bC.1 2s2 1s2@30 1eC.0 1xC@30 1pD2@40 1bD.0 1s2@40 1eD.0 1xD",
	  "0O 0S 0R 0P 1R 1P 1P 1P 1B30 2R 2P 2B30 2E 1E 1P 1B40 1E" },
	{ "after teams, an ordinary region", "0lA2@10 0iA.0 0pB1 0bB.0 0eB.0 0xB 0eA.0 0xA 0pC2@30 0bC.0 0s2@30 0eC.0",
	  "0O 0S 0R 0P 0P 0P 0B30 0E" },
	{ "hidden helpers open nothing and are not registered", "0i 3pH8@R 3bH.0 4bH.1 5bH.2 4s2 5s2", "" },
	{ "hidden helpers, one of them a worker before",
	  REGION_A "3pH8@R 3bH.0 4bH.1 " LATE_A "1bH.2 1s2 4s2", CALLS_A " 1U" },
	{ "a region inside a helper's task is the helper's",
	  REGION_A "3pH8@R 3bH.0 4bH.1 4pI2@40 4bI.0 5bI.1 5s2 4s2@40 4eI.0 4xI 4pJ2@50 4bJ.0", CALLS_A },
	{ "a code address of the runtime's in an inner region is no helper's", "0pA2@10 0bA.0 0pB2@R 0bB.0", "0O 0S 0R 0P 0B10 0P" },
	{ "several roots, whose workers are pooled",
	  "0i 1i 0pA2@10 0bA.0 2bA.1 1pB2@20 1bB.0 3bB.1 2s2 0s2@10 0eA.0 0xA@10 1s2@20 3s2 1eB.0 1xB@20 1pC2@30 2eA.1 "
	  "2bC.1 1bC.0 2s2 1s2@30",
	  "0O 0S 0R 0P 0B10 2R 2P 2B10 1R 1P 1B20 3R 3P 3B20 2E 0E 1E 3E 2P 2B30 1P 1B30 2E 1E" },
	{ "thread ends, and one that never began", REGION_A "1t 5t 0t 0t", CALLS_A " 1U 0U" },
	{ "a thread begins again after its end", REGION_A "1t 0pB2@20 1bB.1", CALLS_A " 1U 1R 1P 1B20" },
	{ "ends without begins", "0s2 0e.0 1e.1 1s9 " REGION_A "2e.1 2s2 2t", CALLS_A },
	{ "loop chunks: those of loops alone, in regions alone", "0c3@5 0pA2@10 0bA.0 1bA.1 0c3@20 1c3@30 0c2@1 1c4@1 0c3@21 1s2 1c3@40 0s2@10 0c3@9",
	  "0O 0S 0R 0P 0B10 1R 1P 1B10 0L20 1L30 0L21 1E 0E" },
	{ "a task goes to who runs it", "0k1@70 0pA2@10 0bA.0 1bA.1 0k2@80 0k3 0k4@90 1r2 0r4 1r3 1r1 2r2 1r5",
	  "0O 0S 0R 0P 0B10 1R 1P 1B10 1T80 0T90 1Tdead0", true },
	{ "tasks without a region's data", "0pA2@10 0n.0 1n.1 1s2 0s2@10 0eA.0 0xA@10", "0O 0S", true },
};

static void play(int i)
{
	ck_assert(sequence_start());
	sequence_play(cases[i].steps);
	ck_assert_msg(strcmp(sequence_calls(), cases[i].calls) == 0, "%s\n  expected: %s\n  got:      %s", cases[i].name,
	              cases[i].calls, sequence_calls());
	ck_assert_msg(fake_breach() == NULL, "%s: %s", cases[i].name, fake_breach());
}

START_TEST(alone)
{
	play(_i);
}
END_TEST

START_TEST(chained)
{
	if (cases[_i].alone_only)
		return;
	setenv("NSCHED_TOOL_LIBRARIES", SMALL_TOOL, 1);
	play(_i);
}
END_TEST

/* ---- runtimes that do not announce everything ------------------------------------------------------- */

static const struct {
	int missing;
	bool works;
	const char *calls; /* of REGION_A, LATE_A, and the end of thread 1 */
} lacks[] = {
	{ OMPT_PARALLEL_BEGIN, false, "" },
	{ OMPT_IMPLICIT_TASK, false, "" },
	{ OMPT_PARALLEL_END, true, CALLS_A " 1U" },
	{ OMPT_THREAD_END, true, CALLS_A },
	{ OMPT_SYNC_REGION, true, "0O 0S 0R 0P 0B10 1R 1P 0E 1U" },
};

START_TEST(lacking)
{
	runtime->answers[lacks[_i].missing] = OMPT_SET_NEVER;
	ck_assert_int_eq(sequence_start(), lacks[_i].works);
	sequence_play(REGION_A LATE_A "1t");
	ck_assert_str_eq(sequence_calls(), lacks[_i].calls);
	ck_assert_ptr_null(fake_breach());
}
END_TEST

START_TEST(lookup_finds_nothing)
{
	ompt_start_tool_result_t *tool = ompt_start_tool(201611, "made up");

	runtime->answers[OMPT_PARALLEL_BEGIN] = OMPT_SET_ERROR;
	ck_assert_ptr_nonnull(tool);
	ck_assert_int_eq(tool->initialize(runtime->lookup, 0, &tool->tool_data), 0);
	tool->finalize(&tool->tool_data);
	ck_assert_str_eq(sequence_calls(), "");
}
END_TEST

static void setup(void)
{
	unsetenv("NSCHED_REPORT");
	unsetenv("NSCHED_TOOL_LIBRARIES");
	sequence_load();
	fake_reset();
}

int main(void)
{
	Suite *suite = suite_create("ompt events");
	TCase *tcase = tcase_create("events");
	int played = sizeof(cases) / sizeof(cases[0]);

	tcase_add_checked_fixture(tcase, setup, sequence_stop);
	tcase_add_loop_test(tcase, alone, 0, played);
	tcase_add_loop_test(tcase, chained, 0, played);
	tcase_add_loop_test(tcase, lacking, 0, sizeof(lacks) / sizeof(lacks[0]));
	tcase_add_test(tcase, lookup_finds_nothing);
	suite_add_tcase(suite, tcase);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
