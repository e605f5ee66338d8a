#include "probe.h"

#include <stdio.h>
#include <string.h>

#include "sys/clock.h"
#include "sys/source.h"

/* Every source there is, best first, whatever the options say; a test holds it against source.h. */
static const struct source_ops *const sources[] = {
	&source_mem,
	&source_clock_perf,
	&source_clock_timer,
	&source_faults,
};

enum {
	SOURCES = sizeof sources / sizeof sources[0],
	PERIOD_NS = 4000000,   /* the default's: 250 samples a second */
};

static void drop(void *arg, const struct access *a)
{
	(void)arg;
	(void)a;
}

/* Some find out at their first poll only that they can't go on. */
static int start(const struct source_ops *ops, void **state, char why[SOURCE_WHY])
{
	struct source_setup setup = { .period_ns = PERIOD_NS, .max_threads = 1 };
	struct sink sink = { drop, NULL };
	int ret = ops->start(&setup, state, why);
	if (ret || !ops->poll) return ret;
	ret = ops->poll(*state, &sink, 1);
	if (ret >= 0) return 0;
	source_lost(ret, why);
	if (ops->stop) ops->stop(*state);
	return ret;
}

/* Each for itself: one that stands in for another is tried all the same. */
static void probe(const struct source_ops *ops, nsched_source_t *out)
{
	char why[SOURCE_WHY] = "";
	void *state = NULL;
	uint64_t begin_ns = clock_linux.now_ns(NULL);
	memset(out, 0, sizeof *out);
	out->error = start(ops, &state, why);
	out->probe_us = (uint32_t)((clock_linux.now_ns(NULL) - begin_ns) / 1000);
	snprintf(out->name, sizeof out->name, "%s", ops->name);
	if (!out->error && ops->stop) ops->stop(state);
	else if (out->error && why[0]) snprintf(out->why, sizeof out->why, "%s", why);
	else if (out->error) snprintf(out->why, sizeof out->why, "error %d", -out->error);
}

int probe_sources(nsched_source_t *source, size_t size, unsigned most)
{
	for (unsigned i = 0; i < SOURCES && i < most; i++) {
		nsched_source_t one;
		probe(sources[i], &one);
		memcpy((char *)source + i * size, &one, size < sizeof one ? size : sizeof one);
	}
	return SOURCES;
}
