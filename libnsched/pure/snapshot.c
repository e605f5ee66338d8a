#include "pure/snapshot.h"

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "pure/snapshot_words.h"
#include "pure/pure.h"

enum {
	VERSION = 1,
	NUMBER_MOST = UINT16_MAX - 1,    /* of a thread, and how many there may be */
	SHARES_SLACK = 1000,             /* shares of a chunk may be above 1 by one in so many: they were rounded */
};

#define PAGE_MOST (1ull << 52)       /* page numbers of 64-bit addresses are below */

struct parser {
	struct words w;
	struct machine *m;
	struct situation *s;
};

/* ---- the machine ------------------------------------------------------------------------------------ */

static int bytes_of_memory(struct words *w, uint64_t *bytes)
{
	static const struct { const char *unit; unsigned shift; } units[] = { { "KiB", 10 }, { "MiB", 20 }, { "GiB", 30 } };
	if (!words_next(w)) return words_wrong(w, "bytes of memory should be here");
	for (unsigned u = 0; u < sizeof units / sizeof *units; u++) {
		struct words number = *w;
		size_t unit = strlen(units[u].unit);
		if (w->length <= unit || memcmp(w->word + w->length - unit, units[u].unit, unit)) continue;
		number.next = w->word;
		number.line_end = w->word + w->length - unit;
		if (words_whole(&number, UINT64_MAX >> units[u].shift, bytes)) return words_wrong(w, "bytes of memory should be here");
		*bytes <<= units[u].shift;
		return 0;
	}
	w->next = w->word;
	return words_whole(w, UINT64_MAX, bytes);
}

static int parse_cpus(struct parser *p)
{
	uint64_t number[3];
	if (!words_take(&p->w, "cpus")) return 0;
	words_next(&p->w);
	do {
		if (words_triple(&p->w, MACHINE_CPUS - 1, number)) return -EINVAL;
		if (p->m->n_cpus == MACHINE_CPUS) return words_wrong(&p->w, "too many CPUs");
		machine_add_cpu(p->m, (unsigned)number[0], (unsigned)number[1], (unsigned)number[2]);
	} while (words_digit(&p->w));
	return 0;
}

static int parse_node(struct parser *p)
{
	struct words *w = &p->w;
	uint64_t number, os, bytes;
	float serves;
	if (words_whole(w, MACHINE_NODES - 1, &number)) return -EINVAL;
	if (number != p->m->n_nodes) return words_wrong(w, "nodes count up from 0");
	if (words_want(w, "os") || words_whole(w, UINT16_MAX, &os)) return -EINVAL;
	if (words_want(w, "memory") || bytes_of_memory(w, &bytes)) return -EINVAL;
	if (words_want(w, "serves") || words_real(w, FLT_MIN, &serves)) return -EINVAL;
	machine_add_node(p->m, (unsigned)os, bytes);
	p->m->node[number].lines_per_ns = serves;
	return parse_cpus(p);
}

static int parse_latency(struct parser *p, unsigned from)
{
	uint64_t number;
	if (words_whole(&p->w, MACHINE_NODES - 1, &number)) return -EINVAL;
	if (number != from) return words_wrong(&p->w, "latencies count up from 0");
	if (words_want(&p->w, "to")) return -EINVAL;
	for (unsigned to = 0; to < p->m->n_nodes; to++)
		if (words_real(&p->w, FLT_MIN, &p->m->latency_ns[from][to])) return -EINVAL;
	return 0;
}

/* The next line, which has to begin with this word. */
static int line_of(struct parser *p, const char *word)
{
	char why[64];
	if (words_line(&p->w) && words_is(&p->w, word)) return 0;
	snprintf(why, sizeof why, "%s should begin this line", word);
	return words_wrong(&p->w, why);
}

static int parse_machine(struct parser *p)
{
	const char *why;
	int ret = line_of(p, "node");
	while (!ret && words_is(&p->w, "node")) {
		ret = parse_node(p);
		if (!ret) ret = words_end(&p->w);
		if (!ret && !words_line(&p->w)) return words_wrong(&p->w, "latency should begin this line");
	}
	for (unsigned n = 0; !ret && n < p->m->n_nodes; n++) {
		if (!words_is(&p->w, "latency")) return words_wrong(&p->w, "latency should begin this line");
		ret = parse_latency(p, n);
		if (!ret) ret = words_end(&p->w);
		if (!ret && n + 1 < p->m->n_nodes) words_line(&p->w);
	}
	if (!ret && machine_check(p->m, &why)) ret = words_wrong(&p->w, why);
	return ret;
}

/* ---- threads and chunks -------------------------------------------------------------------------------- */

static int parse_moved(struct parser *p, uint32_t *moved_ms_ago)
{
	uint64_t ms = UINT32_MAX;
	if (words_take(&p->w, "moved") && words_whole(&p->w, UINT32_MAX - 1, &ms)) return -EINVAL;
	*moved_ms_ago = (uint32_t)ms;
	return 0;
}

static int parse_node_or_none(struct words *w, unsigned n_nodes, int16_t *node)
{
	uint64_t number = 0;
	bool none = words_take(w, "-");
	if (!none && words_whole(w, n_nodes - 1, &number)) return -EINVAL;
	*node = none ? -1 : (int16_t)number;
	return 0;
}

/* WORD N at a line's end, or nothing and -1. */
static int parse_node_behind(struct parser *p, const char *word, int16_t *node)
{
	uint64_t number;
	*node = -1;
	if (!words_take(&p->w, word)) return 0;
	if (words_whole(&p->w, p->m->n_nodes - 1, &number)) return -EINVAL;
	*node = (int16_t)number;
	return 0;
}

static int parse_thread(struct parser *p)
{
	struct words *w = &p->w;
	struct situation_thread thread = { .load = 1 };
	uint64_t number, process = 0, times = 0;
	if (words_whole(w, NUMBER_MOST, &number)) return -EINVAL;
	if (p->s->n_threads && p->s->thread[p->s->n_threads - 1].number >= number)
		return words_wrong(w, "threads come by ascending number");
	thread.number = (uint32_t)number;
	if (words_want(w, "on") || parse_node_or_none(w, p->m->n_nodes, &thread.node)) return -EINVAL;
	if (words_take(w, "load") && words_real(w, 0, &thread.load)) return -EINVAL;
	thread.bound = words_take(w, "bound");
	thread.fixed = words_take(w, "fixed");
	if (parse_moved(p, &thread.moved_ms_ago) || parse_node_behind(p, "home", &thread.home)) return -EINVAL;
	if (words_take(w, "process") && words_whole(w, UINT16_MAX, &process)) return -EINVAL;
	if (words_take(w, "times") && words_whole(w, UINT8_MAX, &times)) return -EINVAL;
	thread.process = (uint16_t)process;
	thread.times = (uint8_t)times;
	struct situation_thread *added = situation_add_thread(p->s);
	if (!added) return -ENOMEM;
	*added = thread;
	return 0;
}

static int find_thread(const struct situation *s, uint64_t number)
{
	unsigned low = 0, high = s->n_threads;
	while (low < high) {
		unsigned middle = (low + high) / 2;
		if (s->thread[middle].number < number) low = middle + 1;
		else high = middle;
	}
	return low < s->n_threads && s->thread[low].number == number ? (int)low : -1;
}

/* Whom a thread above talks to; lines come in the order of the threads. Both sides have a line. */
static int parse_talk(struct parser *p)
{
	uint64_t number;
	float rate;
	if (words_whole(&p->w, NUMBER_MOST, &number)) return -EINVAL;
	int thread = find_thread(p->s, number);
	if (thread < 0) return words_wrong(&p->w, "there is no such thread above");
	for (unsigned t = (unsigned)thread; t < p->s->n_threads; t++)
		if (p->s->thread[t].n_talks) return words_wrong(&p->w, "each thread talks in one line, by ascending number");
	if (words_want(&p->w, "with")) return -EINVAL;
	words_next(&p->w);
	do {
		if (words_pair(&p->w, NUMBER_MOST, &number, &rate)) return -EINVAL;
		int other = find_thread(p->s, number);
		if (other < 0 || other == thread) return words_wrong(&p->w, "another thread above should be here");
		struct situation_talk *talk = situation_add_talk(p->s, (unsigned)thread);
		if (!talk) return -ENOMEM;
		*talk = (struct situation_talk){ .other = (uint32_t)other, .rate = rate };
	} while (words_digit(&p->w));
	return 0;
}

static int parse_where(struct parser *p, struct situation_chunk *chunk)
{
	float sum = 0;
	if (!words_take(&p->w, "on")) return 0;
	words_next(&p->w);
	for (unsigned k = 0; k == 0 || words_digit(&p->w); k++) {
		uint64_t node;
		float share;
		if (k == SITUATION_WHERE) return words_wrong(&p->w, "too many nodes for a chunk");
		if (words_pair(&p->w, p->m->n_nodes - 1, &node, &share)) return -EINVAL;
		sum += share;
		if (sum > 1 + 1.0f / SHARES_SLACK) return words_wrong(&p->w, "the shares are more than 1");
		for (unsigned i = 0; i < k; i++)
			if (chunk->where[i].node == (int16_t)node) return words_wrong(&p->w, "this node was named before");
		chunk->where[k].node = (int16_t)node;
		chunk->where[k].share = share;
	}
	return 0;
}

static int parse_uses(struct parser *p, unsigned chunk)
{
	if (!words_take(&p->w, "by")) return 0;
	words_next(&p->w);
	do {
		uint64_t number;
		float rate;
		if (words_pair(&p->w, NUMBER_MOST, &number, &rate)) return -EINVAL;
		int thread = find_thread(p->s, number);
		if (thread < 0) return words_wrong(&p->w, "there is no such thread above");
		if (p->s->chunk[chunk].n_uses == UINT16_MAX) return words_wrong(&p->w, "too many users of a chunk");
		struct situation_use *use = situation_add_use(p->s);
		if (!use) return -ENOMEM;
		*use = (struct situation_use){ .thread = (uint32_t)thread, .rate = rate };
	} while (words_digit(&p->w));
	return 0;
}

static int parse_chunk(struct parser *p)
{
	struct words *w = &p->w;
	uint64_t page, pages;
	if (words_whole(w, PAGE_MOST - 1, &page)) return -EINVAL;
	const struct situation_chunk *last = p->s->n_chunks ? &p->s->chunk[p->s->n_chunks - 1] : NULL;
	if (last && last->page + last->pages > page) return words_wrong(w, "chunks come by ascending page, and none overlaps");
	if (words_want(w, "pages") || words_whole(w, UINT32_MAX, &pages)) return -EINVAL;
	if (!pages || page + pages > PAGE_MOST) return words_wrong(w, "a chunk has a page or more, below 2 to the 52nd");
	struct situation_chunk *chunk = situation_add_chunk(p->s);
	if (!chunk) return -ENOMEM;
	chunk->page = page;
	chunk->pages = (uint32_t)pages;
	int ret = parse_where(p, chunk);
	if (!ret) ret = parse_uses(p, p->s->n_chunks - 1);
	if (ret) return ret;
	if (words_take(w, "stands") && words_real(w, 1, &chunk->stands)) return -EINVAL;
	chunk->fixed = words_take(w, "fixed");
	if (parse_moved(p, &chunk->moved_ms_ago)) return -EINVAL;
	return parse_node_behind(p, "last", &chunk->last);
}

static int parse_step(struct parser *p)
{
	uint64_t step;
	if (words_whole(&p->w, UINT32_MAX, &step)) return -EINVAL;
	p->s->step = (uint32_t)step;
	return words_end(&p->w);
}

static int parse_past(struct parser *p)
{
	struct words *w = &p->w;
	uint64_t node, ms;
	float load;
	if (words_whole(w, p->m->n_nodes - 1, &node)) return -EINVAL;
	if (words_want(w, "load") || words_real(w, 0, &load)) return -EINVAL;
	if (words_want(w, "short") || words_whole(w, UINT32_MAX, &ms)) return -EINVAL;
	p->s->past[node] = (struct situation_past){ load, (uint32_t)ms };
	return words_end(w);
}

/* The lines of the past, which may be missing; true when the line that was taken is none of them. */
static bool parse_times(struct parser *p, int *ret)
{
	bool line = words_line(&p->w);
	*ret = 0;
	if (line && words_is(&p->w, "step")) {
		*ret = parse_step(p);
		line = !*ret && words_line(&p->w);
	}
	while (!*ret && line && words_is(&p->w, "past")) {
		*ret = parse_past(p);
		line = !*ret && words_line(&p->w);
	}
	return line;
}

/* Threads, then whom they talk to, then chunks. */
static int parse_thing(struct parser *p)
{
	bool talked = p->s->n_talks > 0, chunks = p->s->n_chunks > 0;
	if (words_is(&p->w, "chunk")) return parse_chunk(p);
	if (words_is(&p->w, "talk") && !chunks) return parse_talk(p);
	if (words_is(&p->w, "thread") && !talked && !chunks) return parse_thread(p);
	return words_wrong(&p->w, chunks   ? "chunk should begin this line"
	                          : talked ? "talk or chunk should begin this line"
	                                   : "thread, talk or chunk should begin this line");
}

static int parse_things(struct parser *p)
{
	int ret;
	bool line = parse_times(p, &ret);
	while (!ret && line) {
		ret = parse_thing(p);
		if (!ret) ret = words_end(&p->w);
		line = !ret && words_line(&p->w);
	}
	return ret;
}

static int parse_costs(struct parser *p)
{
	int ret = line_of(p, "age_ns");
	if (!ret) ret = words_whole(&p->w, UINT64_MAX, &p->s->age_ns);
	if (!ret) ret = words_end(&p->w);
	if (!ret) ret = line_of(p, "page_move_ns");
	if (!ret) ret = words_real(&p->w, 0, &p->s->page_move_ns);
	if (!ret) ret = words_end(&p->w);
	if (!ret) ret = line_of(p, "thread_move_ns");
	if (!ret) ret = words_real(&p->w, 0, &p->s->thread_move_ns);
	return ret ? ret : words_end(&p->w);
}

static int parse_version(struct parser *p, const char *kind)
{
	uint64_t version;
	int ret = line_of(p, kind);
	if (!ret) ret = words_whole(&p->w, VERSION, &version);
	if (!ret && version != VERSION) ret = words_wrong(&p->w, "a version that is not known");
	return ret ? ret : words_end(&p->w);
}

int snapshot_parse(const char *text, size_t bytes, struct machine *machine, struct situation *situation,
                   struct snapshot_error *error)
{
	struct parser p = { .m = machine, .s = situation };
	words_init(&p.w, text, bytes, error);
	memset(situation, 0, sizeof *situation);
	int ret = machine_init(machine, MACHINE_CPUS);
	if (ret) return ret;
	situation->machine = machine;
	ret = parse_version(&p, "situation");
	if (!ret) ret = parse_machine(&p);
	if (!ret) ret = parse_costs(&p);
	if (!ret) ret = parse_things(&p);
	if (!ret) return 0;
	situation_free(situation);
	machine_free(machine);
	return ret;
}

/* ---- the plan -------------------------------------------------------------------------------------------- */

static int parse_reason(struct words *w, struct move *move)
{
	size_t length;
	char *reason = (char *)(uintptr_t)words_rest(w, &length);   /* in the caller's text, which is not const */
	if (!length || w->line_end == w->end) return words_wrong(w, "a reason should be here, and the line's end behind it");
	reason[length] = 0;
	move->reason = reason;
	return 0;
}

static int parse_move(struct words *w, struct move *move)
{
	uint64_t number, count = 0, to, support;
	*move = (struct move){ .kind = words_is(w, "thread") ? MOVE_THREAD : MOVE_PAGES };
	if (move->kind == MOVE_PAGES && !words_is(w, "pages")) return words_wrong(w, "thread or pages should begin this line");
	if (words_whole(w, move->kind == MOVE_THREAD ? NUMBER_MOST : PAGE_MOST - 1, &number)) return -EINVAL;
	if (move->kind == MOVE_PAGES && (words_want(w, "count") || words_whole(w, UINT32_MAX, &count))) return -EINVAL;
	if (words_want(w, "from") || parse_node_or_none(w, MACHINE_NODES, &move->from)) return -EINVAL;
	if (words_want(w, "to") || words_whole(w, MACHINE_NODES - 1, &to)) return -EINVAL;
	if (words_want(w, "support") || words_whole(w, 1000, &support)) return -EINVAL;
	if (words_want(w, "gain") || words_real(w, -FLT_MAX, &move->gain_ns_per_s)) return -EINVAL;
	if (words_want(w, "cost") || words_real(w, 0, &move->cost_ns)) return -EINVAL;
	move->again = words_take(w, "again");
	if (words_want(w, "because")) return -EINVAL;
	move->thread = move->kind == MOVE_THREAD ? (uint32_t)number : 0;
	move->page = move->kind == MOVE_PAGES ? number : 0;
	move->pages = (uint32_t)count;
	move->to = (int16_t)to;
	move->support = (uint16_t)support;
	return parse_reason(w, move);
}

int snapshot_parse_plan(char *text, size_t bytes, struct plan *plan, struct snapshot_error *error)
{
	struct parser p = { 0 };
	struct move move;
	memset(plan, 0, sizeof *plan);
	words_init(&p.w, text, bytes, error);
	int ret = parse_version(&p, "plan");
	while (!ret && words_line(&p.w)) {
		ret = parse_move(&p.w, &move);
		if (!ret) ret = plan_add(plan, &move);
	}
	if (ret) plan_free(plan);
	return ret;
}
