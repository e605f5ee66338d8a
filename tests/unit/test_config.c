/* The option table and what reads it: defaults, every kind of value, every refusal's text, and the
 * environment. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libnsched/config.h"
#include "libnsched/pure/nearest.h"

struct set_case {
	const char *name, *value;
	int result;
	const char *text; /* the refusal, or the value that get returns */
};

static const struct set_case set_cases[] = {
	{ "policy", "stay", 0, "stay" },
	{ "policy", "joint", 0, "joint" },
	{ "policy", "join", -EINVAL, "policy: \"join\" is not one of joint|stay|simple|pool|homenode|homenode-dynamic|concentric|balancenuma|autonuma|adaptive|reconciled; did you mean joint?" },
	{ "policy", "", -EINVAL, "policy: \"\" is not one of joint|stay|simple|pool|homenode|homenode-dynamic|concentric|balancenuma|autonuma|adaptive|reconciled" },
	{ "sampler", "tiemr", -EINVAL, "sampler: \"tiemr\" is not one of auto|perf|timer|off; did you mean timer?" },
	{ "threads", "everything", -EINVAL, "threads: \"everything\" is not one of registered|all" },
	{ "report", "out/of/here.json", 0, "out/of/here.json" },
	{ "report", "", 0, "" },
	{ "dry_run", "1", 0, "1" },
	{ "dry_run", "0", 0, "0" },
	{ "dry_run", "yes", 0, "1" },
	{ "dry_run", "off", 0, "0" },
	{ "dry_run", "true", 0, "1" },
	{ "dry_run", "2", -EINVAL, "dry_run: \"2\" is neither 0 nor 1" },
	{ "dry_run", "", -EINVAL, "dry_run: \"\" is neither 0 nor 1" },
	{ "interval_ms", "10", 0, "10" },
	{ "interval_ms", "10000", 0, "10000" },
	{ "interval_ms", "250ms", 0, "250" },
	{ "interval_ms", "250 ms", 0, "250" },
	{ "budget_mib", "64 MiB/s", 0, "64" },
	{ "interval_ms", "9", -ERANGE, "interval_ms: 9 is outside of 10..10000 ms" },
	{ "interval_ms", "10001", -ERANGE, "interval_ms: 10001 is outside of 10..10000 ms" },
	{ "interval_ms", "-100", -ERANGE, "interval_ms: -100 is outside of 10..10000 ms" },
	{ "interval_ms", "99999999999999999999999", -ERANGE,
	  "interval_ms: 99999999999999999999999 is outside of 10..10000 ms" },
	{ "interval_ms", "fast", -EINVAL, "interval_ms: \"fast\" is not a number of ms" },
	{ "interval_ms", "100s", -EINVAL, "interval_ms: \"100s\" is not a number of ms" },
	{ "interval_ms", "0x64", -EINVAL, "interval_ms: \"0x64\" is not a number of ms" },
	{ "interval_ms", " 100", -EINVAL, "interval_ms: \" 100\" is not a number of ms" },
	{ "interval_ms", "-", -EINVAL, "interval_ms: \"-\" is not a number of ms" },
	{ "interval_ms", "", -EINVAL, "interval_ms: \"\" is not a number of ms" },
	{ "sample_hz", "0", 0, "0" },
	{ "polcy", "joint", -ENOENT, "there is no option \"polcy\"; did you mean policy?" },
	{ "dry-run", "1", -ENOENT, "there is no option \"dry-run\"; did you mean dry_run?" },
	{ "interval", "1", -ENOENT, "there is no option \"interval\"; did you mean interval_ms?" },
	{ "Policy", "joint", -ENOENT, "there is no option \"Policy\"; did you mean policy?" },
	{ "frobnicate", "1", -ENOENT, "there is no option \"frobnicate\"" },
	{ "", "1", -ENOENT, "there is no option \"\"" },
};

START_TEST(set_and_get)
{
	const struct set_case *c = &set_cases[_i];
	char value[CONFIG_VALUE_BYTES], before[CONFIG_VALUE_BYTES] = "", after[CONFIG_VALUE_BYTES] = "";
	nsched_error_t error = { "" };
	nsched_config_t *config;

	ck_assert_int_eq(nsched_config_create(&config), 0);
	nsched_config_get(config, c->name, before, sizeof(before));
	errno = EXDEV;
	ck_assert_int_eq(nsched_config_set(config, c->name, c->value, &error), c->result);
	ck_assert_int_eq(errno, EXDEV);
	if (c->result == 0) {
		ck_assert_int_eq(nsched_config_get(config, c->name, value, sizeof(value)), (int)strlen(c->text));
		ck_assert_str_eq(value, c->text);
		ck_assert_str_eq(error.text, "");
	} else {
		ck_assert_str_eq(error.text, c->text);
		ck_assert_int_eq(nsched_config_set(config, c->name, c->value, NULL), c->result);
		nsched_config_get(config, c->name, after, sizeof(after));
		ck_assert_str_eq(before, after);
	}
	nsched_config_destroy(config);
}
END_TEST

START_TEST(defaults_are_valid)
{
	nsched_error_t error = { "" };
	nsched_config_t *config;
	char value[CONFIG_VALUE_BYTES];

	ck_assert_int_eq(nsched_config_create(&config), 0);
	for (int i = 0; i < OPTIONS; i++) {
		const struct config_option *option = &config_options[i];

		ck_assert_msg(nsched_config_set(config, option->name, option->value, &error) == 0, "%s", error.text);
		ck_assert_int_ge(nsched_config_get(config, option->name, value, sizeof(value)), 0);
		ck_assert_str_eq(value, option->value);
		ck_assert_str_ne(option->help, "");
	}
	nsched_config_destroy(config);
}
END_TEST

/* The constants that code uses for choices are written by hand, beside the table. */
START_TEST(constants_match_the_table)
{
	static const struct { int number; const char *name, *value; } cases[] = {
		{ THREADS_REGISTERED, "threads", "registered" }, { THREADS_ALL, "threads", "all" },
		{ BIND_NODE, "bind", "node" }, { BIND_NONE, "bind", "none" },
		{ SAMPLER_AUTO, "sampler", "auto" }, { SAMPLER_PERF, "sampler", "perf" },
		{ SAMPLER_TIMER, "sampler", "timer" }, { SAMPLER_OFF, "sampler", "off" },
	};
	struct nsched_config config;

	config_defaults(&config);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(nsched_config_set(&config, cases[i].name, cases[i].value, NULL), 0);
		int field = strcmp(cases[i].name, "threads") == 0 ? config.threads
		            : strcmp(cases[i].name, "bind") == 0  ? config.bind
		                                                  : config.sampler;
		ck_assert_int_eq(field, cases[i].number);
	}
	char text[CONFIG_VALUE_BYTES];

	ck_assert_str_eq(config_choice(&config, OPTION_sampler, text), "off");
	ck_assert_str_eq(config_choice(&config, OPTION_policy, text), "joint");
}
END_TEST

START_TEST(null_arguments)
{
	char value[8];
	nsched_error_t error;
	nsched_config_t *config;

	ck_assert_int_eq(nsched_config_create(NULL), -EINVAL);
	ck_assert_int_eq(nsched_config_create(&config), 0);
	ck_assert_int_eq(nsched_config_set(NULL, "policy", "stay", &error), -EINVAL);
	ck_assert_int_eq(nsched_config_set(config, NULL, "stay", &error), -EINVAL);
	ck_assert_int_eq(nsched_config_set(config, "policy", NULL, &error), -EINVAL);
	ck_assert_int_eq(nsched_config_get(NULL, "policy", value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(nsched_config_get(config, NULL, value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(nsched_config_get(config, "policy", NULL, 0), -EINVAL);
	ck_assert_int_eq(nsched_config_get(config, "nothing", value, sizeof(value)), -ENOENT);
	ck_assert_int_eq(nsched_config_get(config, "policy", value, 5), -ENOSPC);
	ck_assert_int_eq(nsched_config_get(config, "policy", value, 6), 5);
	ck_assert_int_eq(nsched_config_environment(NULL, &error), -EINVAL);
	nsched_config_destroy(config);
	nsched_config_destroy(NULL);
}
END_TEST

START_TEST(long_texts)
{
	static char text[CONFIG_TEXT_BYTES + 1];
	nsched_error_t error;
	nsched_config_t *config;

	ck_assert_int_eq(nsched_config_create(&config), 0);
	memset(text, 'x', CONFIG_TEXT_BYTES);
	ck_assert_int_eq(nsched_config_set(config, "report", text, &error), -ERANGE);
	ck_assert_str_eq(error.text, "report: a text of 1024 bytes is too long; at most 1023 are taken");
	ck_assert_int_eq(nsched_config_set(config, "report", text + 1, &error), 0);
	ck_assert_int_eq(nsched_config_set(config, text, "1", &error), -ENOENT);
	ck_assert_int_eq(nsched_config_set(config, "sampler", text, &error), -EINVAL);
	ck_assert_int_eq(nsched_config_set(config, "sample_hz", text, &error), -EINVAL);
	nsched_config_destroy(config);
}
END_TEST

struct environment_case {
	const char *variables[4]; /* "NAME=VALUE" */
	int result;
	const char *text, *policy, *interval_ms;
};

static const struct environment_case environment_cases[] = {
	{ { "NSCHED_POLICY=stay", "NSCHED_INTERVAL_MS=50" }, 0, "", "stay", "50" },
	{ { "NSCHED_POLICY=", "NSCHED_INTERVAL_MS=" }, 0, "", "joint", "100" },
	{ { "NSCHED_POLCY=stay", "NSCHED_INTERVAL_MS=50" }, -ENOENT,
	  "there is no variable NSCHED_POLCY; did you mean NSCHED_POLICY?", "joint", "50" },
	{ { "NSCHED_policy=stay" }, -ENOENT, NULL, "joint", "100" },
	{ { "NSCHED_=stay" }, -ENOENT, "there is no variable NSCHED_", "joint", "100" },
	{ { "NSCHED_INTERVAL_MS=5", "NSCHED_POLICY=stay" }, -ERANGE,
	  "variable NSCHED_INTERVAL_MS: interval_ms: 5 is outside of 10..10000 ms", "stay", "100" },
	{ { "NSCHED_POLICY=jump" }, -EINVAL,
	  "variable NSCHED_POLICY: policy: \"jump\" is not one of joint|stay|simple|pool|homenode|homenode-dynamic|concentric|balancenuma|autonuma|adaptive|reconciled", "joint", "100" },
	{ { "NSCHED_TOOL_LIBRARIES=x", "NSCHED_LAUNCH_PID=1", "NSCHED_NUMABOX=1", "NSCHEDX=1" }, 0, "", "joint", "100" },
	{ { "NSCHED_NUMABOXES=x" }, -ENOENT, "there is no variable NSCHED_NUMABOXES", "joint", "100" },
};

START_TEST(environment)
{
	const struct environment_case *c = &environment_cases[_i];
	nsched_error_t error = { "" };
	nsched_config_t *config;
	char value[CONFIG_VALUE_BYTES];

	clearenv();
	for (int i = 0; i < 4 && c->variables[i] != NULL; i++)
		ck_assert_int_eq(putenv(strdup(c->variables[i])), 0);
	ck_assert_int_eq(nsched_config_create(&config), 0);
	ck_assert_int_eq(nsched_config_environment(config, &error), c->result);
	if (c->text != NULL)
		ck_assert_str_eq(error.text, c->text);
	ck_assert_int_eq(nsched_config_environment(config, NULL), c->result);
	ck_assert_int_gt(nsched_config_get(config, "policy", value, sizeof(value)), 0);
	ck_assert_str_eq(value, c->policy);
	ck_assert_int_gt(nsched_config_get(config, "interval_ms", value, sizeof(value)), 0);
	ck_assert_str_eq(value, c->interval_ms);
	nsched_config_destroy(config);
}
END_TEST

START_TEST(printed_values_are_read_again)
{
	struct nsched_config config, again;
	char *text = NULL, *line, *rest;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	config_defaults(&config);
	config_defaults(&again);
	ck_assert_int_eq(nsched_config_set(&config, "report", "a=b.json", NULL), 0);
	ck_assert_int_eq(nsched_config_set(&config, "policy", "stay", NULL), 0);
	ck_assert_int_eq(nsched_config_set(&config, "sample_hz", "0", NULL), 0);
	config_print(&config, file);
	fclose(file);
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
		char *value = strchr(line, '=');

		*value++ = '\0';
		ck_assert_int_eq(nsched_config_set(&again, line, value, NULL), 0);
	}
	ck_assert_mem_eq(&config, &again, sizeof(config));
	free(text);
}
END_TEST

START_TEST(nearest)
{
	static const struct { const char *a, *b; unsigned distance; } cases[] = {
		{ "", "", 0 }, { "run", "run", 0 }, { "rnu", "run", 1 }, { "ru", "run", 1 }, { "rum", "run", 1 },
		{ "", "run", 3 }, { "kitten", "sitting", 3 }, { "doctor", "report", 5 },
	};
	static const char *const names[] = { "run", "doctor", "report" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_uint_eq(nearest_distance(cases[i].a, cases[i].b), cases[i].distance);
		ck_assert_uint_eq(nearest_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
	ck_assert_str_eq(nearest_name("dcotor", names, 3), "doctor");
	ck_assert_ptr_null(nearest_name("launch", names, 3));
	ck_assert_ptr_null(nearest_name("", names, 3));
	ck_assert_ptr_null(nearest_name("run", names, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tcase = tcase_create("options");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, tcase);
	tcase_add_loop_test(tcase, set_and_get, 0, (int)(sizeof(set_cases) / sizeof(set_cases[0])));
	tcase_add_test(tcase, defaults_are_valid);
	tcase_add_test(tcase, constants_match_the_table);
	tcase_add_test(tcase, null_arguments);
	tcase_add_test(tcase, long_texts);
	tcase_add_loop_test(tcase, environment, 0, (int)(sizeof(environment_cases) / sizeof(environment_cases[0])));
	tcase_add_test(tcase, printed_values_are_read_again);
	tcase_add_test(tcase, nearest);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
