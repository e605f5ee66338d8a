/* The kernel's lists of CPUs: "0-3,8,10-11". */
#ifndef NSCHED_CPULIST_H
#define NSCHED_CPULIST_H

#include "sys/cpumask.h"

/* 0 and the CPUs; -EINVAL where it is not such a list (nothing, a word, 3-1), -ERANGE beyond MACHINE_CPUS. */
int cpulist_parse(const char *text, struct cpu_mask *mask);

/* The list into `text`, cut with "..." where it does not fit (16 bytes are the least). Returns `text`. */
char *cpulist_print(const struct cpu_mask *mask, char *text, size_t bytes);

unsigned cpulist_count(const struct cpu_mask *mask);

#endif
