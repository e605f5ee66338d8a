/* Which events count local and remote accesses to memory: by the user's word, or by CPU from
 * counter_events.def. Reads text, touches nothing. */
#ifndef NSCHED_COUNTER_EVENTS_H
#define NSCHED_COUNTER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

enum { EVENT_NAME_BYTES = 256, CPU_NAME_BYTES = 64 };

struct counter_events {
	char local[EVENT_NAME_BYTES], remote[EVENT_NAME_BYTES];
	bool total;         /* `local` counts remote ones too */
	bool demand;        /* leaves out what prefetchers fetch */
	bool named;         /* by the user */
};

/* "LOCAL,REMOTE". 0, or -EINVAL and what is wrong in `why`. */
int counter_events_named(const char *text, struct counter_events *events, char *why, size_t bytes);

/* From the text of /proc/cpuinfo. 0, or -ENOENT where the table does not have the CPU, which `cpu` names. */
int counter_events_of_cpu(const char *cpuinfo, struct counter_events *events, char cpu[CPU_NAME_BYTES]);

#endif
