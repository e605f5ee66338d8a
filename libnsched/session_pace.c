#include <math.h>

#include "session.h"

/* How often to look, and how much that may cost. Often while things change; seldom, and with fewer samples, once nothing has
 * changed for a while: then what is known is enough, and each look is the program's time. The kernel's NUMA balancing slows its
 * scanning in the same way where faults are local (update_task_scan_period). */

enum {
	/* What watching may take before the program has run long enough to have earned it, since most is learned at the start: what so many samples
	 * take here, which eight threads give in six seconds. That is some 50 ms of a real machine's time, and three seconds of an emulated one's. */
	START_SAMPLES = 12000,
	WAIT_MOST_MS = 2000,      /* so that a change is seen within three seconds however dear steps are */
	CALM_NS = 500000000,      /* nothing changed for so long... */
	CALM_LOCAL_NS = 250000000,/* ...or so long, where nearly all is local... */
	CALM_STEPS = 2,           /* ...and in so many steps that saw something: half as often; twice as long and one step more: a quarter... */
	CALM_TRIAL = 1,           /* ...but no longer while moves are on trial: it takes a dozen looks, and what was wrong should not last */
	CALM_MOST = 4,            /* ...and a sixteenth at the least: 1.6 s, at the default, so that a change is followed within 3 s */
	FEW_PAGES = 64,           /* moves of less than one in so many of the pages that are used are tidying, no change */
	PROBES_LEAST = 48,        /* accesses that a step has to have seen for its local share to say something */
	SIGMAS = 3,               /* of what so many accesses show by chance */
};
#define ASLEEP 0.02               /* of a CPU: what a program with less does in a step is nothing that could be seen */
#define NEARLY_ALL 0.85f          /* local: little is left to be gained */
#define SHARE_FELL 0.1f           /* of a step, below what it was lately: less is no change, or soon shows as more */
#define SHARE_RATE 0.25f          /* weight of a new step in what it was lately */

uint64_t session_program_cpu_ns(const struct session *s)
{
	return s->clock->process_cpu_ns(s->clock_state) - s->start_cpu_ns;
}

static uint64_t start_credit_ns(const struct session *s)
{
	return (uint64_t)(START_SAMPLES * (s->access_ns + (float)session_sample_ns(s)));
}

int64_t session_credit_ns(const struct session *s)
{
	uint64_t earned = session_program_cpu_ns(s) / 1000 * s->config.overhead_permille + start_credit_ns(s);
	return (int64_t)earned - (int64_t)(s->totals.own_cpu_ns + s->totals.sampled_ns - s->totals.moving_cpu_ns);
}

unsigned session_calm(const struct session *s)
{
	uint64_t quiet = (s->last_ns - s->pace.changed_ns) / (s->pace.local > NEARLY_ALL ? CALM_LOCAL_NS : CALM_NS);
	unsigned calm = 0, most = s->trial.moved_ns && s->trial.n ? CALM_TRIAL : CALM_MOST;
	while (calm < most && quiet >> calm && s->pace.steps >= CALM_STEPS + calm) calm++;
	return calm;
}

/* In debt, the program's CPU time of a while has to be earned first. */
uint64_t session_wait_ms(const struct session *s)
{
	int64_t credit = session_credit_ns(s);
	uint64_t interval = s->config.interval_ms, wait = interval << session_calm(s), run_ns = s->last_ns - s->start_ns;
	if (wait > WAIT_MOST_MS) wait = interval > WAIT_MOST_MS ? interval : WAIT_MOST_MS;
	if (run_ns) {
		double earned_per_ns = (double)session_program_cpu_ns(s) / (double)run_ns * (double)s->config.overhead_permille / 1000;
		/* in debt: what is owed; else the last step's fixed price by halves, so that the other half is for samples */
		double owed = credit < 0 ? (double)-credit : credit < (int64_t)start_credit_ns(s) / 4 ? 2 * (double)s->fixed_ns : 0;
		double ms = earned_per_ns > 0 ? owed / earned_per_ns / 1e6 : 0;
		if (ms > (double)wait) wait = ms < WAIT_MOST_MS ? (uint64_t)ms : WAIT_MOST_MS;
	}
	return wait;
}

static uint64_t pages_used(const struct session *s)
{
	uint64_t pages = 0;
	for (unsigned i = 0; i < s->n_leaves; i++) pages += s->leaf[i].pages;
	return pages;
}

/* Is much less local than it was? */
static bool share_fell(struct session *s)
{
	float was = s->pace.local;
	if (s->n_probes < PROBES_LEAST || s->local < 0) return false;
	s->pace.local = was > 0 ? was + SHARE_RATE * (s->local - was) : s->local;
	float chance = SIGMAS * sqrtf(was * (1 - was) / (float)s->n_probes);
	return s->local < was - (chance > SHARE_FELL ? chance : SHARE_FELL);
}

/* Whether the program sleeps, as ranks do that wait for others without polling. True: it has just woken up. */
static bool wakes(struct session *s)
{
	uint64_t cpu = session_program_cpu_ns(s), own = s->totals.own_cpu_ns;   /* (the step before's is in both by now) */
	double ran = (double)(cpu - s->pace.cpu_ns) - (double)(own - s->pace.own_ns);
	bool slept = s->pace.sleeps;
	s->pace.sleeps = s->pace.at_ns && ran < ASLEEP * (double)(s->last_ns - s->pace.at_ns);
	s->pace.cpu_ns = cpu;
	s->pace.own_ns = own;
	s->pace.at_ns = s->last_ns;
	return slept && !s->pace.sleeps;
}

void session_pace(struct session *s, const struct session_totals *before)
{
	unsigned live = session_live(s);
	bool moved = s->totals.thread_moves != before->thread_moves || (s->totals.moved_pages - before->moved_pages) * FEW_PAGES > pages_used(s);
	bool held = s->totals.held.budget != before->held.budget;     /* there is more to be moved */
	bool fell = share_fell(s), woke = wakes(s);
	/* that nothing was touched, as in a library's waiting loop, was seen as well, and so is that nothing runs */
	if (s->totals.samples != before->samples || s->taken || s->pace.sleeps) s->pace.steps++;
	if (moved) s->pace.local = 0;   /* what it was lately says nothing any more */
	if (moved || held || fell || woke || live != s->pace.live) {
		s->pace.changed_ns = s->last_ns;
		s->pace.steps = 0;
	}
	s->pace.live = live;
}
