/* The folders of /sys/bus/event_source/devices, in which the kernel tells of its performance counters; pure/pmu_words.h knows what is in them. */
#ifndef NSCHED_PMU_H
#define NSCHED_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

enum { PMU_TEXT_BYTES = 128 };

/* Below `root`, which is in front of /sys (""). */
#define PMU_DEVICES "/sys/bus/event_source/devices"

/* A file of the device without its line's end, cut where it is longer; false where it is not there, or empty. */
bool pmu_file(const char *root, const char *device, const char *name, char text[PMU_TEXT_BYTES]);

/* perf_event_attr's type of the device. */
bool pmu_type(const char *root, const char *device, uint32_t *type);

/* An event in words, "event=0xcd,umask=0x1,ldlat=3", by the device's formats into config, config1 and config2. 0 or -EINVAL. */
int pmu_event(const char *root, const char *device, const char *words, struct perf_event_attr *attr);

#endif
