/* How busy the memory of the nodes is, for the report and for PAPI: the whole machine's programs are in it, so nothing is decided by it, and
 * a record has no need of it. */
#include <errno.h>
#include <stdio.h>

#include "session.h"
#include "sys/cpulist.h"

/* A reading interrupts a CPU of each package for some microseconds for each of its dozen controllers: below a hundredth of a percent. */
#define EACH_NS 1000000000ull

/* Counters that saw nothing in so long are there by name only, as in some virtual machines. */
#define DEAD_NS 15000000000ull

void session_start_bandwidth(struct session *s, const struct bandwidth_ops *ops)
{
	struct session_bandwidth *b = &s->bandwidth;
	b->ops = ops;
	if (!ops || !s->config.bandwidth) {
		snprintf(b->why, sizeof b->why, "%s", ops ? "bandwidth=0" : "not read by this process; of the ranks on a machine, the first one reads it");
		return;
	}
	int ret = ops->start("", &b->state, &b->counted_by, b->why);
	b->on = ret == 0;
	if (!b->on && !b->why[0]) snprintf(b->why, sizeof b->why, "error %d", -ret);
}

static void stop(struct session_bandwidth *b, const char *why)
{
	if (!b->on) return;
	b->on = false;
	snprintf(b->why, sizeof b->why, "%s", why);
	b->ops->stop(b->state);
}

static void read_all(struct session *s)
{
	struct session_bandwidth *b = &s->bandwidth;
	uint64_t at_ns;
	int n = b->ops->read(b->state, &at_ns, b->part, BANDWIDTH_PARTS);
	b->read_ns = s->last_ns;
	if (n < 0) {
		char why[BANDWIDTH_WHY];
		snprintf(why, sizeof why, "lost in mid-run (error %d)", -n);
		stop(b, why);
		return;
	}
	double bytes = 0;
	b->n = (unsigned)n;
	b->readings++;
	b->now_mbs = b->busiest_mbs = 0;
	for (unsigned i = 0; i < b->n; i++) {
		uncore_meter_add(&b->meter[i], at_ns, b->part[i].bytes);
		bytes += uncore_meter_bytes(&b->meter[i]);
		b->now_mbs += b->meter[i].now_mbs;
		if (b->meter[i].now_mbs > b->busiest_mbs) b->busiest_mbs = b->meter[i].now_mbs;
	}
	if (!(bytes > 0) && b->n && b->meter[0].watched_ns > (double)DEAD_NS)
		stop(b, "the counters stay at zero: this machine (a virtual one?) has them by name only");
}

void session_read_bandwidth(struct session *s)
{
	if (s->bandwidth.on && (!s->bandwidth.readings || s->last_ns - s->bandwidth.read_ns >= EACH_NS)) read_all(s);
}

void session_stop_bandwidth(struct session *s)
{
	if (s->bandwidth.on) read_all(s);
	stop(&s->bandwidth, "stopped at the end");
}

void session_bandwidth_nodes(uint64_t nodes_os, char *text, size_t bytes)
{
	struct cpu_mask nodes = { { nodes_os } };   /* lists of nodes are written like lists of CPUs */
	cpulist_print(&nodes, text, bytes);
}
