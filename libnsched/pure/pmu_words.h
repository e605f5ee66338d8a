/* What the kernel's folders of performance counters say (/sys/bus/event_source/devices/NAME): which bits the words of an event mean, and
 * how many bytes a count stands for. Texts in, numbers out. */
#ifndef NSCHED_PMU_WORDS_H
#define NSCHED_PMU_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PMU_CONFIGS = 3,      /* config, config1 and config2 of perf_event_attr */
	PMU_WORD_BYTES = 64,
};

/* The next word of an event, "event=0xcd" or "edge" (which is 1) of "event=0xcd,umask=0x1,edge". 1; 0 at the end; -EINVAL. What
 * does not fit 64 bits is the largest number, for which no format has room. */
int pmu_word(const char **words, char name[PMU_WORD_BYTES], uint64_t *value);

/* Which of the configs a word means by itself, "config" (0), "config1" or "config2"; -1: it needs a format. */
int pmu_config(const char *word);

/* Puts the value's bits where a file of format/ says: "config1:0-15", "config:0-7,32-35". -EINVAL where it does not say, or the value is too large. */
int pmu_put(const char *format, uint64_t value, uint64_t config[PMU_CONFIGS]);

/* Bytes that a count stands for: "6.103515625e-5" and "MiB" are 64. -EINVAL where that is no amount of bytes. Whatever the locale. */
int pmu_bytes(const char *scale, const char *unit, double *bytes);

#endif
