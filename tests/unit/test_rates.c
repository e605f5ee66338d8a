/* How samples are shared out among threads: tables of threads and what they may cost, and the periods that come of it. */
#include <check.h>

#include "made.h"
#include "pure/throttle.h"

enum {
	WANTED_NS = 4000000,
	LONGEST_NS = 100000000,
	THREADS = 8,
	STEP_NS = 100000000,
};

#define MS 1000000.0

/* of a thread: how much of its time it runs, and what a sample of it takes; the period in ms that it should get */
struct row { float busy, price_ns; double period_ms; };

static const struct share_case {
	const char *what;
	float budget;              /* ns of each ns */
	unsigned n;
	struct row row[THREADS];
} share_cases[] = {
	{ "all can be paid", 1, 2, { { 1, 4000, 4 }, { 1, 4000, 4 } } },
	{ "just so", 0.002f, 2, { { 1, 4000, 4 }, { 1, 4000, 4 } } },
	{ "half can be paid, all alike", 0.001f, 2, { { 1, 4000, 8 }, { 1, 4000, 8 } } },
	{ "a tenth, and the slowest there is", 0.000001f, 2, { { 1, 4000, 100 }, { 1, 4000, 100 } } },
	{ "one is dear: it alone is slowed", 0.005f, 4, { { 1, 4000, 4 }, { 1, 400000, 200 / 2.0 }, { 1, 4000, 4 }, { 1, 4000, 4 } } },
	{ "one is dear, and gets what the others leave", 0.02f, 4, { { 1, 4000, 4 }, { 1, 170000, 10 }, { 1, 4000, 4 }, { 1, 4000, 4 } } },
	{ "two are dear, one more than the other: both the same", 0.022f, 4, { { 1, 4000, 4 }, { 1, 100000, 10 }, { 1, 200000, 20 }, { 1, 4000, 4 } } },
	{ "one gives more samples than it should", 0.006f, 4, { { 1, 4000, 4 }, { 20, 4000, 80 / 3.0 }, { 1, 4000, 4 }, { 1, 4000, 4 } } },
	{ "one runs little: four times as often while it runs", 1, 4, { { 1, 4000, 4 }, { 0.01f, 4000, 1 }, { 1, 4000, 4 }, { 1, 4000, 4 } } },
	{ "one runs less than a quarter of the mean: until it gives that", 1, 2, { { 0.1f, 4000, 4 * 0.1 / 0.1375 }, { 1, 4000, 4 } } },
	{ "one that runs half of its time needs no help", 1, 2, { { 0.5f, 4000, 4 }, { 1, 4000, 4 } } },
	{ "all run little, and alike: none is helped", 1, 3, { { 0.03f, 4000, 4 }, { 0.03f, 4000, 4 }, { 0.03f, 4000, 4 } } },
	{ "one that runs little is not slowed with the others", 0.001175f, 3, { { 1, 4000, 8 }, { 0.1f, 4000, 4 * 0.1 / 0.175 }, { 1, 4000, 8 } } },
	{ "nothing runs", 1, 2, { { 0, 4000, 4 }, { 0, 4000, 4 } } },
	{ "a price that is not known is the usual one", 0.001f, 2, { { 1, 0, 8 }, { 1, 0, 8 } } },
	{ "nobody is there", 1, 0, { { 0 } } },
};

static struct throttle_thread made(const struct row *row)
{
	return (struct throttle_thread){ .period_ns = WANTED_NS, .idle = 1 - row->busy, .price_ns = row->price_ns };
}

START_TEST(shared_out)
{
	const struct share_case *c = &share_cases[_i];
	struct throttle_limits limits = { .wanted_ns = WANTED_NS, .longest_ns = LONGEST_NS, .budget = c->budget, .price_ns = 4000 };
	struct throttle_thread thread[THREADS + 1] = { { 0 } };    /* the last is not sampled */
	uint64_t period_ns[THREADS + 1];
	for (unsigned i = 0; i < c->n; i++) thread[i] = made(&c->row[i]);
	throttle_share(thread, c->n + 1, &limits, period_ns);
	for (unsigned i = 0; i < c->n; i++)
		ck_assert_msg(period_ns[i] > 0.98 * c->row[i].period_ms * MS && period_ns[i] < 1.02 * c->row[i].period_ms * MS, "%s: thread %u: %.2f ms, not %.2f",
		              c->what, i, (double)period_ns[i] / MS, c->row[i].period_ms);
	ck_assert_uint_eq(period_ns[c->n], 0);
}
END_TEST

/* A thousand, of all kinds: the sum is held, unless all are as slow as can be. */
START_TEST(sum_is_held)
{
	enum { MANY = 1024 };
	static struct throttle_thread thread[MANY];
	static uint64_t period_ns[MANY];
	struct throttle_limits limits = { .wanted_ns = WANTED_NS, .longest_ns = LONGEST_NS, .budget = 0.05f, .price_ns = 4000 };
	double sum = 0;
	for (unsigned i = 0; i < MANY; i++)
		thread[i] = (struct throttle_thread){ .period_ns = 1, .idle = (float)(i % 10) / 10, .price_ns = (float)(1000 + 500 * (i * 37 % 11)) };
	throttle_share(thread, MANY, &limits, period_ns);
	for (unsigned i = 0; i < MANY; i++) {
		sum += (1 - (double)thread[i].idle) * (double)thread[i].price_ns / (double)period_ns[i];
		ck_assert_uint_ge(period_ns[i], WANTED_NS / 4);
	}
	ck_assert_msg(sum > 0.045 && sum < 0.0505, "%f", sum);
}
END_TEST

/* What is learned of a thread, look after look. */
static const struct learn_case {
	const char *what;
	unsigned samples, accesses;
	uint64_t time_ns, decode_ns;
	bool always;               /* decoding: each time, or the first time only */
	float busy, price_ns;      /* after a while */
} learn_cases[] = {
	{ "always busy, two accesses a sample", 25, 50, STEP_NS, 0, false, 1, 1000 + 2 * 500 },
	{ "a tenth of its time", 2, 2, STEP_NS / 10, 0, false, 0.1f, 1500 },
	{ "all lost", 0, 0, STEP_NS, 0, false, 1, 0 },
	{ "no addresses", 25, 0, STEP_NS, 0, false, 1, 1000 },
	{ "more than was asked for", 250, 250, 10ull * STEP_NS, 0, false, 10, 1500 },
	{ "code that is new once", 25, 25, STEP_NS, 25000000, false, 1, 1500 },
	{ "code that is new again and again", 25, 25, STEP_NS, 25000000, true, 1, 1001500 },
	{ "none came", 0, 0, 0, 0, false, 0, 0 },
};

START_TEST(learned)
{
	const struct learn_case *c = &learn_cases[_i];
	struct throttle_prices prices = { .sample_ns = 1000, .access_ns = 500 };
	struct throttle_thread thread = { .period_ns = WANTED_NS };
	for (unsigned look = 0; look < 60; look++) {
		struct throttle_seen seen = { c->samples, c->accesses, c->time_ns, c->always || !look ? c->decode_ns : 0 };
		throttle_learn(&thread, &seen, &prices, STEP_NS);
	}
	float busy = 1 - thread.idle;
	ck_assert_msg(busy > c->busy - 0.02f && busy < c->busy + 0.02f, "%s: busy %f", c->what, (double)busy);
	ck_assert_msg(thread.price_ns >= 0.99f * c->price_ns && thread.price_ns <= 1.01f * c->price_ns, "%s: %f ns", c->what, (double)thread.price_ns);
}
END_TEST

/* One that begins to run is seen at once; one that stops, within two seconds. */
START_TEST(quick_up_slow_down)
{
	struct throttle_prices prices = { .sample_ns = 1000 };
	struct throttle_thread thread = { .period_ns = WANTED_NS, .idle = 1 };
	struct throttle_seen busy = { .samples = 25, .time_ns = STEP_NS }, none = { 0 };
	for (unsigned look = 0; look < 4; look++) throttle_learn(&thread, &busy, &prices, STEP_NS);
	ck_assert(thread.idle < 0.1f);
	for (unsigned look = 0; look < 4; look++) throttle_learn(&thread, &none, &prices, STEP_NS);
	ck_assert(thread.idle < 0.5f);
	for (unsigned look = 0; look < 20; look++) throttle_learn(&thread, &none, &prices, STEP_NS);
	ck_assert(thread.idle > 0.9f);
}
END_TEST

static void add(TCase *tcase)
{
	made_loop(tcase, shared_out, share_cases);
	tcase_add_test(tcase, sum_is_held);
	made_loop(tcase, learned, learn_cases);
	tcase_add_test(tcase, quick_up_slow_down);
}

int main(void)
{
	return made_main("rates", add);
}
