#include "throttle.h"

#include "pure.h"

enum {
	SPEED_UP = 4,          /* a thread that runs little is sampled so many times as often as others while it runs, at the most... */
	FLOOR_PARTS = 4,       /* ...and only until it gives a quarter of the samples of the mean thread: a quarter more in all, at the worst */
	PASSES_MOST = 32,      /* of sharing out: each but the last finds a thread that needs less than its part */
};
#define MEAN_NS 1e9f           /* over which a thread's being busy is averaged... */
#define RISE 0.5f              /* ...but one that becomes busier is believed at once */
#define LEARN 0.3f             /* weight of a new price */
#define CHANGE 1.3             /* a period is changed by no less than this factor */

static float mean(float was, float now, float part)
{
	return was + part * (now - was);
}

void throttle_learn(struct throttle_thread *t, const struct throttle_seen *seen, const struct throttle_prices *prices, uint64_t passed_ns)
{
	float part = (float)passed_ns < MEAN_NS ? (float)passed_ns / MEAN_NS : 1, idle = 1 - (float)seen->time_ns / (float)passed_ns;
	if (idle < t->idle && part < RISE) part = RISE;
	t->idle = mean(t->idle, idle, part);
	if (!seen->samples) return;
	float samples = (float)seen->samples, decode_ns = (float)seen->decode_ns / samples;
	/* code is new once; where it is new at one look after the other, the next sample will cost that too */
	float again = decode_ns < t->decode_ns ? decode_ns : t->decode_ns;
	float price_ns = prices->sample_ns + (float)seen->accesses * prices->access_ns / samples + again;
	t->decode_ns = decode_ns;
	t->price_ns = t->price_ns > 0 ? mean(t->price_ns, price_ns, LEARN) : price_ns;
}

/* ---- sharing out -------------------------------------------------------------------------------------------------- */

static float busy(const struct throttle_thread *t)
{
	return t->idle < 1 ? 1 - t->idle : 0;
}

static float price(const struct throttle_thread *t, const struct throttle_limits *l)
{
	return t->price_ns > 0 ? t->price_ns : l->price_ns;
}

/* The period that the thread should have if money were no object. `floor`: how busy one is that needs no help. */
static double unpaid(const struct throttle_thread *t, const struct throttle_limits *l, float floor)
{
	double wanted = (double)l->wanted_ns, least = wanted / SPEED_UP;
	if (busy(t) >= floor) return wanted;
	double period = wanted * (double)(busy(t) / floor);
	return period > least ? period : least;
}

/* ns for each ns of the clock */
static double cost(const struct throttle_thread *t, const struct throttle_limits *l, float floor)
{
	return (double)busy(t) * (double)price(t, l) / unpaid(t, l, floor);
}

static float floor_of(const struct throttle_thread *thread, unsigned n)
{
	float sum = 0;
	unsigned watched = 0;
	for (unsigned i = 0; i < n; i++) {
		if (!thread[i].period_ns) continue;
		sum += busy(&thread[i]) < 1 ? busy(&thread[i]) : 1;
		watched++;
	}
	return watched ? sum / (float)watched / FLOOR_PARTS : 0;
}

/* What each may cost at the most: those that need less leave the rest to the others. 0: there is no need to look. */
static double level_of(const struct throttle_thread *thread, unsigned n, const struct throttle_limits *l, float floor)
{
	double level = 0;
	for (unsigned pass = 0; pass < PASSES_MOST; pass++) {
		double left = (double)l->budget, above = 0;
		unsigned many = 0;
		for (unsigned i = 0; i < n; i++) {
			if (!thread[i].period_ns) continue;
			double c = cost(&thread[i], l, floor);
			if (level > 0 && c <= level) left -= c;
			else above += c, many++;
		}
		if (!many || above <= left) return level;
		double next = left / many;
		if (next <= level) return level;
		level = next;
	}
	return level;
}

static uint64_t within(double period, const struct throttle_limits *l)
{
	return period < (double)l->longest_ns ? (uint64_t)period : l->longest_ns;
}

void throttle_share(const struct throttle_thread *thread, unsigned n, const struct throttle_limits *l, uint64_t *period_ns)
{
	float floor = floor_of(thread, n);
	double level = level_of(thread, n, l, floor);
	for (unsigned i = 0; i < n; i++) {
		period_ns[i] = 0;
		if (!thread[i].period_ns) continue;
		double period = unpaid(&thread[i], l, floor), c = cost(&thread[i], l, floor);
		if (level > 0 && c > level) period *= c / level;
		period_ns[i] = within(period, l);
	}
}

int throttle_differs(uint64_t period_ns, uint64_t wanted_ns)
{
	double change = (double)wanted_ns / (double)period_ns;
	return change >= CHANGE || change <= 1 / CHANGE;
}
