#include "pure/counted.h"

#include <math.h>
#include <string.h>

#include "pure/pure.h"

#define KNOWN_NS 300000000ull    /* three looks: less may be one loop's doing */
#define SETTLE_NS 300000000ull   /* after a thread's move its pages follow for a while, and its cache is cold */
#define TRIAL_NS 2000000000ull   /* then it is judged by so much */
#define TRIAL_LEAST 1000.0f      /* accesses that a verdict needs; a thread that made fewer was not hurt */
#define HELPED_SHARE 0.9f        /* the remote share has to fall below this part of what it was */

/* Of a stream's lines as few as one in this many is a demand miss: the prefetcher has fetched the rest. */
#define PREFETCH_HIDES 8.0f

static bool goes_on(const struct counted *c, uint64_t at_ns, const uint64_t value[COUNTED_KINDS])
{
	return c->at_ns && at_ns > c->at_ns && value[COUNTED_LOCAL] >= c->last[COUNTED_LOCAL] && value[COUNTED_REMOTE] >= c->last[COUNTED_REMOTE];
}

void counted_add(struct counted *c, uint64_t at_ns, const uint64_t value[COUNTED_KINDS], uint64_t half_life_ns)
{
	if (goes_on(c, at_ns, value)) {
		uint64_t passed = at_ns - c->at_ns;
		bool on_trial = c->judge_ns && c->at_ns >= c->judge_ns + SETTLE_NS;
		/* the mean of what is known starts with the first reading, not with zero */
		float keep = c->watched_ns ? (float)exp2(-(double)passed / (double)half_life_ns) : 0;
		for (unsigned k = 0; k < COUNTED_KINDS; k++) {
			uint64_t more = value[k] - c->last[k];
			c->rate[k] = keep * c->rate[k] + (1 - keep) * (float)more / (float)passed;
			if (on_trial) c->trial[k] += more;
		}
		c->watched_ns += passed;
	}
	c->at_ns = at_ns;
	memcpy(c->last, value, sizeof c->last);
}

bool counted_known(const struct counted *c)
{
	return c->watched_ns >= KNOWN_NS;
}

static float share(float local, float remote)
{
	return local + remote > 0 ? remote / (local + remote) : 0;
}

float counted_remote_share(const struct counted *c)
{
	return share(c->rate[COUNTED_LOCAL], c->rate[COUNTED_REMOTE]);
}

float counted_part(const struct counted *c, float sampled_rate, enum counted_cover cover)
{
	float counted = c->rate[COUNTED_LOCAL] + c->rate[COUNTED_REMOTE];
	if (cover == COUNTED_DEMAND) counted *= PREFETCH_HIDES;
	return !counted_known(c) || counted >= sampled_rate ? 1 : counted / sampled_rate;
}

void counted_moved(struct counted *c, uint64_t now_ns)
{
	if (!counted_known(c)) return;
	if (!c->judge_ns) c->remote_before = counted_remote_share(c);   /* a second move joins the first one's trial */
	c->judge_ns = now_ns;
	memset(c->trial, 0, sizeof c->trial);
}

enum counted_verdict counted_judge(struct counted *c, uint64_t now_ns)
{
	float local = (float)c->trial[COUNTED_LOCAL], remote = (float)c->trial[COUNTED_REMOTE];
	if (!c->judge_ns || now_ns < c->judge_ns + SETTLE_NS + TRIAL_NS) return COUNTED_OPEN;
	c->judge_ns = 0;
	if (local + remote < TRIAL_LEAST) return COUNTED_OPEN;
	return share(local, remote) < HELPED_SHARE * c->remote_before ? COUNTED_HELPED : COUNTED_NO_HELP;
}
