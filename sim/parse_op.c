/* What threads do: the lines inside a thread's section of a workload. */
#include <errno.h>
#include <string.h>

#include "parse.h"
#include "pure/machine.h"

#define TIME_MOST 1e15
#define BYTES_MOST 1e12    /* of a message */
enum { COUNT_MOST = 1000000000, BARRIER_MOST = 4096 };

static int take_memory(struct parse *p, unsigned *memory)
{
	struct workload *w = p->workload;
	const char *names[128];
	size_t n = 0;
	int process = (int)w->thread[p->thread].process;
	if (!words_next(&p->w)) return words_wrong(&p->w, "the name of a piece of memory is missing");
	for (unsigned i = 0; i < w->n_memories; i++) {
		if (w->memory[i].process >= 0 && w->memory[i].process != process) continue;
		*memory = i;
		if (words_is(&p->w, w->memory[i].name)) return 0;
		names[n++] = w->memory[i].name;
	}
	return parse_unknown(p, names, n, "there is no memory of this name here");
}

static enum wl_part take_part(struct parse *p)
{
	if (words_take(&p->w, "slice")) return PART_SLICE;
	if (words_take(&p->w, "before")) return PART_BEFORE;
	if (words_take(&p->w, "behind")) return PART_BEHIND;
	words_take(&p->w, "all");
	return PART_ALL;
}

static int take_touch(struct parse *p, struct wl_op *op)
{
	op->n_uses = 1;
	int ret = take_memory(p, &op->use[0].memory);
	op->use[0].part = take_part(p);
	op->node = -1;
	if (ret || !words_take(&p->w, "node")) return ret;
	uint64_t node;
	ret = parse_count(p, 0, MACHINE_NODES - 1, &node);
	op->node = ret ? -1 : (int)node;
	return ret;
}

static int take_use(struct parse *p, struct wl_op *op)
{
	if (op->n_uses == WORKLOAD_USES) return words_wrong(&p->w, "too many pieces of memory in one line (6)");
	struct wl_use *use = &op->use[op->n_uses++];
	use->weight = 1;
	int ret = take_memory(p, &use->memory);
	use->part = take_part(p);
	double weight;
	if (!ret && words_take(&p->w, "weight") && !(ret = parse_number(p, NUMBER_COUNT, 1e6, &weight))) use->weight = (float)weight;
	if (!ret && words_take(&p->w, "pass")) ret = parse_number(p, NUMBER_TIME, TIME_MOST, &use->pass_ns);
	return ret;
}

static int take_time(struct parse *p, struct wl_op *op)
{
	float spread = 0;
	int ret = parse_number(p, NUMBER_TIME, TIME_MOST, &op->ns);
	if (!ret && words_take(&p->w, "vary")) ret = parse_share(p, &spread);
	op->spread = (double)spread;
	return ret;
}

static int take_run(struct parse *p, struct wl_op *op)
{
	double rate = 0;
	int ret = take_time(p, op);
	if (!ret && words_take(&p->w, "stall")) ret = parse_share(p, &op->stall);
	if (!ret && words_take(&p->w, "rate")) ret = parse_number(p, NUMBER_RATE, 1e4, &rate);
	op->bytes_per_ns = (float)rate;
	if (!ret && words_take(&p->w, "on"))
		do ret = take_use(p, op);
		while (!ret && words_take(&p->w, "and"));
	float sum = 0;
	for (unsigned u = 0; u < op->n_uses; u++) sum += op->use[u].weight;
	if (!ret && !op->n_uses && (op->stall > 0 || rate > 0)) ret = words_wrong(&p->w, "on which memory? \"on NAME\" is missing");
	if (!ret && op->n_uses && !(sum > 0)) ret = words_wrong(&p->w, "its memory has no weight");
	for (unsigned u = 0; u < op->n_uses && sum > 0; u++) op->use[u].weight /= sum;
	return ret;
}

static int take_barrier(struct parse *p, struct wl_op *op)
{
	op->everywhere = words_take(&p->w, "all");
	op->spin = words_take(&p->w, "spin");
	return 0;
}

/* A thread section of this process. */
static int take_thread(struct parse *p, unsigned *target)
{
	struct workload *w = p->workload;
	const char *names[64];
	size_t n = 0;
	if (!words_next(&p->w)) return words_wrong(&p->w, "the name of a thread section is missing");
	for (unsigned i = 0; i < w->n_threads; i++) {
		if (w->thread[i].process != w->thread[p->thread].process) continue;
		*target = i;
		if (words_is(&p->w, w->thread[i].name)) return 0;
		names[n++] = w->thread[i].name;
	}
	return parse_unknown(p, names, n, "there is no thread of this name here");
}

static bool at_end(const struct parse *p)
{
	struct words w = p->w;
	return !words_next(&w);
}

static int take_send(struct parse *p, struct wl_op *op)
{
	int ret = take_thread(p, &op->target);
	op->to = words_take(&p->w, "one") ? TO_ONE : words_take(&p->w, "next") ? TO_NEXT : words_take(&p->w, "previous") ? TO_PREVIOUS : TO_EACH;
	return ret || at_end(p) ? ret : parse_number(p, NUMBER_BYTES, BYTES_MOST, &op->bytes);
}

static int take_receive(struct parse *p, struct wl_op *op)
{
	return parse_count(p, 1, COUNT_MOST, &op->count);
}

static int take_optional_count(struct parse *p, struct wl_op *op, uint64_t most)
{
	op->count = 1;
	return at_end(p) ? 0 : parse_count(p, 0, most, &op->count);
}

static int take_start(struct parse *p, struct wl_op *op)
{
	int ret = take_thread(p, &op->target);
	op->count = ret ? 0 : p->workload->thread[op->target].count;   /* all of them, each once */
	return ret;
}

static int take_spawn(struct parse *p, struct wl_op *op)
{
	struct workload *w = p->workload;
	const char *names[64];
	if (!words_next(&p->w)) return words_wrong(&p->w, "the name of a process is missing");
	for (unsigned i = 0; i < w->n_processes; i++) {
		op->target = i;
		if (words_is(&p->w, w->process[i].name)) return take_optional_count(p, op, BARRIER_MOST);
		names[i] = w->process[i].name;
	}
	return parse_unknown(p, names, w->n_processes, "there is no process of this name");
}

static int take_wait(struct parse *p, struct wl_op *op)
{
	op->count = 1;
	return words_take(&p->w, "below") ? parse_count(p, 1, COUNT_MOST, &op->count) : 0;
}

static int take_repeat(struct parse *p, struct wl_op *op)
{
	if (p->depth == WORKLOAD_DEPTH) return words_wrong(&p->w, "too many repeats inside each other (8)");
	p->open[p->depth++] = p->workload->thread[p->thread].n_ops - 1;
	return parse_count(p, 0, COUNT_MOST, &op->count);
}

static int take_end(struct parse *p, struct wl_op *op)
{
	if (!p->depth) return words_wrong(&p->w, "there is no repeat that it ends");
	struct wl_thread *t = &p->workload->thread[p->thread];
	op->target = p->open[--p->depth];
	t->op[op->target].target = t->n_ops - 1;
	return 0;
}

static int take_mark(struct parse *p, struct wl_op *op)
{
	return take_optional_count(p, op, COUNT_MOST);
}

static const struct {
	const char *word;
	enum wl_verb verb;
	int (*take)(struct parse *p, struct wl_op *op);
} verbs[] = {
	{ "touch", DO_TOUCH, take_touch }, { "run", DO_RUN, take_run }, { "sleep", DO_SLEEP, take_time },
	{ "barrier", DO_BARRIER, take_barrier }, { "send", DO_SEND, take_send }, { "receive", DO_RECEIVE, take_receive },
	{ "start", DO_START, take_start }, { "spawn", DO_SPAWN, take_spawn }, { "wait", DO_WAIT, take_wait },
	{ "repeat", DO_REPEAT, take_repeat }, { "end", DO_END, take_end }, { "mark", DO_MARK, take_mark },
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static int find_verb(const struct parse *p)
{
	for (int i = 0; i < VERBS; i++)
		if (words_is(&p->w, verbs[i].word)) return i;
	return -1;
}

bool parse_is_verb(const struct parse *p)
{
	return find_verb(p) >= 0;
}

size_t parse_verbs(const char **names)
{
	for (int i = 0; i < VERBS; i++) names[i] = verbs[i].word;
	return VERBS;
}

int parse_op(struct parse *p, struct wl_op *op)
{
	int verb = find_verb(p);
	if (verb < 0) return parse_unknown_line(p);
	op->verb = verbs[verb].verb;
	int ret = verbs[verb].take(p, op);
	return ret ? ret : words_end(&p->w);
}

int parse_open_repeat(struct parse *p)
{
	if (!p->depth) return 0;
	p->w.line = p->workload->thread[p->thread].op[p->open[p->depth - 1]].line;
	p->w.word = "repeat";
	p->w.length = strlen("repeat");
	return words_wrong(&p->w, "its end is missing");
}
