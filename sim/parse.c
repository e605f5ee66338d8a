/* The text of a workload into its structure, in two passes: sections, memory and parameters first, so that what is
 * done may name what comes later. Decides nothing, reads no file. */
#include "workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "parse.h"
#include "pure/nearest.h"

enum {
	TASKS_MOST = 32768,            /* threads at a time */
	SECTIONS_MOST = 64,
	COUNT_MOST = 1000000000,
	OPS_MOST = 4096,               /* of a section */
};
#define BYTES_MOST 1.1e12              /* of one piece of memory: a byte of ours for each page */
#define TIME_MOST 1e15                 /* ns: eleven days */

/* ---- words ------------------------------------------------------------------------------------------- */

int parse_unknown(struct parse *p, const char *const *names, size_t n, const char *what)
{
	char word[48], why[120];
	size_t length = p->w.length < sizeof word - 1 ? p->w.length : sizeof word - 1;
	memcpy(word, p->w.word ? p->w.word : "", length);
	word[length] = 0;
	const char *nearest = length ? nearest_name(word, names, n) : NULL;
	if (nearest) snprintf(why, sizeof why, "%s; did you mean %s?", what, nearest);
	else snprintf(why, sizeof why, "%s", what);
	return words_wrong(&p->w, why);
}

int parse_number(struct parse *p, enum number_kind kind, double most, double *number)
{
	static const char *const missing[] = { "a count is missing", "a time is missing", "a size is missing", "a rate is missing" };
	const char *why;
	char text[64];
	if (!words_next(&p->w)) return words_wrong(&p->w, missing[kind]);
	if (number_parse(p->workload, p->w.word, p->w.length, kind, number, &why)) return words_wrong(&p->w, why);
	if (*number <= most) return 0;
	snprintf(text, sizeof text, "too much: at most %g", most);
	return words_wrong(&p->w, text);
}

int parse_count(struct parse *p, uint64_t least, uint64_t most, uint64_t *count)
{
	double number;
	int ret = parse_number(p, NUMBER_COUNT, (double)most, &number);
	if (ret) return ret;
	*count = (uint64_t)(number + 0.5);
	return *count < least ? words_wrong(&p->w, "too little") : 0;
}

/* A share: 0 to 1. */
int parse_share(struct parse *p, float *share)
{
	double number;
	int ret = parse_number(p, NUMBER_COUNT, 1, &number);
	*share = (float)number;
	return ret;
}

static int new_name(struct parse *p, char name[WORKLOAD_NAME])
{
	if (!words_next(&p->w)) return words_wrong(&p->w, "a name is missing");
	if (p->w.length >= WORKLOAD_NAME) return words_wrong(&p->w, "too long for a name (31 letters)");
	memcpy(name, p->w.word, p->w.length);
	name[p->w.length] = 0;
	return 0;
}

static int grow(void **array, unsigned n, size_t bytes)
{
	if (n % 8) return 0;
	void *grown = realloc(*array, (n + 8) * bytes);
	if (!grown) return -ENOMEM;
	*array = grown;
	memset((char *)grown + n * bytes, 0, 8 * bytes);
	return 0;
}

/* ---- the first pass: what there is ---------------------------------------------------------------------- */

static int add_process(struct parse *p)
{
	struct workload *w = p->workload;
	uint64_t count = 1;
	if (w->n_processes == SECTIONS_MOST) return words_wrong(&p->w, "too many sections");
	if (grow((void **)&w->process, w->n_processes, sizeof *w->process)) return -ENOMEM;
	struct wl_process *new = &w->process[w->n_processes];
	*new = (struct wl_process){ .first_thread = -1 };
	int ret = new_name(p, new->name);
	for (unsigned i = 0; !ret && i < w->n_processes; i++)
		if (!strcmp(w->process[i].name, new->name)) ret = words_wrong(&p->w, "there is a process of this name already");
	if (!ret && words_take(&p->w, "count")) ret = parse_count(p, 0, TASKS_MOST, &count);
	if (ret) return ret;
	new->count = (unsigned)count;
	new->forked = words_take(&p->w, "forked");
	new->aside = words_take(&p->w, "aside");
	w->n_processes++;
	return words_end(&p->w);
}

static int add_thread(struct parse *p)
{
	struct workload *w = p->workload;
	uint64_t count = 1;
	if (!w->n_processes) return words_wrong(&p->w, "a thread belongs to a process: the line \"process NAME\" is missing above it");
	if (w->n_threads == SECTIONS_MOST) return words_wrong(&p->w, "too many sections");
	if (grow((void **)&w->thread, w->n_threads, sizeof *w->thread)) return -ENOMEM;
	struct wl_thread *new = &w->thread[w->n_threads];
	struct wl_process *process = &w->process[w->n_processes - 1];
	*new = (struct wl_thread){ .process = w->n_processes - 1, .line = p->w.line };
	int ret = new_name(p, new->name);
	for (unsigned i = 0; !ret && i < w->n_threads; i++)
		if (w->thread[i].process == new->process && !strcmp(w->thread[i].name, new->name))
			ret = words_wrong(&p->w, "there is a thread of this name already");
	if (!ret && words_take(&p->w, "count")) ret = parse_count(p, 1, TASKS_MOST, &count);
	if (ret) return ret;
	new->count = (unsigned)count;
	new->openmp = words_take(&p->w, "openmp");
	new->starts_with_process = process->first_thread < 0;
	if (new->starts_with_process) process->first_thread = (int)w->n_threads;
	w->n_threads++;
	return words_end(&p->w);
}

static int add_memory(struct parse *p)
{
	struct workload *w = p->workload;
	double bytes;
	if (w->n_memories == SECTIONS_MOST) return words_wrong(&p->w, "too many pieces of memory");
	if (grow((void **)&w->memory, w->n_memories, sizeof *w->memory)) return -ENOMEM;
	struct wl_memory *new = &w->memory[w->n_memories];
	*new = (struct wl_memory){ .process = (int)w->n_processes - 1, .scope = w->n_processes ? SCOPE_PROCESS : SCOPE_MACHINE };
	int ret = new_name(p, new->name);
	for (unsigned i = 0; !ret && i < w->n_memories; i++)
		if (w->memory[i].process == new->process && !strcmp(w->memory[i].name, new->name))
			ret = words_wrong(&p->w, "there is memory of this name already");
	if (!ret) ret = parse_number(p, NUMBER_BYTES, BYTES_MOST, &bytes);
	if (!ret && bytes < 1) ret = words_wrong(&p->w, "too little");
	if (ret) return ret;
	new->bytes = (uint64_t)bytes;
	if (words_take(&p->w, "each")) {
		if (!w->n_processes) return words_wrong(&p->w, "memory for each thread belongs to a process");
		new->scope = SCOPE_THREAD;
	}
	struct wl_process *process = w->n_processes ? &w->process[w->n_processes - 1] : NULL;
	new->slot = new->scope == SCOPE_MACHINE ? w->machine_memories++ :
	            new->scope == SCOPE_PROCESS ? process->memories++ : process->thread_memories++;
	w->n_memories++;
	return words_end(&p->w);
}

/* The value of a parameter in the settings, "N=25,M=2". */
static const char *setting(const char *settings, const char *name, size_t *length)
{
	for (const char *s = settings; s && *s; s += s[strcspn(s, ",")] ? strcspn(s, ",") + 1 : strcspn(s, ",")) {
		size_t n = strcspn(s, "=,");
		if (s[n] == '=' && n == strlen(name) && !memcmp(s, name, n)) {
			*length = strcspn(s + n + 1, ",");
			return s + n + 1;
		}
	}
	return NULL;
}

static int add_param(struct parse *p)
{
	struct workload *w = p->workload;
	const char *why;
	size_t length;
	if (w->n_params == WORKLOAD_PARAMS) return words_wrong(&p->w, "too many parameters (8)");
	int ret = new_name(p, w->param[w->n_params].name);
	if (!ret) ret = parse_number(p, NUMBER_COUNT, 1e12, &w->param[w->n_params].value);
	if (ret) return ret;
	const char *given = setting(p->settings, w->param[w->n_params].name, &length);
	if (given && number_parse(w, given, length, NUMBER_COUNT, &w->param[w->n_params].value, &why)) return words_wrong(&p->w, why);
	w->n_params++;
	words_rest(&p->w, &length);   /* what it is, for people */
	return 0;
}

static int set_metric(struct parse *p)
{
	static const char *const names[] = { "time", "rate", "bandwidth" };
	words_next(&p->w);
	for (unsigned i = 0; i < 3; i++)
		if (words_is(&p->w, names[i])) {
			p->workload->metric = (enum wl_metric)i;
			return words_end(&p->w);
		}
	return parse_unknown(p, names, 3, "not one of time, rate, bandwidth");
}

static int set_about(struct parse *p)
{
	size_t length;
	const char *text = words_rest(&p->w, &length);
	snprintf(p->workload->about, sizeof p->workload->about, "%.*s", (int)(length < 159 ? length : 159), text);
	return 0;
}

static int set_limit(struct parse *p)
{
	int ret = parse_number(p, NUMBER_TIME, TIME_MOST, &p->workload->limit_ns);
	return ret ? ret : words_end(&p->w);
}

static const struct head {
	const char *word;
	int (*take)(struct parse *p);
} heads[] = {
	{ "about", set_about }, { "metric", set_metric }, { "limit", set_limit }, { "param", add_param }, { "memory", add_memory },
	{ "process", add_process }, { "thread", add_thread },
};
enum { HEADS = sizeof heads / sizeof *heads };

static const struct head *find_head(const struct parse *p)
{
	for (unsigned i = 0; i < HEADS; i++)
		if (words_is(&p->w, heads[i].word)) return &heads[i];
	return NULL;
}

static int version(struct parse *p)
{
	uint64_t number;
	if (!words_line(&p->w) || !words_is(&p->w, "workload"))
		return words_wrong(&p->w, "a workload begins with the line \"workload 1\"");
	int ret = parse_count(p, 0, COUNT_MOST, &number);
	if (!ret && number != 1) ret = words_wrong(&p->w, "this version is not known; there is only 1");
	return ret ? ret : words_end(&p->w);
}

static int first_pass(struct parse *p)
{
	int ret = version(p);
	while (!ret && words_line(&p->w)) {
		const struct head *head = find_head(p);
		if (head) ret = head->take(p);
		else if (!parse_is_verb(p)) ret = parse_unknown_line(p);
	}
	return ret;
}

/* ---- the second: what is done ------------------------------------------------------------------------- */

int parse_unknown_line(struct parse *p)
{
	const char *names[HEADS + 32];
	size_t n = 0;
	for (; n < HEADS; n++) names[n] = heads[n].word;
	n += parse_verbs(names + HEADS);
	return parse_unknown(p, names, n, "no line begins like this");
}

static struct wl_op *add_op(struct parse *p)
{
	struct wl_thread *t = &p->workload->thread[p->thread];
	if (t->n_ops == t->room) {
		unsigned room = t->room ? t->room * 2 : 8;
		struct wl_op *grown = realloc(t->op, room * sizeof *grown);
		if (!grown) return NULL;
		t->op = grown;
		t->room = room;
	}
	struct wl_op *op = &t->op[t->n_ops++];
	*op = (struct wl_op){ .line = p->w.line };
	return op;
}

static int take_op(struct parse *p)
{
	if (p->thread < 0) return words_wrong(&p->w, "only a thread does this: the line \"thread NAME\" is missing above it");
	if (p->workload->thread[p->thread].n_ops == OPS_MOST) return words_wrong(&p->w, "too many lines in this section");
	struct wl_op *op = add_op(p);
	return op ? parse_op(p, op) : -ENOMEM;
}

static int second_pass(struct parse *p)
{
	int ret = 0;
	words_line(&p->w);
	while (!ret && words_line(&p->w)) {
		if (words_is(&p->w, "process") || words_is(&p->w, "thread")) {
			ret = parse_open_repeat(p);
			if (words_is(&p->w, "thread")) p->thread = p->next_thread++;
			else p->thread = -1;
		} else if (!find_head(p)) {
			ret = take_op(p);
		}
	}
	return ret ? ret : parse_open_repeat(p);
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

static int check_settings(const struct workload *w, const char *settings, struct workload_error *error)
{
	for (const char *s = settings; s && *s; s += s[strcspn(s, ",")] ? strcspn(s, ",") + 1 : strcspn(s, ",")) {
		char name[WORKLOAD_NAME];
		const char *names[WORKLOAD_PARAMS], *nearest = NULL;
		bool known = false;
		snprintf(name, sizeof name, "%.*s", (int)strcspn(s, "=,"), s);
		for (unsigned i = 0; i < w->n_params; i++) {
			names[i] = w->param[i].name;
			known |= !strcmp(name, names[i]);
		}
		if (known && s[strlen(name)] == '=') continue;
		if (!known) nearest = nearest_name(name, names, w->n_params);
		snprintf(error->text, sizeof error->text, known ? "%s: a value is missing; write %s=VALUE" : nearest ?
		         "it has no parameter %s; did you mean %s?" : "it has no parameter %s", name, known ? name : nearest);
		return -EINVAL;
	}
	return 0;
}

static int check_whole(const struct workload *w, struct workload_error *error)
{
	uint64_t tasks = 0;
	for (unsigned t = 0; t < w->n_threads; t++) tasks += (uint64_t)w->thread[t].count * (w->process[w->thread[t].process].count ? w->process[w->thread[t].process].count : 1);
	const char *why = !w->n_threads ? "it has no thread" : tasks > TASKS_MOST ? "it has more than 32768 threads at a time" : NULL;
	bool work = false;
	for (unsigned i = 0; !why && i < w->n_processes; i++) {
		if (w->process[i].first_thread < 0) why = "a process has no thread";
		work |= w->process[i].count && !w->process[i].aside;
	}
	if (!why && !work) why = "no process is there at the start, or all stand aside";
	if (why) snprintf(error->text, sizeof error->text, "%s", why);
	return why ? -EINVAL : 0;
}

int workload_parse(struct workload *w, const char *text, size_t bytes, const char *settings, struct workload_error *error)
{
	struct snapshot_error wrong = { 0 };
	struct parse p = { .workload = w, .settings = settings, .thread = -1 };
	memset(w, 0, sizeof *w);
	*error = (struct workload_error){ 0 };
	words_init(&p.w, text, bytes, &wrong);
	int ret = first_pass(&p);
	if (!ret) {
		words_init(&p.w, text, bytes, &wrong);
		ret = second_pass(&p);
	}
	if (ret) {
		error->line = wrong.line;
		snprintf(error->text, sizeof error->text, "%s", ret == -ENOMEM ? "no memory" : wrong.text);
	}
	if (!ret) ret = check_settings(w, settings, error);
	if (!ret) ret = check_whole(w, error);
	if (ret) workload_free(w);
	return ret;
}

void workload_free(struct workload *w)
{
	for (unsigned t = 0; t < w->n_threads; t++) free(w->thread[t].op);
	free(w->memory);
	free(w->process);
	free(w->thread);
	memset(w, 0, sizeof *w);
}
