/* Memory controllers that count: which of the kernel's counters tell how many bytes memory served, and what becomes of their readings. What
 * is read where is sys/bandwidth_uncore.c's.
 *
 * They count for the whole machine, all programs together: how busy memory is, not whose accesses they are. */
#ifndef NSCHED_UNCORE_H
#define NSCHED_UNCORE_H

#include <stdbool.h>
#include <stdint.h>

enum uncore_way { UNCORE_READ, UNCORE_WRITTEN, UNCORE_EITHER, UNCORE_WAYS };

/* Whose memory a controller is that the kernel reads by one CPU: that CPU's die's, package's or node's. Where the package is cut into
 * several nodes (sub-NUMA clusters, NPS2 and 4), the kernel does not tell which of them: then it is told of all of them together. */
enum uncore_reach { UNCORE_DIE, UNCORE_PACKAGE, UNCORE_NODE };

enum { UNCORE_EVENTS = 6, UNCORE_DEVICES = 2 };

struct uncore_event {
	const char *name;        /* of its file in events/ */
	const char *words;       /* the event itself, where the kernel names it in its tools and not in /sys; else NULL */
	float bytes;             /* of a count; 0: as the files .scale and .unit say */
	enum uncore_way way;
};

struct uncore_kind {
	const char *name;                         /* for people */
	const char *device[UNCORE_DEVICES];       /* names of its folders; # is a number. NULL behind the last */
	enum uncore_reach reach;
	struct uncore_event event[UNCORE_EVENTS]; /* those of them that are there count; without name behind the last */
};

/* The kind that a folder of /sys/bus/event_source/devices is; NULL: another thing. */
const struct uncore_kind *uncore_kind_of(const char *device);

/* A counter as it was read: what it counted, how long it was wanted and how long it ran, in ns. */
struct uncore_read { uint64_t value, enabled, running; };

/* Counts since the last reading, which `now` replaces. One that had to share the hardware ran a part of the time only and is
 * scaled up; one that did not run at all, or went back, tells nothing: false. */
bool uncore_since(struct uncore_read *last, const struct uncore_read *now, double *counts);

/* Bytes of some memory, and how many a second. All zero at the start. */
struct uncore_meter {
	uint64_t at_ns;            /* of the last reading; 0: none */
	double last[UNCORE_WAYS], bytes[UNCORE_WAYS];
	double watched_ns;
	float now_mbs, most_mbs;   /* of all ways together, 10^6 bytes a second, since the last reading; and the most that was */
};

/* A reading: bytes since some beginning, at `at_ns`. */
void uncore_meter_add(struct uncore_meter *meter, uint64_t at_ns, const double bytes[UNCORE_WAYS]);

/* The mean rate of one way, 10^6 bytes a second. */
float uncore_meter_mbs(const struct uncore_meter *meter, enum uncore_way way);

/* All that was counted. */
double uncore_meter_bytes(const struct uncore_meter *meter);

#endif
