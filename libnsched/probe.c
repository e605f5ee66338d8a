#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sys/bandwidth.h"
#include "sys/clock.h"
#include "sys/counter.h"
#include "sys/kernel_faults.h"
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

/* The counters, as counters=auto starts them. */
static void probe_counters(nsched_source_t *out)
{
	struct counter_about about;
	char why[COUNTER_WHY] = "";
	void *state = NULL;
#ifdef NSCHED_WITH_PAPI
	struct counter_setup setup = { .events = "", .root = "", .max_threads = 1 };
	out->error = counter_papi.start(&setup, &state, &about, why);
	if (!out->error) counter_papi.stop(state);
#else
	(void)state;
	(void)about;
	out->error = -ENOSYS;
	snprintf(why, sizeof why, "this build has no PAPI");
#endif
	if (out->error) snprintf(out->why, sizeof out->why, "%.*s", (int)sizeof out->why - 1, why[0] ? why : "PAPI gave no reason");
}

/* The kernel's statistics, as a session reads them. */
static void probe_kernel(nsched_source_t *out)
{
	struct kernel_faults faults;
	int balances = kernel_balancing("");
	const char *why = "";
	if (!balances) {
		out->error = -ENODATA;
		why = "the kernel does not balance; root may let it: sysctl kernel.numa_balancing=1";
	} else if (!(balances & KERNEL_BALANCES)) {
		out->error = -ENODATA;
		why = "kernel.numa_balancing=2 is tiering: its statistics are of slow memory only";
	} else {
		out->error = kernel_faults_read((pid_t)getpid(), &faults, NULL, NULL);
		if (out->error) why = "this kernel tells no numa_faults in /proc/PID/sched";
	}
	snprintf(out->why, sizeof out->why, "%s", why);
}

static void probe_bandwidth(nsched_source_t *out)
{
	char why[BANDWIDTH_WHY] = "";
	const char *counted_by;
	void *state = NULL;
	out->error = bandwidth_uncore.start("", &state, &counted_by, why);
	if (!out->error) bandwidth_uncore.stop(state);
	else snprintf(out->why, sizeof out->why, "%s", why);
}

/* What tells of threads or of memory as a whole, not of single accesses. */
static const struct {
	const char *name;
	void (*probe)(nsched_source_t *out);
} others[] = { { "counters", probe_counters }, { "kernel-faults", probe_kernel }, { "bandwidth", probe_bandwidth } };

enum { OTHERS = sizeof others / sizeof others[0] };

static void probe_other(unsigned i, nsched_source_t *out)
{
	uint64_t begin_ns = clock_linux.now_ns(NULL);
	memset(out, 0, sizeof *out);
	snprintf(out->name, sizeof out->name, "%s", others[i].name);
	others[i].probe(out);
	out->probe_us = (uint32_t)((clock_linux.now_ns(NULL) - begin_ns) / 1000);
}

int probe_sources(nsched_source_t *source, size_t size, unsigned most)
{
	for (unsigned i = 0; i < SOURCES + OTHERS && i < most; i++) {
		nsched_source_t one;
		if (i < SOURCES) probe(sources[i], &one);
		else probe_other(i - SOURCES, &one);
		memcpy((char *)source + i * size, &one, size < sizeof one ? size : sizeof one);
	}
	return SOURCES + OTHERS;
}
