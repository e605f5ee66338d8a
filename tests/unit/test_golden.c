/* Situations whose right plan was thought out: tests/fixtures, whose README says how to add one. */
#include <check.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "made.h"
#include "obeys.h"
#include "pure/snapshot.h"

enum { NAME = 200, TEXT = 1 << 16 };

/* Gains and costs are written down to a few digits; support counts a rounding. */
static const float tolerance = 0.01f;

static glob_t found;

/* What a line "# run: joint pages" asks for; "# not yet: joint pages: reason" says that it is known to differ. */
struct run {
	char policy[32], name[64];
	struct policy_rules rules;
	bool not_yet;
};

static bool near(float a, float b)
{
	return fabsf(a - b) <= tolerance * fmaxf(fabsf(a), fabsf(b)) + 1;
}

static bool same_move(const struct move *a, const struct move *b)
{
	return a->kind == b->kind && a->thread == b->thread && a->page == b->page && a->pages == b->pages && a->from == b->from &&
	       a->to == b->to && a->again == b->again && abs(a->support - b->support) <= 1 && near(a->gain_ns_per_s, b->gain_ns_per_s) &&
	       near(a->cost_ns, b->cost_ns) && !strcmp(a->reason, b->reason);
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
	if (a->n != b->n) return false;
	for (unsigned i = 0; i < a->n; i++)
		if (!same_move(&a->move[i], &b->move[i])) return false;
	return true;
}

static void read_run(const char *words, struct run *run)
{
	char what[32] = "", more;
	int n = sscanf(words, " %31[a-z-] %31[a-z] %c", run->policy, what, &more);
	ck_assert_msg(n == 1 || (n >= 2 && (run->not_yet || n == 2)), "not a run: %s", words);
	run->rules.threads = strcmp(what, "pages") != 0;
	run->rules.pages = strcmp(what, "threads") != 0;
	ck_assert_msg(!what[0] || !run->rules.threads || !run->rules.pages, "neither pages nor threads: %s", words);
	snprintf(run->name, sizeof run->name, "%s%s%s", run->policy, what[0] ? "-" : "", what);
}

/* tests/fixtures/NAME.situation -> fixtures/NAME.RUN.plan, for made_read */
static void plan_name(const char *situation, const char *run, char name[NAME])
{
	const char *base = strrchr(situation, '/') + 1;
	snprintf(name, NAME, "fixtures/%.*s.%s.plan", (int)(strlen(base) - strlen(".situation")), base, run);
}

static void compare(const struct run *run, const struct situation *s, const char *file)
{
	struct plan plan = { 0 }, expected;
	struct snapshot_error error;
	char name[NAME], *got = malloc(TEXT);
	size_t bytes;
	const struct policy_ops *policy = policy_find(run->policy);
	ck_assert_msg(policy != NULL, "there is no policy %s", run->policy);
	ck_assert_int_eq(policy_decide(policy, s, &run->rules, &plan), 0);
	plan_name(file, run->name, name);
	char *text = made_read(name, &bytes);
	ck_assert_msg(snapshot_parse_plan(text, bytes, &expected, &error) == 0, "%s: %s", name, error.text);
	snapshot_print_plan(&plan, got, TEXT);
	const char *wrong = plan_obeys(&plan, policy, s, &run->rules);
	ck_assert_msg(!wrong, "%s: %s; the plan is\n%s", name, wrong, got);
	wrong = plan_obeys(&expected, policy, s, &run->rules);
	ck_assert_msg(!wrong, "%s: expects %s", name, wrong);
	bool same = same_plan(&plan, &expected);
	double cost = plan_cost_after(&plan, s), expected_cost = plan_cost_after(&expected, s);
	ck_assert_msg(expected_cost <= cost * 1.0001, "%s: costs %.4g ns/s, the policy's own plan %.4g", name, expected_cost, cost);
	ck_assert_msg(same || run->not_yet, "%s: the plan is (it costs %.4g ns/s; expected %.4g; before %.4g)\n%s", name,
	              cost, expected_cost, plan_cost_before(s), got);
	ck_assert_msg(!same || !run->not_yet, "%s: is met now; take the remark \"not yet\" out", name);
	plan_free(&plan);
	plan_free(&expected);
	free(got);
	free(text);
}

START_TEST(fixture)
{
	const char *file = strrchr(found.gl_pathv[_i], '/') + 1;
	char name[NAME];
	struct machine m;
	struct situation s;
	struct snapshot_error error;
	size_t bytes;
	unsigned runs = 0;
	snprintf(name, sizeof name, "fixtures/%s", file);
	char *text = made_read(name, &bytes), *rest;
	ck_assert_msg(snapshot_parse(text, bytes, &m, &s, &error) == 0, "%s: %s", file, error.text);
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct run run = { .not_yet = !strncmp(line, "# not yet: ", 11) };
		if (!run.not_yet && strncmp(line, "# run: ", 7)) continue;
		read_run(strchr(line, ':') + 1, &run);
		compare(&run, &s, found.gl_pathv[_i]);
		runs++;
	}
	ck_assert_msg(runs > 0, "%s: no line \"# run: POLICY\"", file);
	situation_free(&s);
	machine_free(&m);
	free(text);
}
END_TEST

static void add(TCase *tcase)
{
	tcase_add_loop_test(tcase, fixture, 0, (int)found.gl_pathc);
}

int main(void)
{
	char pattern[512];
	snprintf(pattern, sizeof pattern, "%s/tests/fixtures/*.situation", getenv("srcdir") ? getenv("srcdir") : ".");
	if (glob(pattern, 0, NULL, &found)) {
		fprintf(stderr, "nothing is like %s\n", pattern);
		return 99;
	}
	int ret = made_main("golden", add);
	globfree(&found);
	return ret;
}
