#include "pure/trial.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pure/pure.h"

/* Looks differ by chance as much as this (standard deviations of the rank sum) less than once in 700 times. */
#define TRIAL_Z 3.0
/* That measure is one for many looks. With fewer than these before, the second window is different where all of it is above, or below, all of the
 * first: of four before and twelve after that comes by chance once in 1820 times, of three and sixteen (TRIAL_AFTER_FEW) once in 969. */
enum { MANY = 5 };
/* A rise is told from chance at less: once in 160 times it is none, and then nothing is judged. (Five looks can't show one.) */
#define RISING_Z 2.5
/* All regions together must have lost this much: less is not worth copying everything once more, and within what a program's own
 * course makes of it. */
#define TRIAL_SLOWER 0.05
/* After the last move: caches fill, pages that were touched meanwhile follow. */
#define SETTLE_NS 300000000ull
/* A trial that has found nothing to judge by for so long, since no region ends, is given up. */
#define GIVE_UP_NS 30000000000ull
/* What was taken back is not done again for this long; twice as long each further time, up to about an hour: what is known of the program changes,
 * and what was wrong for one phase may be right for the next. */
#define BAN_NS 30000000000ull
enum { BAN_DOUBLED_MOST = 7 };
/* Moves kept for taking back: one of pages is a run of neighbours, so that this is plenty. */
enum { UNDO_MOST = 16384 };
/* Less than one page in so many of those moved so far is tidying, and does not make a trial begin anew: or what is moved to and fro without end, now
 * some here and then some there, would never be judged. */
enum { FEW_PAGES = 16 };
/* Of the time spent in a region, what is left after each look: about the last twenty count. */
#define ALL_KEPT 0.95

static struct trial_region *find(struct trial *t, uint64_t key)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->region[i].key == key) return &t->region[i];
	if (t->n == TRIAL_REGIONS) return NULL;
	t->region[t->n] = (struct trial_region){ .key = key };
	return &t->region[t->n++];
}

static unsigned after_needed(const struct trial_region *r)
{
	return r->before.n < MANY - 1 ? TRIAL_AFTER_FEW : TRIAL_AFTER;
}

/* Where these are enough, and there is no verdict yet (it was still rising, or others are not known), the last ones count. */
static void add_after(struct trial_region *r, float took)
{
	unsigned needed = after_needed(r);
	if (r->after.n == needed) memmove(r->after.took, r->after.took + 1, --r->after.n * sizeof *r->after.took);
	r->after.took[r->after.n++] = took;
}

void trial_see(struct trial *t, const struct trial_seen *seen)
{
	struct trial_region *r = seen->took && seen->visits ? find(t, seen->key) : NULL;
	if (!r) return;
	float took = (float)seen->took;
	r->all = ALL_KEPT * r->all + (1 - ALL_KEPT) * (double)took * seen->visits;
	r->last.took[r->next] = took;
	r->next = (r->next + 1) % TRIAL_BEFORE;
	if (r->last.n < TRIAL_BEFORE) r->last.n++;
	if (t->moved_ns) add_after(r, took);
}

/* What the rings hold now, in order, is what later looks are compared with. */
static void begin(struct trial *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		struct trial_region *r = &t->region[i];
		r->before.n = r->last.n;
		for (unsigned k = 0; k < r->last.n; k++)
			r->before.took[k] = r->last.took[(r->next + TRIAL_BEFORE - r->last.n + k) % TRIAL_BEFORE];
	}
}

/* What was seen while things moved is of neither side. */
static void empty_after(struct trial *t)
{
	for (unsigned i = 0; i < t->n; i++) t->region[i].after.n = 0;
}

void trial_goes_on(struct trial *t, uint64_t now_ns)
{
	if (!t->moved_ns) return;
	t->moved_ns = now_ns;
	empty_after(t);
}

int trial_moved(struct trial *t, const struct move *move, uint32_t pages, bool back, uint64_t now_ns)
{
	bool few = move->kind == MOVE_PAGES && (uint64_t)pages * FEW_PAGES < t->pages;
	if (move->kind == MOVE_THREAD ? move->from == move->to : !pages) return 0;
	if (!t->moved_ns) {
		begin(t);
		t->back = back;
		few = false;
	}
	if (!few) {
		t->moved_ns = now_ns;
		empty_after(t);
	}
	if (move->kind == MOVE_PAGES) t->pages += pages;
	if (move->from < 0 || t->undo.n >= UNDO_MOST) return 0;
	struct move undo = *move;
	undo.from = move->to;
	undo.to = move->from;
	undo.pages = move->range ? move->range : move->pages;
	undo.range = 0;
	undo.again = true;
	return plan_add(&t->undo, &undo);
}

/* ---- ranks -------------------------------------------------------------------------------------------- */

/* By how many standard deviations the second window is above the first, by ranks; below 0: under it. Equal values count half, and
 * make less of a deviation. */
static double rank_z(const float *a, unsigned na, const float *b, unsigned nb)
{
	double u = 0, ties = 0, n = na + nb;
	for (unsigned i = 0; i < na; i++)
		for (unsigned k = 0; k < nb; k++) u += b[k] > a[i] ? 1 : b[k] < a[i] ? 0 : 0.5;
	/* each of t equal values adds t^2 - 1: together t^3 - t */
	for (unsigned i = 0; i < na + nb; i++) {
		double same = 0;
		float mine = i < na ? a[i] : b[i - na];
		for (unsigned k = 0; k < na + nb; k++) {
			float other = k < na ? a[k] : b[k - na];
			same += !(other < mine) && !(other > mine);
		}
		ties += same * same - 1;
	}
	double deviation = sqrt(na * nb / 12.0 * (n + 1 - ties / (n * (n - 1))));
	double above = u - na * nb / 2.0;
	if (!(deviation > 0)) return 0;
	return (above > 0.5 ? above - 0.5 : above < -0.5 ? above + 0.5 : 0) / deviation;
}

static int by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;
	return (x > y) - (x < y);
}

static float median(const struct trial_window *w)
{
	float sorted[TRIAL_BEFORE];
	memcpy(sorted, w->took, w->n * sizeof *sorted);
	qsort(sorted, w->n, sizeof *sorted, by_value);
	return w->n % 2 ? sorted[w->n / 2] : (sorted[w->n / 2 - 1] + sorted[w->n / 2]) / 2;
}

/* Was its time going up all along (after Mann and Kendall)? Then it will be longer after, whatever was done. */
static bool was_rising(const struct trial_window *w)
{
	double up = 0, n = w->n;
	for (unsigned i = 0; i < w->n; i++)
		for (unsigned k = 0; k < i; k++) up += w->took[i] > w->took[k] ? 1 : w->took[i] < w->took[k] ? -1 : 0;
	return up > 1 && (up - 1) / sqrt(n * (n - 1) * (2 * n + 5) / 18) > RISING_Z;
}

/* Of few looks none can tell whether its time was going up already: then those after do. */
static bool is_known(const struct trial_region *r)
{
	if (r->before.n < TRIAL_BEFORE_LEAST || r->after.n < after_needed(r)) return false;
	return !was_rising(r->before.n < MANY ? &r->after : &r->before);
}

static bool is_apart(const struct trial_window *a, const struct trial_window *b)
{
	float least = a->took[0], most = a->took[0];
	unsigned above = 0, below = 0;
	for (unsigned i = 1; i < a->n; i++) {
		if (a->took[i] < least) least = a->took[i];
		if (a->took[i] > most) most = a->took[i];
	}
	for (unsigned k = 0; k < b->n; k++) {
		above += b->took[k] > most;
		below += b->took[k] < least;
	}
	return above == b->n || below == b->n;
}

/* Is what came after different from what was before by more than chance? */
static bool is_different(const struct trial_region *r)
{
	if (r->before.n < MANY) return is_apart(&r->before, &r->after);
	return fabs(rank_z(r->before.took, r->before.n, r->after.took, r->after.n)) >= TRIAL_Z;
}

/* ---- the verdict -------------------------------------------------------------------------------------- */

/* The time of all known regions, and what they have lost beyond chance. */
static float all_slower(const struct trial *t)
{
	double all = 0, lost = 0;
	for (unsigned i = 0; i < t->n; i++) {
		const struct trial_region *r = &t->region[i];
		if (!is_known(r)) continue;
		double ratio = (double)median(&r->after) / (double)median(&r->before);
		/* `all` is mostly of what is after by now */
		all += r->all / ratio;
		if (is_different(r)) lost += r->all / ratio * (ratio - 1);
	}
	return all > 0 ? (float)(lost / all) : 0;
}

/* The share of the time in regions that is in those that are known. */
static double known_share(const struct trial *t)
{
	double all = 0, known = 0;
	for (unsigned i = 0; i < t->n; i++) {
		all += t->region[i].all;
		if (is_known(&t->region[i])) known += t->region[i].all;
	}
	return all > 0 ? known / all : 0;
}

bool trial_can_judge(const struct trial *t)
{
	double all = 0, enough = 0;
	for (unsigned i = 0; i < t->n; i++) {
		all += t->region[i].all;
		if (t->region[i].last.n >= TRIAL_BEFORE_LEAST) enough += t->region[i].all;
	}
	return enough >= all / 2;
}

static void end(struct trial *t)
{
	t->moved_ns = 0;
	t->pages = 0;
	plan_clear(&t->undo);
	empty_after(t);
}

/* It was not what was taken back: it may be done again. */
static void lift_bans(struct trial *t)
{
	for (unsigned i = 0; i < TRIAL_BANS; i++)
		if (t->ban[i].until_ns && t->ban[i].made_ns == t->back_ns) t->ban[i] = (struct trial_ban){ 0 };
}

enum trial_verdict trial_judge(struct trial *t, uint64_t now_ns, float *slower)
{
	*slower = 0;
	if (!t->moved_ns) return TRIAL_OPEN;
	if (now_ns < t->moved_ns + SETTLE_NS) {
		empty_after(t);
		return TRIAL_OPEN;
	}
	/* more than half of the time, or what is known is not what matters */
	if (known_share(t) <= 0.5) {
		if (now_ns < t->moved_ns + GIVE_UP_NS) return TRIAL_OPEN;
		end(t);
		return TRIAL_UNKNOWN;
	}
	*slower = all_slower(t);
	if (t->back) {   /* half of what was to be won will do: it is not moved a third time for the rest */
		if (*slower > -(float)TRIAL_SLOWER / 2) lift_bans(t);
		end(t);
		return TRIAL_KEPT;
	}
	if (*slower >= (float)TRIAL_SLOWER) return TRIAL_WORSE;   /* its moves are needed yet */
	end(t);
	return TRIAL_KEPT;
}

/* ---- taking back -------------------------------------------------------------------------------------- */

static bool is_of(const struct trial_ban *b, const struct move *m)
{
	if (!b->until_ns || b->kind != m->kind || b->node != m->to) return false;
	if (m->kind == MOVE_THREAD) return b->thread == m->thread;
	return m->page < b->end && m->page + m->pages > b->page;
}

/* The ban of that thread, or one that this run of pages is a continuation of; or a free one, or the one that ends first. */
static struct trial_ban *find_ban(struct trial *t, const struct move *m)
{
	struct trial_ban *best = &t->ban[0];
	for (unsigned i = 0; i < TRIAL_BANS; i++) {
		struct trial_ban *b = &t->ban[i];
		if (is_of(b, m)) return b;
		if (b->until_ns < best->until_ns) best = b;
	}
	*best = (struct trial_ban){ m->kind, m->thread, m->page, m->page + m->pages, m->to, 0, 0, 0 };
	return best;
}

/* `m`: the move as it was made. */
static void add_ban(struct trial *t, const struct move *m, uint64_t now_ns)
{
	struct trial_ban *b = find_ban(t, m);
	bool again = b->made_ns == now_ns && b->until_ns;   /* this taking back has made it */
	if (m->page < b->page) b->page = m->page;
	if (m->page + m->pages > b->end) b->end = m->page + m->pages;
	if (again) return;
	unsigned doubled = b->times < BAN_DOUBLED_MOST ? b->times : BAN_DOUBLED_MOST;
	b->made_ns = now_ns;
	b->until_ns = now_ns + (BAN_NS << doubled);
	b->times++;
}

/* The moves of one kind, last first: what was moved twice comes back by the same way. */
static int add_back(struct trial *t, enum move_kind kind, struct plan *plan, const char *why, uint64_t now_ns)
{
	int ret = 0;
	for (unsigned i = t->undo.n; !ret && i-- > 0;) {
		struct move back = t->undo.move[i], made = back;
		if (back.kind != kind) continue;
		made.to = back.from;
		made.from = back.to;
		add_ban(t, &made, now_ns);
		back.reason = why;
		back.gain_ns_per_s = 0;
		ret = plan_add(plan, &back);
	}
	return ret;
}

int trial_take_back(struct trial *t, struct plan *plan, const char *why, uint64_t now_ns)
{
	int ret = add_back(t, MOVE_THREAD, plan, why, now_ns);
	if (!ret) ret = add_back(t, MOVE_PAGES, plan, why, now_ns);
	end(t);
	t->back_ns = now_ns;
	return ret;
}

unsigned trial_filter(const struct trial *t, struct plan *plan, uint64_t now_ns)
{
	unsigned kept = 0, n = plan->n;
	for (unsigned i = 0; i < n; i++) {
		const struct move *m = &plan->move[i];
		bool banned = false;
		for (unsigned k = 0; k < TRIAL_BANS && !banned; k++) banned = t->ban[k].until_ns > now_ns && is_of(&t->ban[k], m);
		if (!banned) plan->move[kept++] = *m;
	}
	plan->n = kept;
	return n - kept;
}

void trial_forget_thread(struct trial *t, uint32_t thread)
{
	for (unsigned i = 0; i < TRIAL_BANS; i++)
		if (t->ban[i].until_ns && t->ban[i].kind == MOVE_THREAD && t->ban[i].thread == thread) t->ban[i] = (struct trial_ban){ 0 };
	for (unsigned i = 0; i < t->undo.n; i++)
		if (t->undo.move[i].kind == MOVE_THREAD && t->undo.move[i].thread == thread) t->undo.move[i--] = t->undo.move[--t->undo.n];
}

void trial_free(struct trial *t)
{
	plan_free(&t->undo);
}
