/* Which hardware samples memory accesses here, and how it is asked to: from /sys/bus/event_source/devices. */
#ifndef NSCHED_MEM_PMU_H
#define NSCHED_MEM_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum mem_pmu_kind { MEM_PMU_INTEL, MEM_PMU_IBS, MEM_PMU_IBS_RAW, MEM_PMU_SPE };

enum {
	/* Loads that took less were served by a cache, L3 included; fewer samples are thrown away. */
	MEM_LATENCY_LEAST = 80,
	MEM_WHY = 120,
};

struct mem_pmu {
	enum mem_pmu_kind kind;
	const char *name;                 /* for the report */
	struct perf_event_attr attr;      /* without period */
	bool has_leader;                  /* Sapphire Rapids and later: loads are sampled in a group, behind this */
	struct perf_event_attr leader;
	bool has_stores;                  /* Intel: an event of its own */
	struct perf_event_attr stores;
};

/* `root` is in front of /sys (""); `release` the kernel's ("6.1.0-13-amd64"): IBS is told in the common form from
 * 6.1 on. 0, -ENODEV without any, -EINVAL where /sys says what can't be, with the reason. */
int mem_pmu_find(const char *root, const char *release, struct mem_pmu *pmu, char why[MEM_WHY]);

#endif
