/* The text of workloads: what is right, what is wrong and what is said of it; and the text mutated. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "made.h"
#include "sim_made.h"

#define BEGIN "workload 1\nprocess p\nmemory m 1MiB\nthread t\n"

static const struct wrong { const char *text, *says; } wrongs[] = {
	{ "", "begins with the line \"workload 1\"" },
	{ "process p\n", "line 1, \"process\": a workload begins" },
	{ "workload 2\n", "line 1, \"2\": this version is not known" },
	{ "workload 1\n", "it has no thread" },
	{ "workload 1\nprocess p\n", "it has no thread" },
	{ "workload 1\nthread t\n", "line 2, \"thread\": a thread belongs to a process" },
	{ "workload 1\n\n# remark\nproces p\n", "line 4, \"proces\": no line begins like this; did you mean process?" },
	{ BEGIN "runs 1s\n", "line 5, \"runs\": no line begins like this; did you mean run?" },
	{ BEGIN "run 1s on n\n", "line 5, \"n\": there is no memory of this name here" },
	{ BEGIN "run 1\n", "line 5, \"1\": a time is a number of ns, us, ms or s" },
	{ BEGIN "run 1min\n", "line 5, \"1min\": not a unit" },
	{ BEGIN "run\n", "line 5, at its end: a time is missing" },
	{ BEGIN "run -1s\n", "line 5, \"-1s\": not a number" },
	{ BEGIN "run 1s stall 2 on m\n", "line 5, \"2\": too much: at most 1" },
	{ BEGIN "run 1s stall 0.5\n", "on which memory?" },
	{ BEGIN "run 1s on m weight 0\n", "its memory has no weight" },
	{ BEGIN "run 1s on m slce\n", "line 5, \"slce\": too much, or not in its place" },
	{ BEGIN "repeat 3\n", "line 5, \"repeat\": its end is missing" },
	{ BEGIN "repeat 3\nthread u\nend\n", "line 5, \"repeat\": its end is missing" },
	{ BEGIN "end\n", "line 5, \"end\": there is no repeat that it ends" },
	{ BEGIN "repeat $N\nend\n", "line 5, \"$N\": there is no such parameter" },
	{ BEGIN "send u 1B\n", "line 5, \"u\": there is no thread of this name here" },
	{ BEGIN "thread receiver\nsend reciever\n", "line 6, \"reciever\": there is no thread of this name here; did you mean receiver?" },
	{ BEGIN "spawn q\n", "line 5, \"q\": there is no process of this name" },
	{ BEGIN "receive 0\n", "line 5, \"0\": too little" },
	{ BEGIN "thread t\n", "line 5, \"t\": there is a thread of this name already" },
	{ BEGIN "process p\nthread t\n", "line 5, \"p\": there is a process of this name already" },
	{ BEGIN "memory m 1MiB\n", "line 5, \"m\": there is memory of this name already" },
	{ BEGIN "memory x 0B\n", "line 5, \"0B\": too little" },
	{ BEGIN "memory x 1e9GiB\n", "line 5, \"1e9GiB\": not a unit" },
	{ BEGIN "memory x 99999GiB\n", "line 5, \"99999GiB\": too much" },
	{ "workload 1\nmetric tim\n", "line 2, \"tim\": not one of time, rate, bandwidth; did you mean time?" },
	{ "workload 1\nprocess p count 99999\n", "line 2, \"99999\": too much" },
	{ "workload 1\nprocess p\nrun 1s\n", "line 3, \"run\": only a thread does this" },
	{ "workload 1\nprocess p aside\nthread t\n", "all stand aside" },
	{ "workload 1\nparam N x\n", "line 2, \"x\": not a number" },
	{ "workload 1\nmemory m 1MiB each\n", "line 2, \"each\": memory for each thread belongs to a process" },
	{ "workload 1\nprocess 12345678901234567890123456789012\n", "too long for a name" },
};

START_TEST(wrong)
{
	struct workload w;
	struct workload_error error;
	const struct wrong *c = &wrongs[_i];
	ck_assert_int_ne(workload_parse(&w, c->text, strlen(c->text), NULL, &error), 0);
	ck_assert_msg(strstr(error.text, c->says) != NULL, "said \"%s\", wanted \"%s\"", error.text, c->says);
}
END_TEST

static const struct setting { const char *settings, *says; double value; } settings[] = {
	{ NULL, NULL, 4 }, { "N=7", NULL, 7 }, { "N=2*3,M=1", NULL, 6 }, { "N=$M", "there is no such parameter", 0 },
	{ "K=1", "it has no parameter K", 0 }, { "NN=1", "it has no parameter NN", 0 }, { "N", "write N=VALUE", 0 }, { "N=x", "not a number", 0 },
};

START_TEST(parameters)
{
	static const char text[] = "workload 1\nparam N 4  how many\nparam M 2\nprocess p count $N\nthread t count $M*2/4\nrun $N*1ms\n";
	struct workload w;
	struct workload_error error;
	const struct setting *c = &settings[_i];
	int ret = workload_parse(&w, text, strlen(text), c->settings, &error);
	if (c->says) {
		ck_assert_int_ne(ret, 0);
		ck_assert_msg(strstr(error.text, c->says) != NULL, "said \"%s\", wanted \"%s\"", error.text, c->says);
		return;
	}
	ck_assert_msg(ret == 0, "%s", error.text);
	ck_assert(w.process[0].count == (unsigned)c->value);
	ck_assert(w.thread[0].op[0].ns == c->value * 1e6);
	workload_free(&w);
}
END_TEST

START_TEST(whole)
{
	struct workload w;
	sim_made_workload(&w, "workload 1\nabout what it is\nmetric rate\nlimit 2s\nmemory all 4KiB\nprocess p count 2\nmemory m 1GiB\n"
	                      "memory own 2MiB each\nthread t count 3\nrepeat 2\nrun 1.5ms vary 0.1 stall 0.5 rate 500MB/s on m slice weight 3 pass 1s "
	                      "and own and all before\nend\nsend u next 1KiB\nbarrier all spin\nthread u\nreceive 2\nmark 3\n");
	ck_assert_str_eq(w.about, "what it is");
	ck_assert_int_eq((int)w.metric, METRIC_RATE);
	ck_assert_uint_eq(w.n_threads, 2);
	const struct wl_op *op = w.thread[0].op;
	ck_assert_uint_eq(op[0].count, 2);
	ck_assert_uint_eq(op[0].target, 2);
	ck_assert_uint_eq(op[2].target, 0);
	ck_assert_uint_eq(op[1].n_uses, 3);
	ck_assert(op[1].bytes_per_ns > 0.499f && op[1].bytes_per_ns < 0.501f);
	ck_assert(op[1].use[0].weight > 0.599f && op[1].use[0].weight < 0.601f);
	ck_assert_int_eq((int)op[1].use[2].part, PART_BEFORE);
	ck_assert_int_eq((int)w.memory[0].scope, SCOPE_MACHINE);
	ck_assert_int_eq((int)w.memory[2].scope, SCOPE_THREAD);
	ck_assert(op[4].everywhere && op[4].spin);
	ck_assert_uint_eq(w.thread[1].op[1].count, 3);
	workload_free(&w);
}
END_TEST

/* ---- those that come with nsched ---------------------------------------------------------------------------------------- */

static const char *folder(void)
{
	static char path[4096];
	const char *srcdir = getenv("srcdir");
	snprintf(path, sizeof path, "%s/sim/workloads", srcdir ? srcdir : ".");
	return path;
}

/* Calls `each` with the text of every one: how many there are. */
static unsigned for_shipped(void (*each)(const char *name, char *text, size_t bytes))
{
	struct dirent **entry;
	int n = scandir(folder(), &entry, NULL, alphasort);
	unsigned found = 0;
	ck_assert_int_gt(n, 2);
	for (int i = 0; i < n; i++) {
		char path[4600], *text = malloc(1 << 16);
		snprintf(path, sizeof path, "%s/%s", folder(), entry[i]->d_name);
		size_t length = strlen(entry[i]->d_name);
		FILE *f = length > 4 && !strcmp(entry[i]->d_name + length - 4, ".sim") ? fopen(path, "r") : NULL;
		if (f) {
			size_t bytes = fread(text, 1, 1 << 16, f);
			each(entry[i]->d_name, text, bytes);
			fclose(f);
			found++;
		}
		free(text);
		free(entry[i]);
	}
	free(entry);
	return found;
}

static void parses(const char *name, char *text, size_t bytes)
{
	struct workload w;
	struct workload_error error;
	ck_assert_msg(!workload_parse(&w, text, bytes, NULL, &error), "%s: %s", name, error.text);
	ck_assert_msg(w.about[0] != 0, "%s says nothing about itself", name);
	workload_free(&w);
}

START_TEST(shipped)
{
	ck_assert_uint_ge(for_shipped(parses), 14);
}
END_TEST

/* ---- mutations -------------------------------------------------------------------------------------------------------------- */

static struct dice dice = { 42 };

static size_t mutate(char *text, size_t bytes, size_t room)
{
	static const char *const words[] = { "repeat", "end", "all", "0", "1", "99999999999", "$", "*", "/", "\n", "slice", "count", "memory m 1B\n", "thread t\n", "#" };
	for (unsigned k = 1 + dice_below(&dice, 4); k && bytes; k--) {
		size_t at = dice_below(&dice, (unsigned)bytes);
		const char *word = words[dice_below(&dice, sizeof words / sizeof *words)];
		size_t n = strlen(word), cut = 1 + dice_below(&dice, 12);
		switch (dice_below(&dice, 4)) {
		case 0: text[at] = (char)dice_below(&dice, 256); break;
		case 1:
			if (cut > bytes - at) cut = bytes - at;
			memmove(text + at, text + at + cut, bytes - at - cut);
			bytes -= cut;
			break;
		case 2:
			if (bytes + n > room) break;
			memmove(text + at + n, text + at, bytes - at);
			memcpy(text + at, word, n);
			bytes += n;
			break;
		default: bytes = at + 1; break;
		}
	}
	return bytes;
}

static void mutations(const char *name, char *text, size_t bytes)
{
	enum { TIMES = 1500 };
	char *changed = malloc(bytes + 1024);
	(void)name;
	for (unsigned i = 0; i < TIMES; i++) {
		memcpy(changed, text, bytes);
		size_t n = mutate(changed, bytes, bytes + 1024);
		/* in memory of its very size, so that a sanitizer sees what reads beyond it */
		uint8_t *exact = malloc(n + !n);
		memcpy(exact, changed, n);
		LLVMFuzzerTestOneInput(exact, n);
		free(exact);
	}
	free(changed);
}

START_TEST(mutated)
{
	ck_assert_uint_ge(for_shipped(mutations), 14);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, wrong, wrongs);
	made_loop(tcase, parameters, settings);
	tcase_add_test(tcase, whole);
	tcase_add_test(tcase, shipped);
	tcase_add_test(tcase, mutated);
}

int main(void)
{
	return made_main("workload", add);
}
