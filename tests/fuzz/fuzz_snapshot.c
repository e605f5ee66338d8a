/* What the parsers of situations and plans do with any bytes: they take them, or say in one line which line is wrong. What was taken
 * prints as a text that gives the same again; and every policy makes a plan of it. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "pure/policy.h"
#include "pure/snapshot.h"

enum { THREADS_DECIDED = 64, CHUNKS_DECIDED = 64 };   /* of a situation that policies are asked about */

static void hold(int ret, const struct snapshot_error *error)
{
	if (ret && (!error->text[0] || strchr(error->text, '\n') || !error->line)) abort();
}

static void print_again(const struct situation *s)
{
	struct machine machine;
	struct situation again;
	struct snapshot_error error;
	size_t n = snapshot_print(s, NULL, 0);
	char *text = malloc(n + 1), *second = malloc(n + 1);
	if (text && second) {
		snapshot_print(s, text, n + 1);
		if (snapshot_parse(text, n, &machine, &again, &error)) abort();
		if (snapshot_print(&again, second, n + 1) != n || memcmp(text, second, n)) abort();
		situation_free(&again);
		machine_free(&machine);
	}
	free(text);
	free(second);
}

static void decide(const struct situation *s)
{
	struct policy_rules rules = { true, true };
	struct plan plan = { 0 };
	for (unsigned i = 0; policy_at(i); i++) {
		plan_clear(&plan);
		if (policy_decide(policy_at(i), s, &rules, &plan)) abort();
		for (unsigned k = 0; k < plan.n; k++)
			if (plan.move[k].to < 0 || (unsigned)plan.move[k].to >= s->machine->n_nodes || !plan.move[k].reason) abort();
	}
	plan_free(&plan);
}

static void parse_plan(const uint8_t *data, size_t size)
{
	struct plan plan = { 0 };
	struct snapshot_error error = { 0 };
	char *text = malloc(size + 2);
	if (!text) return;
	memcpy(text, data, size);
	text[size] = '\n';
	int ret = snapshot_parse_plan(text, size + 1, &plan, &error);
	hold(ret, &error);
	if (!ret) plan_free(&plan);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct machine machine;
	struct situation situation;
	struct snapshot_error error = { 0 };
	int ret = snapshot_parse((const char *)data, size, &machine, &situation, &error);
	hold(ret, &error);
	parse_plan(data, size);
	if (ret) return 0;
	print_again(&situation);
	if (situation.n_threads <= THREADS_DECIDED && situation.n_chunks <= CHUNKS_DECIDED) decide(&situation);
	situation_free(&situation);
	machine_free(&machine);
	return 0;
}
