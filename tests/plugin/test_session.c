/* The plugin's life, through its entry: who opens, starts and closes the scheduler, and when. */
#define _GNU_SOURCE
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nsched.h>

#include "../stubs/fake_nsched.h"
#include "sequence.h"

#define REGION_A "0pA2@10 0bA.0 1bA.1 1s2 0s2@10 0w2 0eA.0 0xA@10 "
#define CALLS_A "0O 0S 0R 0P 0B10 1R 1P 1B10 1E 0E"

static void setup(void)
{
	unsetenv("NSCHED_REPORT");
	unsetenv("NSCHED_TOOL_LIBRARIES");
	sequence_load();
	fake_reset();
}

static void expect(const char *calls)
{
	ck_assert_str_eq(sequence_calls(), calls);
	ck_assert_msg(fake_breach() == NULL, "%s", fake_breach());
}

/* ---- nothing to do on this machine ------------------------------------------------------------------ */

START_TEST(not_worthwhile)
{
	fake.worthwhile = 0;
	ck_assert(!sequence_start());
	expect("");
	fake.worthwhile = 1; /* and the process is not taken by the runtime that was refused */
	ck_assert(sequence_start());
}
END_TEST

START_TEST(not_worthwhile_but_reported)
{
	setenv("NSCHED_REPORT", "/dev/null", 1);
	fake.worthwhile = 0;
	ck_assert(!sequence_start());
	expect("0O 0C");
}
END_TEST

/* ---- options ------------------------------------------------------------------------------------------ */

START_TEST(wrong_option_is_one_line)
{
	char text[512] = "", *line_end;
	FILE *file = tmpfile();
	int kept = dup(2);

	fake.config_environment = -2;
	dup2(fileno(file), 2);

	bool started = sequence_start();

	dup2(kept, 2);
	rewind(file);
	ck_assert(started);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	line_end = strchr(text, '\n');
	ck_assert_ptr_nonnull(line_end);
	ck_assert_ptr_nonnull(strstr(text, "a wrong option"));
	ck_assert_ptr_null(fgets(text, sizeof(text), file));
	sequence_play(REGION_A);
	expect(CALLS_A);
}
END_TEST

START_TEST(no_memory_for_options)
{
	fake.config_create = -12;
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	sequence_finalize();
	expect(CALLS_A " 0C");
}
END_TEST

/* ---- refusals of the core ------------------------------------------------------------------------------ */

START_TEST(open_refused)
{
	fake.open = -12;
	ck_assert(sequence_start());
	sequence_play(REGION_A REGION_A "1t");
	sequence_finalize();
	expect("0O");
}
END_TEST

START_TEST(start_refused)
{
	fake.start = -11;
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	sequence_finalize();
	expect(CALLS_A " 0C");
}
END_TEST

START_TEST(register_refused)
{
	fake.thread_register = -12;
	ck_assert(sequence_start());
	sequence_play(REGION_A REGION_A "1t");
	sequence_finalize();
	expect("0O 0S 0R 1R 0C");
}
END_TEST

/* ---- the end ------------------------------------------------------------------------------------------- */

START_TEST(finalize_closes_once)
{
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	sequence_finalize();
	sequence_finalize();
	sequence_play("1e.1 0pB2@20 0bB.0 1bB.1 1s2 0eB.0 0xB 1t 0t");
	expect(CALLS_A " 0C");
}
END_TEST

START_TEST(finalize_without_a_region)
{
	ck_assert(sequence_start());
	sequence_play("0i");
	sequence_finalize();
	expect("");
}
END_TEST

START_TEST(finalize_without_a_region_but_reported)
{
	setenv("NSCHED_REPORT", "/dev/null", 1);
	ck_assert(sequence_start());
	sequence_finalize();
	sequence_finalize();
	expect("0O 0C");
}
END_TEST

/* omp_pause_resource_all(hard) ends the tool in mid-program; a runtime may start it again. */
START_TEST(started_again)
{
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	sequence_finalize();
	fake_reset();
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	sequence_finalize();
	expect(CALLS_A " 0C");
}
END_TEST

START_TEST(second_runtime_goes_without)
{
	ck_assert(sequence_start());
	ck_assert_ptr_null(ompt_start_tool(201611, "another"));
	sequence_play(REGION_A);
	expect(CALLS_A);
}
END_TEST

/* ---- fork ------------------------------------------------------------------------------------------------ */

/* Runs the rest of the caller in a child; the exit status of the child is checked by the parent. */
static int child_status(void (*work)(void *), void *expected)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		work(expected);
		_exit(fake_breach() != NULL || strcmp(sequence_calls(), expected) != 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void child_ends(void *expected)
{
	(void)expected;
	fake_reset();
	sequence_play("0i");
	sequence_finalize();
}

static void child_has_a_region(void *expected)
{
	(void)expected;
	fake_reset();
	sequence_play("0pC2@30 0bC.0 0s2@30 0eC.0 0xC@30 0pD2@40 0bD.0 0s2@40 0eD.0 0xD@40 0t");
	sequence_finalize();
}

START_TEST(child_of_a_fork)
{
	setenv("NSCHED_REPORT", "/dev/null", 1);
	ck_assert(sequence_start());
	if (_i != 0)
		sequence_play(REGION_A);
	ck_assert_int_eq(child_status(child_ends, (char[]){ "" }), 0);
	ck_assert_int_eq(child_status(child_has_a_region, (char[]){ "0O 0S 0R 0P 0B30 0E 0P 0B40 0E 0U 0C" }), 0);
	fake_reset();
	sequence_play("0pB2@20 0bB.0 0s2@20 0eB.0 0xB@20");
	sequence_finalize();
	expect(_i != 0 ? "0P 0B20 0E 0C" : "0O 0S 0R 0P 0B20 0E 0C");
}
END_TEST

START_TEST(child_after_the_end)
{
	ck_assert(sequence_start());
	sequence_play(REGION_A);
	sequence_finalize();
	ck_assert_int_eq(child_status(child_has_a_region, (char[]){ "" }), 0);
}
END_TEST

/* A child that no fork handler was told of: it cannot be served, but what it inherits is not its own to
 * close. */
START_TEST(child_of_a_clone)
{
	int status = -1;

	ck_assert(sequence_start());
	if (_i != 0)
		sequence_play(REGION_A);
	setenv("NSCHED_REPORT", "/dev/null", 1);
	fake_reset();

	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		sequence_finalize();
		_exit(fake_count(FAKE_OPEN) + fake_count(FAKE_CLOSE) != 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* A fork inside a region, which the child then leaves. */
static void child_in_region(void *expected)
{
	(void)expected;
	fake_reset();
	sequence_play("0s2@10 0eA.0 0xA@10");
	sequence_finalize();
}

START_TEST(fork_in_a_region)
{
	ck_assert(sequence_start());
	sequence_play("0pA2@10 0bA.0 1bA.1");
	ck_assert_int_eq(child_status(child_in_region, (char[]){ "" }), 0);
	sequence_play("1s2 0s2@10 0eA.0 0xA@10");
	expect(CALLS_A);
}
END_TEST

/* ---- many at once ------------------------------------------------------------------------------------------ */

enum { ROOTS = 6, ROUNDS = 2000 };

static pthread_barrier_t together;

static void *root(void *argument)
{
	ompt_data_t task = { 0 }, region;
	const void *code = argument;

	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		region.value = 0;
		((ompt_parallel_begin_t)runtime->callbacks[OMPT_PARALLEL_BEGIN])(&task, NULL, &region, 2, 0, code);
		((ompt_implicit_task_t)runtime->callbacks[OMPT_IMPLICIT_TASK])(OMPT_SCOPE_BEGIN, &region, &task, 1, 0, 2);
		((ompt_sync_region_t)runtime->callbacks[OMPT_SYNC_REGION])(9, OMPT_SCOPE_BEGIN, &region, &task, code);
		((ompt_implicit_task_t)runtime->callbacks[OMPT_IMPLICIT_TASK])(OMPT_SCOPE_END, NULL, &task, 1, 0, 2);
		((ompt_parallel_end_t)runtime->callbacks[OMPT_PARALLEL_END])(&region, &task, 0, code);
	}
	((ompt_thread_end_t)runtime->callbacks[OMPT_THREAD_END])(&task);
	return NULL;
}

/* The runtime ends while other threads are in callbacks. */
START_TEST(roots_at_once)
{
	pthread_t threads[ROOTS];

	ck_assert(sequence_start());
	pthread_barrier_init(&together, NULL, ROOTS + 1);
	for (long i = 0; i < ROOTS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, root, (void *)(i + 1)), 0);
	pthread_barrier_wait(&together);
	if (_i != 0)
		sequence_finalize();
	for (int i = 0; i < ROOTS; i++)
		pthread_join(threads[i], NULL);
	if (_i == 0)
		sequence_finalize();
	ck_assert_msg(fake_breach() == NULL, "%s", fake_breach());
	ck_assert_uint_eq(fake_count(FAKE_OPEN), fake_count(FAKE_CLOSE));
	ck_assert_uint_le(fake_count(FAKE_REGISTER), ROOTS);
	if (_i == 0)
		ck_assert_uint_eq(fake_count(FAKE_REGISTER), fake_count(FAKE_UNREGISTER));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ompt session");
	TCase *tcase = tcase_create("life");

	tcase_add_checked_fixture(tcase, setup, sequence_stop);
	tcase_add_test(tcase, not_worthwhile);
	tcase_add_test(tcase, not_worthwhile_but_reported);
	tcase_add_test(tcase, wrong_option_is_one_line);
	tcase_add_test(tcase, no_memory_for_options);
	tcase_add_test(tcase, open_refused);
	tcase_add_test(tcase, start_refused);
	tcase_add_test(tcase, register_refused);
	tcase_add_test(tcase, finalize_closes_once);
	tcase_add_test(tcase, finalize_without_a_region);
	tcase_add_test(tcase, finalize_without_a_region_but_reported);
	tcase_add_test(tcase, started_again);
	tcase_add_test(tcase, second_runtime_goes_without);
	tcase_add_loop_test(tcase, child_of_a_fork, 0, 2);
	tcase_add_loop_test(tcase, child_of_a_clone, 0, 2);
	tcase_add_test(tcase, child_after_the_end);
	tcase_add_test(tcase, fork_in_a_region);
	tcase_add_loop_test(tcase, roots_at_once, 0, 20);
	suite_add_tcase(suite, tcase);

	SRunner *runner = srunner_create(suite);

	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
