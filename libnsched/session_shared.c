/* Pages that the others of the job map, too: the segments through which ranks hand messages to each other. move_pages refuses
 * them, so a rank that was brought to its partner would go on reaching over to where its segment was first touched.
 * Processes that stand on the node where such pages are wanted meet: one asks on the board for a time and a
 * file, at that time the others let go of their mappings of it for a moment, and the one moves the pages. Whoever stands
 * elsewhere takes no part, so nobody loses what lies beside him. */
#include <time.h>

#include "exchange.h"
#include "log.h"
#include "session.h"

#define MS 1000000ull

enum {
	AHEAD_MS = 2200,       /* a meeting is so far ahead: all look at the board before, and wake in time */
	BURST_MS = 40,         /* it lasts so long, and where that is too little for */
	BURST_TRIES = 50,      /* so many tries, on a machine that is slow, longer, */
	BURST_MOST_MS = 800,   /* up to this; */
	PAUSE_US = 200,        /* with so much between two tries: a page is there again as soon as it is used */
	REST_MS = 2000,        /* between two, */
	USELESS = 4,           /* after so many in a row that moved nothing there are no more, until our threads go elsewhere */
	BATCH = 512,           /* pages */
	SEGMENTS = 256,        /* a rank maps one of every other on its machine */
};

void session_shared_remember(struct session *s, uint64_t page, uint32_t pages)
{
	struct session_shared *sh = &s->shared;
	if (!s->neighbours || !s->neighbours->board) return;
	for (unsigned i = 0; i < sh->n; i++)
		if (sh->range[i].page == page) {
			if (pages > sh->range[i].pages) sh->range[i].pages = pages;
			return;
		}
	if (sh->n < SESSION_SHARED) sh->range[sh->n++] = (struct session_shared_range){ .page = page, .pages = pages };
}

/* The node that all threads with something to do are bound to; -1: there is no such one. */
static int own_node(const struct session *s)
{
	int node = -1;
	for (unsigned t = 0; t < s->situation.n_threads; t++) {
		const struct situation_thread *th = &s->situation.thread[t];
		if (!th->bound || (node >= 0 && th->node != node)) return -1;
		node = th->node;
	}
	return node;
}

/* Moves of a range what is there and elsewhere; how many pages are still elsewhere after it. */
static unsigned move_range(struct session *s, const struct session_shared_range *range, unsigned to_os, bool do_move)
{
	unsigned left = 0;
	for (uint32_t done = 0; done < range->pages; done += BATCH) {
		uint64_t addr[BATCH];
		int status[BATCH];
		unsigned n = range->pages - done < BATCH ? range->pages - done : BATCH, away = 0, moved = 0;
		for (unsigned i = 0; i < n; i++) addr[i] = (range->page + done + i) << EVIDENCE_PAGE_SHIFT;
		if (s->hands->locate(s->hands_state, addr, n, status)) return 0;
		for (unsigned i = 0; i < n; i++)
			if (status[i] >= 0 && (unsigned)status[i] != to_os) addr[away++] = addr[i];
		if (away && do_move && !s->hands->move(s->hands_state, addr, away, to_os, status))
			for (unsigned i = 0; i < away; i++) moved += status[i] >= 0 && (unsigned)status[i] == to_os;
		s->totals.moved_pages += moved;
		s->shared.moved += moved;
		left += away - moved;
	}
	return left;
}

static bool is_same(const struct shared_file *a, const struct shared_file *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* The segment that a range is in; NULL: in none that is known. */
static const struct shared_mapping *segment_of(const struct session_shared_range *range, const struct shared_mapping *list, unsigned n)
{
	uint64_t addr = range->page << EVIDENCE_PAGE_SHIFT;
	for (unsigned i = 0; i < n; i++)
		if (addr >= list[i].start && addr < list[i].end) return &list[i];
	return NULL;
}

/* Another try, after `tries` of them? */
static bool goes_on(const struct session *s, uint64_t begin_ns, unsigned tries)
{
	const struct timespec pause = { 0, PAUSE_US * 1000 };
	nanosleep(&pause, NULL);
	uint64_t ms = (s->clock->now_ns(s->clock_state) - begin_ns) / MS;
	return ms < BURST_MS || (ms < BURST_MOST_MS && tries < BURST_TRIES);
}

static void let_go(struct session *s)
{
	struct shared_mapping list[SEGMENTS];
	unsigned n = shared_list(list, SEGMENTS), k = 0, tries = 0;
	while (k < n && !is_same(&list[k].file, &s->shared.file)) k++;
	uint64_t begin_ns = s->clock->now_ns(s->clock_state);
	if (k == n || !exchange_hold(s->exchange, true)) return;
	do shared_let_go(&list[k]);
	while (goes_on(s, begin_ns, ++tries));
	exchange_hold(s->exchange, false);
	if (s->config.verbose) log_line("let go of memory that other ranks share, %u times", tries);
}

static void take(struct session *s)
{
	struct session_shared *sh = &s->shared;
	struct shared_mapping list[SEGMENTS];
	const struct shared_mapping *segment[SESSION_SHARED];
	unsigned n = shared_list(list, SEGMENTS), left = 1, tries = 0;
	uint64_t before = sh->moved;
	for (unsigned i = 0; i < sh->n; i++) {
		segment[i] = segment_of(&sh->range[i], list, n);
		if (segment[i] && !is_same(&segment[i]->file, &sh->file)) segment[i] = NULL;
	}
	uint64_t begin_ns = s->clock->now_ns(s->clock_state);
	if (!exchange_hold(s->exchange, true)) return;
	do {
		left = 0;
		for (unsigned i = 0; i < sh->n; i++)
			if (segment[i]) left += move_range(s, &sh->range[i], sh->to_os, true);
	} while (left && goes_on(s, begin_ns, ++tries));
	exchange_hold(s->exchange, false);
	sh->next_ns = begin_ns + REST_MS * MS;
	sh->useless = sh->moved > before ? 0 : sh->useless + 1;
	if (s->config.verbose)
		log_line("%llu pages that other ranks share moved to node %u; %u did not", (unsigned long long)(sh->moved - before), sh->to_os, left);
}

/* Is there anything to ask for? The next that lies elsewhere. */
static bool find_wish(struct session *s, unsigned to_os, struct shared_file *file)
{
	struct shared_mapping list[SEGMENTS];
	unsigned n = shared_list(list, SEGMENTS);
	for (unsigned k = 0; k < s->shared.n; k++) {
		const struct session_shared_range *range = &s->shared.range[s->shared.next++ % s->shared.n];
		const struct shared_mapping *segment = segment_of(range, list, n);
		if (!segment || !move_range(s, range, to_os, false)) continue;
		*file = segment->file;
		return true;
	}
	return false;
}

static void ask(struct session *s, unsigned to_os, uint64_t now_ns)
{
	struct session_shared *sh = &s->shared;
	sh->next_ns = now_ns + REST_MS * MS;
	if (!find_wish(s, to_os, &sh->file)) return;
	sh->mine = true;
	sh->to_os = to_os;
	sh->at_ns = now_ns + AHEAD_MS * MS;
	neighbours_ask(s->neighbours, &(struct board_ask){ .at_ns = sh->at_ns, .dev = sh->file.dev, .ino = sh->file.ino, .node_os = (int32_t)to_os });
}

void session_shared_step(struct session *s)
{
	struct session_shared *sh = &s->shared;
	struct board_ask theirs;
	uint64_t now = s->clock->now_ns(s->clock_state);
	if (!s->exchange || !s->neighbours || s->mode != NEIGHBOURS_TOGETHER || !s->config.move_pages || s->config.dry_run) return;
	if (sh->at_ns && now >= sh->at_ns) {
		sh->at_ns = 0;
		if (sh->mine) take(s);
		else let_go(s);
	}
	int node = own_node(s);
	if (node < 0) return;
	unsigned node_os = s->machine.node[node].os;
	if (node_os != sh->node_os) sh->useless = 0;
	sh->node_os = node_os;
	/* of two who have asked each other, the later one comes to the other's meeting */
	if (neighbours_asked(s->neighbours, node_os, now, &theirs) && (!sh->at_ns || theirs.at_ns < sh->at_ns)) {
		if (sh->at_ns && sh->mine) neighbours_ask(s->neighbours, &(struct board_ask){ 0 });
		sh->mine = false;
		sh->at_ns = theirs.at_ns;
		sh->file = (struct shared_file){ theirs.dev, theirs.ino };
	} else if (!sh->at_ns && sh->n && sh->useless < USELESS && now >= sh->next_ns) {
		ask(s, node_os, now);
	}
}

/* Not longer than until the meeting. */
uint64_t session_shared_wait_ms(const struct session *s, uint64_t wait_ms)
{
	if (!s->shared.at_ns) return wait_ms;
	uint64_t now = s->clock->now_ns(s->clock_state), until_ms = s->shared.at_ns > now ? (s->shared.at_ns - now) / MS + 1 : 0;
	return until_ms < wait_ms ? until_ms : wait_ms;
}
