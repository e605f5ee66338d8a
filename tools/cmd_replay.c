/* nsched replay: a recorded session's decisions once more, and what others would have decided. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "file.h"
#include "pure/nearest.h"
#include "pure/snapshot.h"
#include "whatif.h"

enum { POLICIES_MOST = 16, MOVES_SHOWN = 40, NAME = 32 };
#define MIB (1024 * 1024.0)

/* One policy's course: the recorded one's, or another's. */
struct course {
	const struct session *session;
	struct whatif *whatif;         /* NULL: the recorded one */
	char policy[NAME];
	double cost_ns, time_ns;       /* ns in memory, summed over the time of the looks */
};

struct replay {
	const char *file, *policies;
	bool check, all, help;
	unsigned long snapshot;        /* the step whose situation is printed; 0: none */
	struct player *player;
	struct course course[POLICIES_MOST + 1];
	unsigned n;
	unsigned shown;
	uint64_t last_ns;
};

/* ---- the command line ----------------------------------------------------------------------------------------- */

static void usage(FILE *file)
{
	fputs("usage: nsched replay FILE [--check] [--policy P,Q,...] [--snapshot N] [--all]\n"
	      "\n"
	      "Takes the decisions of a recorded program (nsched run --record FILE) once more, without the program and\n"
	      "anywhere, and prints them.\n"
	      "\n"
	      "  --check             only say whether they are the recorded ones, to the last bit\n"
	      "  --policy P,Q,...    also what these policies would have done, and what the estimate says of all\n"
	      "  --snapshot N        print the situation and the plan of look N, as tests/fixtures have them\n"
	      "  --all               print every move (default: the first 40 of each policy)\n"
	      "  --help              this text\n"
	      "\n"
	      "exit code: 0; 1 the record is damaged or cut off, or the decisions are others; 2 an option is wrong.\n", file);
}

static int no_policy(const char *name)
{
	const char *names[POLICIES_MOST], *nearest;
	size_t n = 0;
	for (; policy_at((unsigned)n) && n < POLICIES_MOST; n++) names[n] = policy_at((unsigned)n)->name;
	nearest = nearest_name(name, names, n);
	if (nearest) complain("there is no policy \"%s\"; did you mean %s?", name, nearest);
	else complain("there is no policy \"%s\"", name);
	return COMMAND_USAGE;
}

static int split_policies(struct replay *r)
{
	r->n = 1;   /* the recorded one comes first */
	for (const char *p = r->policies; p && *p;) {
		size_t n = strcspn(p, ",");
		struct course *c = &r->course[r->n];
		if (r->n == POLICIES_MOST || n >= NAME) return no_policy(p);
		snprintf(c->policy, NAME, "%.*s", (int)n, p);
		if (!policy_find(c->policy)) return no_policy(c->policy);
		r->n++;
		p += n + (p[n] == ',');
	}
	return 0;
}

static int take_snapshot(struct replay *r, const char *value)
{
	char *end;
	errno = 0;
	r->snapshot = strtoul(value, &end, 10);
	if (*value >= '1' && *value <= '9' && !*end && !errno) return 0;
	complain("--snapshot %s: wanted is the number of a look, from 1", value);
	return COMMAND_USAGE;
}

static int take_word(struct replay *r, int argc, char **argv, int *i)
{
	static const char *const names[] = { "--check", "--policy", "--snapshot", "--all", "--help" };
	const char *word = argv[*i];
	size_t length = strcspn(word, "=");
	bool policy = length == 8 && !strncmp(word, "--policy", 8), snapshot = length == 10 && !strncmp(word, "--snapshot", 10);
	if (policy || snapshot) {
		const char *value = word[length] ? word + length + 1 : *i + 1 < argc ? argv[++*i] : NULL;
		if (!value || !*value) {
			complain("%.*s: a value is missing", (int)length, word);
			return COMMAND_USAGE;
		}
		if (snapshot) return take_snapshot(r, value);
		r->policies = value;
		return 0;
	}
	if (!strcmp(word, "--check")) r->check = true;
	else if (!strcmp(word, "--all")) r->all = true;
	else if (!strcmp(word, "--help") || !strcmp(word, "-h")) r->help = true;
	else if (word[0] == '-' && word[1]) {
		const char *nearest = nearest_name(word, names, sizeof names / sizeof *names);
		if (nearest) complain("replay has no option %s; did you mean %s?", word, nearest);
		else complain("replay has no option %s; see nsched replay --help", word);
		return COMMAND_USAGE;
	} else if (r->file) {
		complain("replay takes one file, and %s is another", word);
		return COMMAND_USAGE;
	} else {
		r->file = word;
	}
	return 0;
}

/* ---- what the player tells, to all ------------------------------------------------------------------------------- */

static void told_access(void *arg, const struct access *a)
{
	const struct replay *r = arg;
	for (unsigned i = 1; i < r->n; i++) whatif_access(r->course[i].whatif, a);
}

static void told_located(void *arg, const uint64_t *addr, unsigned n, const int *node_os)
{
	const struct replay *r = arg;
	for (unsigned i = 1; i < r->n; i++) whatif_located(r->course[i].whatif, addr, n, node_os);
}

static void told_moved(void *arg, const uint64_t *addr, unsigned n, const int *status)
{
	const struct replay *r = arg;
	for (unsigned i = 1; i < r->n; i++) whatif_moved(r->course[i].whatif, addr, n, status);
}

static void told_touch(void *arg, uint32_t thread, uint64_t addr)
{
	const struct replay *r = arg;
	for (unsigned i = 1; i < r->n; i++) whatif_touch(r->course[i].whatif, thread, addr);
}

/* ---- printing ------------------------------------------------------------------------------------------------------ */

static void print_move(const struct history_move *h)
{
	const struct move *m = &h->move;
	printf("  %8.3f s  ", (double)h->time_ns / 1e9);
	if (m->kind == MOVE_THREAD) printf("thread %u", m->thread);
	else printf("%u pages at %#llx%s%s", h->moved, (unsigned long long)m->page << EVIDENCE_PAGE_SHIFT, h->name[0] ? " of " : "", h->name);
	if (m->from >= 0) printf(", node %d -> %d", m->from, m->to);
	else printf(", to node %d", m->to);
	printf(": %s; gain %.3f ms, cost %.3f ms", m->reason, (double)h->gain_ns / 1e6, (double)m->cost_ns / 1e6);
	if (h->failed) printf("; %u did not go", h->failed);
	putchar('\n');
}

static void print_moves(const struct replay *r, const struct course *c)
{
	const struct history *h = &c->session->history;
	unsigned n = r->all || h->n_moves < MOVES_SHOWN ? h->n_moves : MOVES_SHOWN;
	printf("\n%s%s\n", c->policy, c->whatif ? " would have moved" : " moved");
	for (unsigned i = 0; i < n; i++) print_move(&h->move[i]);
	if (!h->n_moves) printf("  nothing\n");
	if (n < h->n_moves) printf("  and %u more (--all)\n", h->n_moves - n);
	if (h->moves_not_kept) printf("  and %llu more\n", (unsigned long long)h->moves_not_kept);
}

static void print_course(const struct course *c)
{
	unsigned local = situation_local_permille(&c->session->situation);
	printf("%-17s %7llu %10.1f", c->policy, (unsigned long long)c->session->totals.thread_moves,
	       (double)(c->session->totals.moved_pages << EVIDENCE_PAGE_SHIFT) / MIB);
	if (c->time_ns > 0) printf(" %12.3f", c->cost_ns / c->time_ns / 1e9);
	else printf(" %12s", "-");
	if (local <= 1000) printf(" %7u.%u %%", local / 10, local % 10);
	else printf(" %11s", "-");
	printf("%s\n", c->whatif ? "" : "   as recorded");
}

static int print_snapshot(const struct player *p)
{
	const struct session *s = &p->session;
	size_t n = snapshot_print(&s->situation, NULL, 0) + 1, m = snapshot_print_plan(&s->plan, NULL, 0) + 1;
	char *text = malloc(n > m ? n : m);
	if (!text) {
		complain("there is no memory for the text");
		return COMMAND_BROKEN;
	}
	snapshot_print(&s->situation, text, n);
	printf("# look %llu, policy %s\n%s\n", (unsigned long long)p->steps, s->policy->name, text);
	snapshot_print_plan(&s->plan, text, m);
	fputs(text, stdout);
	free(text);
	return 0;
}

static void print_head(const struct replay *r)
{
	const struct player *p = r->player;
	printf("%s: nsched %s, policy %s, %u nodes, %u CPUs\n", r->file, p->version, p->session.policy->name, p->session.machine.n_nodes,
	       p->session.machine.n_cpus);
}

static int print_end(const struct replay *r)
{
	const struct player *p = r->player;
	double s = (double)(p->session.last_ns - p->session.start_ns) / 1e9;
	if (!r->check) {
		for (unsigned i = 0; i < r->n; i++) print_moves(r, &r->course[i]);
		printf("\n%-17s %7s %10s %12s %11s\n", "policy", "threads", "moved MiB", "s in memory", "local, last");
		for (unsigned i = 0; i < r->n; i++) print_course(&r->course[i]);
		printf("(s in memory: the threads' time in each second, by the estimate, on average over the looks)\n\n");
	}
	if (!p->ended && !tape_is_bad(p->in)) printf("the record ends without an end: the program was killed, or still runs\n");
	if (!p->first_other) {
		printf("the same plans as recorded: %llu looks in %.1f s, %llu with a plan, %llu moves\n", (unsigned long long)p->steps, s, (unsigned long long)p->plans,
		       (unsigned long long)p->moves);
		return 0;
	}
	printf("other plans than recorded: in %llu of %llu looks; what was seen differs in %llu; look %llu is the first\n", (unsigned long long)p->other_plans,
	       (unsigned long long)p->steps, (unsigned long long)p->other_situations, (unsigned long long)p->first_other);
	return 1;
}

/* ---- the work ----------------------------------------------------------------------------------------------------------- */

static void add_cost(struct course *c, double passed_ns)
{
	double cost = c->session->situation.n_uses ? whatif_cost(&c->session->situation) : -1;
	if (cost < 0) return;
	c->cost_ns += cost * passed_ns;
	c->time_ns += passed_ns;
}

/* One look of all. As player_step. */
static int step(struct replay *r)
{
	int ret = player_step(r->player);
	double passed_ns = (double)(r->player->session.last_ns - r->last_ns);
	r->last_ns = r->player->session.last_ns;
	for (unsigned i = 1; ret > 0 && i < r->n; i++)
		if (whatif_step(r->course[i].whatif)) tape_fail(r->player->in, "there is no memory for %s", r->course[i].policy);
	for (unsigned i = 0; ret > 0 && !r->check && i < r->n; i++) add_cost(&r->course[i], passed_ns);
	return tape_is_bad(r->player->in) ? -1 : ret;
}

static int play(struct replay *r)
{
	int ret;
	if (!r->snapshot) print_head(r);
	while ((ret = step(r)) > 0)
		if (r->snapshot && r->player->steps == r->snapshot) return print_snapshot(r->player);
	if (r->snapshot && !ret) complain("%s: it has %llu looks, and not %lu", r->file, (unsigned long long)r->player->steps, r->snapshot);
	int result = r->snapshot ? 1 : print_end(r);
	if (ret < 0) complain("%s: %s", r->file, r->player->in->error);
	return ret < 0 ? 1 : result;
}

static int open_others(struct replay *r)
{
	struct player *p = r->player;
	r->course[0].session = &p->session;
	snprintf(r->course[0].policy, NAME, "%s", p->session.policy->name);
	r->last_ns = p->session.start_ns;
	for (unsigned i = 1; i < r->n; i++) {
		struct course *c = &r->course[i];
		c->whatif = calloc(1, sizeof *c->whatif);
		if (!c->whatif || whatif_open(c->whatif, p, c->policy)) {
			complain("there is no memory for %s", c->policy);
			return COMMAND_BROKEN;
		}
		c->session = &c->whatif->session;
	}
	return 0;
}

static int replay_stream(struct replay *r, FILE *in)
{
	struct tape_reader reader;
	struct replay_file *file;
	struct player_listener listener = { told_access, told_located, told_moved, told_touch, r };
	int ret = replay_file_open(in, &reader, &file), result = 0;
	if (!ret) ret = player_open(r->player, &reader);
	if (ret) {
		complain("%s: %s", r->file, reader.error[0] ? reader.error : strerror(-ret));
		result = ret == -ENOSYS ? COMMAND_BROKEN : 1;
	}
	if (!ret && r->n > 1) r->player->listener = &listener;
	if (!ret) result = open_others(r);
	if (!ret && !result) result = play(r);
	for (unsigned i = 1; i < r->n; i++) {
		if (r->course[i].whatif) whatif_close(r->course[i].whatif);
		free(r->course[i].whatif);
	}
	if (!ret) player_close(r->player);
	replay_file_close(file);
	return result;
}

static int replay_main(int argc, char **argv)
{
	static struct replay r;
	int result = 0;
	for (int i = 1; !result && i < argc; i++) result = take_word(&r, argc, argv, &i);
	if (!result) result = split_policies(&r);
	if (result) return result;
	if (r.help) {
		usage(stdout);
		return 0;
	}
	if (!r.file) {
		complain("which record? nsched replay FILE; nsched run --record FILE makes one");
		return COMMAND_USAGE;
	}
	FILE *in = fopen(r.file, "rbe");
	r.player = in ? calloc(1, sizeof *r.player) : NULL;
	if (!in) complain("%s: %s", r.file, strerror(errno));
	else if (!r.player) complain("there is no memory");
	else result = replay_stream(&r, in);
	if (!in || !r.player) result = in ? COMMAND_BROKEN : 1;
	if (in) fclose(in);
	free(r.player);
	return result;
}

const struct command command_replay = {
	.name = "replay",
	.summary = "take a recorded program's decisions once more, or another policy's",
	.run = replay_main,
};
