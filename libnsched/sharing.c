#include "sharing.h"

#include <time.h>

#include "log.h"
#include "sys/migrate.h"
#include "sys/shared.h"

#define MS 1000000ull

enum {
	GRID_MS = 4000,        /* meetings are at multiples of it: several that ask are served at once, and none is missed for another that lasts, */
	AHEAD_MS = 3000,       /* and so far ahead at the least, and */
	AHEAD_INTERVALS = 10,  /* so many more: all look at the board before, though nothing changes, and wake in time */
	BURST_MS = 2000,       /* a meeting lasts until all who asked have what they wanted, and not longer than this, */
	BURST_TRIES = 2500,    /* or so many tries: half a second, but for a machine that is slow; */
	FRUITLESS_TRIES = 400, /* who has moved nothing in so many of them gives up: all ranks pay for each try, with the faults that follow */
	PAUSE_US = 200,        /* between two tries: a page is mapped again as soon as it is used */
	STRAYS_LEAST = 4,      /* pages: for fewer there is no meeting; one or two are looked at by all ranks all the time, and never move */
	REST_MS = 1000,        /* from one look at our own pages to the next; twice as long each time that nothing came of it, */
	REST_MOST_MS = 120000, /* up to this */
	SMALL_MIB = 64,        /* a process with no more private memory than this takes all of it along: 50 ms, once for each move */
	BATCH = 512,           /* pages */
	SEGMENTS = 256,        /* a rank maps one of every other on its machine */
	PAGE = 1 << EVIDENCE_PAGE_SHIFT,
};

/* The node that all threads with something to do are bound to, as the system numbers it; -1: there is no such one. */
static int own_node(const struct session *s)
{
	int node = -1;
	for (unsigned t = 0; t < s->situation.n_threads; t++) {
		const struct situation_thread *th = &s->situation.thread[t];
		if (!th->bound || th->node < 0 || (node >= 0 && th->node != node)) return -1;
		node = th->node;
	}
	return node < 0 ? -1 : (int)s->machine.node[node].os;
}

/* Our segments' pages that are elsewhere: how many, after moving those that let themselves be moved, and between where they lie. */
struct strays {
	unsigned n, moved;
	uint64_t first, behind;    /* addresses */
};

static void add_stray(struct strays *strays, uint64_t addr)
{
	if (!strays->n++ || addr < strays->first) strays->first = addr;
	if (addr + PAGE > strays->behind) strays->behind = addr + PAGE;
}

static void look(const struct sharing *sh, const struct shared_segment *segment, bool move, struct strays *strays)
{
	unsigned node_os = (unsigned)sh->node_os;
	for (uint64_t at = segment->start; at < segment->end; at += (uint64_t)BATCH * PAGE) {
		uint64_t addr[BATCH], left = (segment->end - at) / PAGE;
		int status[BATCH], to_os[BATCH];
		unsigned n = left < BATCH ? (unsigned)left : BATCH, away = 0;
		for (unsigned i = 0; i < n; i++) addr[i] = at + (uint64_t)i * PAGE;
		if (sh->hands->locate(sh->hands_state, addr, n, status)) return;
		for (unsigned i = 0; i < n; i++)
			if (status[i] >= 0 && (unsigned)status[i] != node_os) addr[away++] = addr[i];
		for (unsigned i = 0; i < away; i++) to_os[i] = (int)node_os;
		bool tried = move && away && !sh->hands->move(sh->hands_state, addr, away, to_os, status);
		for (unsigned i = 0; i < away; i++) {
			bool moved = tried && status[i] >= 0 && (unsigned)status[i] == node_os;
			strays->moved += moved;
			if (!moved) add_stray(strays, addr[i]);
		}
	}
}

/* ---- the meeting ---------------------------------------------------------------------------------------- */

static const struct shared_segment *of_file(const struct shared_segment *list, unsigned n, const struct board_ask *ask)
{
	for (unsigned i = 0; i < n; i++)
		if (list[i].dev == ask->dev && list[i].ino == ask->ino) return &list[i];
	return NULL;
}

static const struct shared_segment *own_segment(const struct shared_segment *list, unsigned n, int32_t rank)
{
	for (unsigned i = 0; i < n; i++)
		if (rank >= 0 && list[i].maker == rank) return &list[i];
	return NULL;
}

/* What another rank asks us to let go of. */
struct favour {
	unsigned slot;
	const struct shared_segment *segment;
	uint64_t offset, bytes;
};

static unsigned find_favours(const struct neighbours *neighbours, uint64_t at_ns, const struct shared_segment *list, unsigned n, struct favour *favour)
{
	struct board_ask ask;
	unsigned found = 0;
	for (unsigned slot = 0; found < SEGMENTS && neighbours_asked(neighbours, &slot, at_ns, &ask); slot++) {
		const struct shared_segment *segment = of_file(list, n, &ask);
		if (segment) favour[found++] = (struct favour){ slot, segment, ask.offset, ask.bytes };
	}
	return found;
}

/* Asks the others to let go of what lies between the strays of our segment. */
static void ask_for(struct neighbours *neighbours, const struct shared_segment *own, const struct strays *strays, uint64_t at_ns)
{
	neighbours_ask(neighbours, &(struct board_ask){ .at_ns = at_ns, .dev = own->dev, .ino = own->ino,
	                                                .offset = own->offset + (strays->first - own->start), .bytes = strays->behind - strays->first });
}

/* How many are still wanted: as much of each as is, by now. */
static unsigned do_favours(const struct neighbours *neighbours, uint64_t at_ns, const struct favour *favour, unsigned n)
{
	struct board_ask ask;
	unsigned wanted = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned slot = favour[i].slot;
		if (!neighbours_asked(neighbours, &slot, at_ns, &ask) || slot != favour[i].slot) continue;
		shared_let_go(favour[i].segment, ask.offset, ask.bytes);
		wanted++;
	}
	return wanted;
}

/* Another try? */
static bool goes_on(const struct session *s, uint64_t at_ns, unsigned tries)
{
	const struct timespec pause = { 0, PAUSE_US * 1000 };
	nanosleep(&pause, NULL);
	return tries < BURST_TRIES && s->clock->now_ns(s->clock_state) < at_ns + BURST_MS * MS;
}

/* Our own wish at a meeting. */
struct wish {
	const struct shared_segment *own;  /* NULL: there is none, or none any more */
	uint64_t at_ns;
	struct shared_segment part;        /* where strays are left */
	unsigned moved, left, fruitless;   /* pages; tries since one moved */
};

static void pursue(const struct sharing *sh, struct neighbours *neighbours, struct wish *w)
{
	struct strays strays = { 0 };
	if (!w->own) return;
	look(sh, &w->part, true, &strays);
	w->moved += strays.moved;
	w->left = strays.n;
	w->fruitless = strays.moved ? 0 : w->fruitless + 1;
	if (w->left < STRAYS_LEAST || w->fruitless == FRUITLESS_TRIES) {
		w->own = NULL;
		neighbours_ask(neighbours, &(struct board_ask){ 0 });
		return;
	}
	/* the others are spared the faults of what has come already */
	if (strays.first > w->part.start || strays.behind < w->part.end) ask_for(neighbours, w->own, &strays, w->at_ns);
	w->part.start = strays.first;
	w->part.end = strays.behind;
}

/* While the library keeps its segments mapped. */
static void meet(struct sharing *sh, struct session *s, struct neighbours *neighbours, struct exchange *exchange, uint64_t at_ns)
{
	struct shared_segment list[SEGMENTS];
	struct favour favour[SEGMENTS];
	struct wish wish = { .at_ns = at_ns };
	unsigned n = shared_list(list, SEGMENTS), favours = find_favours(neighbours, at_ns, list, n, favour), tries = 0, others;
	if (sh->asked_ns == at_ns && sh->node_os >= 0) wish.own = own_segment(list, n, neighbours->head.local_rank);
	if (wish.own) wish.part = *wish.own;
	for (unsigned i = 0; i < favours; i++) shared_part(favour[i].segment, favour[i].offset, favour[i].bytes, true);
	do {
		others = do_favours(neighbours, at_ns, favour, favours);
		pursue(sh, neighbours, &wish);
	} while ((wish.own || others) && goes_on(s, at_ns, ++tries) && exchange_hold(exchange, true));
	for (unsigned i = 0; i < favours; i++) shared_part(favour[i].segment, favour[i].offset, favour[i].bytes, false);
	neighbours->totals.followed_pages += wish.moved;
	/* a few of many that stay are no reason to meet again soon */
	if (wish.moved > wish.left) sh->rest_ms = REST_MS;
	if (s->config.verbose && sh->asked_ns == at_ns)
		log_line("%u pages that other ranks map too moved to node %d; %u did not", wish.moved, sh->node_os, wish.left);
}

/* ---- asking ----------------------------------------------------------------------------------------------- */

static void ask(struct sharing *sh, struct neighbours *neighbours, uint64_t interval_ms, uint64_t now_ns)
{
	uint64_t ahead_ms = AHEAD_MS + AHEAD_INTERVALS * interval_ms;
	struct shared_segment list[SEGMENTS];
	struct strays strays = { 0 };
	const struct shared_segment *own = own_segment(list, shared_list(list, SEGMENTS), neighbours->head.local_rank);
	sh->next_ns = now_ns + sh->rest_ms * MS;
	sh->rest_ms = sh->rest_ms < REST_MOST_MS ? 2 * sh->rest_ms : REST_MOST_MS;
	/* where the program has given it a policy, it lies as it is meant to */
	if (own && sh->hands->has_policy(sh->hands_state, own->start) != 1) look(sh, own, false, &strays);
	if (strays.n < STRAYS_LEAST) return;
	sh->asked_ns = (now_ns / MS + ahead_ms + GRID_MS) / GRID_MS * GRID_MS * MS;
	sh->next_ns += ahead_ms * MS;
	ask_for(neighbours, own, &strays, sh->asked_ns);
}

/* What samples have not hit yet, and our own tables. */
static void take_all_along(const struct session *s, unsigned node_os)
{
	unsigned from_os[MACHINE_NODES], n = s->machine.n_nodes;
	uint64_t bytes = migrate_private_bytes();
	if (!bytes || bytes > (uint64_t)SMALL_MIB * 1024 * 1024 || !migrate_may()) return;
	for (unsigned i = 0; i < n; i++) from_os[i] = s->machine.node[i].os;
	long left = migrate_all(from_os, n, node_os);
	if (s->config.verbose) log_line("all of this process to node %u, where its threads are: %ld pages did not go", node_os, left);
}

void sharing_meet(struct sharing *sh, struct session *s, struct neighbours *neighbours, struct exchange *exchange)
{
	if (!sh->at_ns || s->clock->now_ns(s->clock_state) < sh->at_ns) return;
	if (exchange_hold(exchange, true)) {
		meet(sh, s, neighbours, exchange, sh->at_ns);
		exchange_hold(exchange, false);
	}
	if (sh->asked_ns == sh->at_ns) sh->asked_ns = 0;
	sh->at_ns = 0;
}

void sharing_step(struct sharing *sh, struct session *s, struct neighbours *neighbours)
{
	uint64_t now = s->clock->now_ns(s->clock_state);
	if (!neighbours->board || !s->config.move_pages || s->config.dry_run || s->pages_refused) return;
	int node_os = s->mode == NEIGHBOURS_TOGETHER ? own_node(s) : -1;
	if (!sh->rest_ms) sh->home_os = -1;
	if (node_os != sh->node_os || !sh->rest_ms) {
		sh->rest_ms = REST_MS;
		sh->next_ns = now + REST_MS * MS;   /* it may not be the last move */
	}
	sh->node_os = node_os;
	if (node_os >= 0 && node_os != sh->home_os && now >= sh->next_ns) {
		sh->home_os = node_os;
		take_all_along(s, (unsigned)node_os);
	}
	if (node_os >= 0 && !sh->asked_ns && now >= sh->next_ns) ask(sh, neighbours, s->config.interval_ms, now);
	sh->at_ns = neighbours_next_ask(neighbours, now);
	if (sh->asked_ns && (!sh->at_ns || sh->asked_ns < sh->at_ns)) sh->at_ns = sh->asked_ns;
}

uint64_t sharing_wait_ms(const struct sharing *sh, const struct session *s, uint64_t wait_ms)
{
	if (!sh->at_ns) return wait_ms;
	uint64_t now = s->clock->now_ns(s->clock_state), until_ms = sh->at_ns > now ? (sh->at_ns - now) / MS + 1 : 0;
	return until_ms < wait_ms ? until_ms : wait_ms;
}
