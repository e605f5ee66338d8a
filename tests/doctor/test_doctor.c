/* The doctor on recorded machines: each finding where it is the case and where it is not, also with each file missing,
 * cut short or damaged; and what it prints. */
#define _GNU_SOURCE
#include <check.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

enum { SCREEN_LINES = 24, SCREEN_COLUMNS = 80 };

static const char *const *names;
static unsigned n_names;

/* ---- what is found ------------------------------------------------------------------------------------------- */

static void expect(const struct recorded *c, const char *what, const char *wanted)
{
	struct doctor *doctor = case_doctor(c);

	ck_assert_msg(strcmp(case_found(doctor), wanted) == 0, "%s: expected %s, found %s (%s: %s)", what, wanted, case_found(doctor),
	              doctor->n_found > 0 ? doctor->found[0].what : "", doctor->n_found > 0 ? doctor->found[0].evidence : "");
	for (unsigned i = 0; i < doctor->n_found; i++)
		ck_assert_msg(doctor->found[i].what[0] && doctor->found[i].evidence[0] && doctor->found[i].remedy[0], "%s: a word is missing", what);
	case_forget(doctor);
}

START_TEST(recorded)
{
	struct recorded c;

	case_load(&c, names[_i]);
	expect(&c, names[_i], c.expect);
	case_free(&c);
}
END_TEST

/* The recorded ones with something changed: where the finding must go, or come. */
static const struct change {
	const char *name;
	struct {
		const char *file, *text;
	} edit[8];
	const char *expect;
} changes[] = {
#include "changes.h"
};

START_TEST(changed)
{
	const struct change *change = &changes[_i];
	struct recorded c;
	char what[256];

	case_load(&c, change->name);
	for (unsigned i = 0; i < 8 && change->edit[i].file != NULL; i++)
		case_edit(&c, change->edit[i].file, change->edit[i].text);
	snprintf(what, sizeof(what), "%s with another %s (line %d)", change->name, change->edit[0].file, _i + 1);
	expect(&c, what, change->expect);
	case_free(&c);
}
END_TEST

/* Each finding of the table has a case in which it is found, and one like it in which it is not. */
START_TEST(all_covered)
{
	static const char *const ids[] = { "node-full", "two-movers", "quota", "stacked", "team", "narrow", "siblings", "no-share",
		                           "foreign-share", "one-node", "far-memory", "policy", "mems" };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		unsigned found = 0, gone = 0;

		for (unsigned k = 0; k < n_names; k++) {
			struct recorded c;

			case_load(&c, names[k]);
			found += strstr(c.expect, ids[i]) != NULL;
			for (size_t j = 0; strstr(c.expect, ids[i]) != NULL && j < sizeof(changes) / sizeof(changes[0]); j++)
				gone += strcmp(changes[j].name, names[k]) == 0 && strstr(changes[j].expect, ids[i]) == NULL;
			case_free(&c);
		}
		ck_assert_msg(found > 0, "no case has %s", ids[i]);
		ck_assert_msg(gone > 0, "no change of a case makes %s go", ids[i]);
	}
}
END_TEST

/* ---- what can't be read, or is damaged --------------------------------------------------------------------------- */

/* Nothing is found fault with that the whole case has not: what is not known is never wrong. (A neighbour or a mask
 * that is not known may leave a finding out.) */
static void no_worse(const struct doctor *doctor, const char *name, const char *file, const char *was)
{
	for (unsigned i = 0; i < doctor->n_found; i++)
		ck_assert_msg(strstr(was, doctor->found[i].id) != NULL, "%s without %s: %s is found (%s)", name, file, doctor->found[i].id,
		              doctor->found[i].evidence);
}

/* Files whose loss changes what is true, and so may be found fault with: the doctor can't know better. */
static bool decides(const char *file)
{
	return strstr(file, "cpulist") != NULL || strstr(file, "/online") != NULL || strstr(file, "cpuset") != NULL ||
	       strstr(file, "/cgroup") != NULL || strstr(file, "environ") != NULL || strstr(file, "/status") != NULL;
}

/* These have between them all kinds of files: cgroups, ranks, bound threads. Each look takes milliseconds. */
static const char *const to_damage[] = { "quota", "no-share" };

/* As it was, at both looks. */
static void restore(const struct recorded *c, const struct unpacked *u, unsigned i)
{
	case_rewrite(u, &c->section[i]);
	for (unsigned k = i + 1; k < c->n; k++) {
		if (c->section[k].later && strcmp(c->section[k].name, c->section[i].name) == 0)
			case_rewrite(u, &c->section[k]);
	}
}

START_TEST(each_file_missing)
{
	struct recorded c;
	struct unpacked u;

	case_load(&c, to_damage[_i]);
	case_unpack(&c, &u);
	for (unsigned i = 0; i < c.n; i++) {
		struct section empty = { c.section[i].name, (char *)"", c.section[i].later };

		case_rewrite(&u, &empty);

		struct doctor *doctor = case_look(&c, &u);

		if (!decides(empty.name))
			no_worse(doctor, to_damage[_i], empty.name, c.expect);
		case_forget(doctor);
		restore(&c, &u, i);
	}
	case_remove(&u);
	case_free(&c);
}
END_TEST

static char *damaged(const char *text, unsigned i)
{
	size_t length = strlen(text);
	char *copy = strdup(text);

	copy[length / 2] = '\0';
	for (size_t k = i % 3; k < length / 2; k += 5 + i % 7)
		copy[k] = (char)(k % 2 ? 0xff : '-');
	return copy;
}

/* Cut in the middle, and with bytes that do not belong there: no crash, and the texts can be printed. */
START_TEST(each_file_damaged)
{
	struct recorded c;
	struct unpacked u;
	FILE *out = fopen("/dev/null", "we");

	case_load(&c, to_damage[_i]);
	case_unpack(&c, &u);
	for (unsigned i = 0; i < c.n; i += 2) { /* every other one: it takes its time */
		struct section bad = { c.section[i].name, damaged(c.section[i].text, i), c.section[i].later };

		case_rewrite(&u, &bad);

		struct doctor *doctor = case_look(&c, &u);

		ck_assert_int_eq(doctor_json(doctor, out), 0);
		doctor_text(doctor, out);
		case_forget(doctor);
		restore(&c, &u, i);
		free(bad.text);
	}
	fclose(out);
	case_remove(&u);
	case_free(&c);
}
END_TEST

START_TEST(nothing_there)
{
	struct recorded c = { .pid = 7, .window_ms = 1000, .section = NULL };
	struct doctor *doctor = case_doctor(&c);

	ck_assert_str_eq(case_found(doctor), "-");
	ck_assert_uint_gt(doctor->files.n_gaps, 1);
	ck_assert_ptr_nonnull(strstr(doctor->files.gap[0], "can't be read"));
	case_forget(doctor);
}
END_TEST

/* ---- what is printed -------------------------------------------------------------------------------------------- */

static char *printed(const struct doctor *doctor)
{
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	doctor_text(doctor, out);
	fclose(out);
	return text;
}

START_TEST(as_text)
{
	struct recorded c;
	unsigned lines = 0;

	case_load(&c, names[_i]);

	struct doctor *doctor = case_doctor(&c);
	char *all = printed(doctor), *end;

	for (char *line = all; *line != '\0'; line = end + 1, lines++) {
		end = strchr(line, '\n');
		ck_assert_ptr_nonnull(end);
		ck_assert_msg(end - line < SCREEN_COLUMNS, "%s: %.*s", names[_i], (int)(end - line), line);
	}
	ck_assert_ptr_nonnull(strstr(all, doctor->n_found == 0 ? ": healthy\n" : " finding"));
	for (unsigned i = 0; i < doctor->n_found; i++)
		ck_assert_ptr_nonnull(strstr(all, doctor->found[i].id));
	ck_assert_msg(doctor->n_found > 0 || lines <= SCREEN_LINES, "%s: %u lines\n%s", names[_i], lines, all);
	free(all);
	case_forget(doctor);
	case_free(&c);
}
END_TEST

START_TEST(as_json)
{
	struct recorded c;
	char *text;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	case_load(&c, names[_i]);

	struct doctor *doctor = case_doctor(&c);

	ck_assert_int_eq(doctor_json(doctor, out), 0);
	fclose(out);

	json_t *root = json_loads(text, 0, NULL), *findings = json_object_get(root, "findings");

	ck_assert_ptr_nonnull(root);
	ck_assert_int_eq(json_is_true(json_object_get(root, "healthy")), doctor->n_found == 0);
	ck_assert_uint_eq(json_array_size(findings), doctor->n_found);
	ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(root, "machine"), "nodes")), doctor->machine.n_nodes);
	for (unsigned i = 0; i < doctor->n_found; i++)
		ck_assert_str_eq(json_string_value(json_object_get(json_array_get(findings, i), "id")), doctor->found[i].id);
	json_decref(root);
	free(text);
	case_forget(doctor);
	case_free(&c);
}
END_TEST

int main(void)
{
	n_names = case_names(&names);
	if (n_names == 0) {
		printf("no cases: srcdir must name the source folder\n");
		return 99;
	}

	Suite *suite = suite_create("doctor");
	TCase *cases = tcase_create("cases");
	SRunner *runner = srunner_create(suite);

	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 120);
	tcase_add_loop_test(cases, recorded, 0, (int)n_names);
	tcase_add_loop_test(cases, changed, 0, (int)(sizeof(changes) / sizeof(changes[0])));
	tcase_add_test(cases, all_covered);
	tcase_add_loop_test(cases, each_file_missing, 0, (int)(sizeof(to_damage) / sizeof(to_damage[0])));
	tcase_add_loop_test(cases, each_file_damaged, 0, (int)(sizeof(to_damage) / sizeof(to_damage[0])));
	tcase_add_test(cases, nothing_there);
	tcase_add_loop_test(cases, as_text, 0, (int)n_names);
	tcase_add_loop_test(cases, as_json, 0, (int)n_names);
	srunner_run_all(runner, CK_NORMAL);

	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed != 0;
}
