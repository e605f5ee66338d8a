#include <stdlib.h>
#include <string.h>

#include "session.h"

enum {
	PERIOD_LONGEST_NS = 100000000, /* 10 samples a second and thread: slower is blind; while nothing changes, a part of it */
	ROOM_LEAST = 64,
};

/* Of that many more bytes each, the first `n` of `was`; NULL: no memory. */
static void *larger(void *was, unsigned n, unsigned room, size_t bytes)
{
	char *now = realloc(was, room * bytes);
	if (now) memset(now + n * bytes, 0, (room - n) * bytes);
	return now;
}

/* Without room a thread keeps the rate that it began with. */
static bool has_room(struct session_rates *r, unsigned thread)
{
	unsigned room = r->n ? r->n : ROOM_LEAST;
	if (thread < r->n) return true;
	while (room <= thread) room *= 2;
	void *threads = larger(r->thread, r->n, room, sizeof *r->thread);
	if (threads) r->thread = threads;
	void *seen = larger(r->seen, r->n, room, sizeof *r->seen);
	if (seen) r->seen = seen;
	void *wanted = larger(r->wanted_ns, r->n, room, sizeof *r->wanted_ns);
	if (wanted) r->wanted_ns = wanted;
	if (!threads || !seen || !wanted) return false;
	r->n = room;
	return true;
}

void session_rate_begin(struct session *s, unsigned thread)
{
	if (!has_room(&s->rates, thread)) return;
	s->rates.thread[thread] = (struct throttle_thread){ .period_ns = s->period_ns };
	s->rates.seen[thread] = (struct throttle_seen){ 0 };
}

void session_rate_end(struct session *s, unsigned thread)
{
	if (thread < s->rates.n) s->rates.thread[thread].period_ns = 0;
}

void session_rates_take(void *arg, const struct source_taken *taken)
{
	struct session *s = arg;
	if (taken->thread >= s->rates.n) return;
	struct throttle_seen *seen = &s->rates.seen[taken->thread];
	seen->samples += taken->samples;
	seen->accesses += taken->accesses;
	seen->time_ns += taken->time_ns;
	seen->decode_ns += taken->decode_ns;
}

static void set_period(struct session *s, unsigned thread, uint64_t period_ns)
{
	s->rates.thread[thread].period_ns = period_ns;
	for (unsigned i = 0; i < s->n_sources; i++)
		if (s->source[i].on && s->source[i].ops->set_period) s->source[i].ops->set_period(s->source[i].state, thread, period_ns);
}

uint64_t session_period_longest(const struct session *s)
{
	return (uint64_t)PERIOD_LONGEST_NS << session_calm(s);
}

/* As many samples as can be taken in, which are `most` accesses a step, and no more: what is not taken in costs the program's
 * threads a signal for nothing. */
void session_set_rates(struct session *s, unsigned most, uint64_t passed_ns)
{
	struct session_rates *r = &s->rates;
	struct throttle_prices prices = { .sample_ns = (float)session_sample_ns(s), .access_ns = s->access_ns };
	struct throttle_limits limits = { .wanted_ns = s->period_ns << session_calm(s), .longest_ns = session_period_longest(s),
	                                  .price_ns = prices.sample_ns + prices.access_ns };
	unsigned n = r->n < s->registry->seen_n ? r->n : s->registry->seen_n;
	if (!passed_ns || !limits.wanted_ns) return;
	limits.budget = (float)most * limits.price_ns / (float)passed_ns;
	for (unsigned t = 0; t < n; t++) {
		if (r->thread[t].period_ns) throttle_learn(&r->thread[t], &r->seen[t], &prices, passed_ns);
		r->seen[t] = (struct throttle_seen){ 0 };
	}
	throttle_share(r->thread, n, &limits, r->wanted_ns);
	for (unsigned t = 0; t < n; t++)
		if (r->thread[t].period_ns && throttle_differs(r->thread[t].period_ns, r->wanted_ns[t])) set_period(s, t, r->wanted_ns[t]);
}

void session_free_rates(struct session *s)
{
	free(s->rates.thread);
	free(s->rates.seen);
	free(s->rates.wanted_ns);
	s->rates = (struct session_rates){ 0 };
}
