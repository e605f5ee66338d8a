/* What was moved is on trial (pure/trial.h), and is taken back where it made the program's regions slower. Only what this process
 * decides by itself: where one plans for several, it can't see their regions. */
#include "log.h"
#include "session.h"

static const char why[] = "back: regions got slower";

void session_on_trial(struct session *s, const struct move *move, uint32_t pages)
{
	bool alone = s->mode == NEIGHBOURS_ALONE;
	if (alone) (void)trial_moved(&s->trial, move, pages, s->taking_back, s->last_ns);   /* without memory: it can't be taken back */
}

/* Moves of a program that has just begun wait for a look or two, or what they are worth could never be told: but no longer than anybody would
 * call late, since regions may be long. */
bool session_awaits_looks(const struct session *s)
{
	enum { WAIT_MOST_MS = 500 };
	return s->mode == NEIGHBOURS_ALONE && s->last_ns - s->start_ns < WAIT_MOST_MS * 1000000ull && !trial_can_judge(&s->trial);
}

/* As much as may go in this step; the rest stays for the next. Threads, which are first, go at once. */
static int take_some(struct session *s, uint64_t budget)
{
	unsigned kept = 0;
	int ret = 0;
	for (unsigned i = 0; i < s->back.n; i++) {
		struct move move = s->back.move[i];
		if (move.kind == MOVE_PAGES && move.pages > budget) move.pages = (uint32_t)budget;
		if (!ret && (move.kind == MOVE_THREAD || move.pages)) ret = plan_add(&s->plan, &move);
		if (move.kind == MOVE_THREAD || (move.pages == s->back.move[i].pages)) {
			budget -= move.kind == MOVE_PAGES ? move.pages : 0;
			continue;
		}
		budget = 0;
		struct move rest = s->back.move[i];
		rest.page += move.pages;
		rest.pages -= move.pages;
		s->back.move[kept++] = rest;
	}
	s->back.n = kept;
	return ret;
}

int session_take_back(struct session *s, uint64_t budget_pages)
{
	float slower;
	s->taking_back = false;
	int ret = 0;
	if (trial_judge(&s->trial, s->last_ns, &slower) == TRIAL_WORSE) {
		ret = trial_take_back(&s->trial, &s->back, why, s->last_ns);
		s->totals.reverts += s->back.n;
		if (s->config.verbose) log_line("regions got slower by %.0f %% since things moved: %u moves are taken back", (double)(100 * slower), s->back.n);
	}
	if (ret || !s->back.n) return ret;
	s->taking_back = true;
	return take_some(s, budget_pages);
}
