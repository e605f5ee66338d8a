/* The kernel's lists of CPUs: "0-3,8,10-11". */
#ifndef NSCHED_CPULIST_H
#define NSCHED_CPULIST_H

#include "sys/cpumask.h"

/* 0 and the CPUs; -EINVAL where it is not such a list (nothing, a word, 3-1), -ERANGE beyond MACHINE_CPUS. */
int cpulist_parse(const char *text, struct cpu_mask *mask);

unsigned cpulist_count(const struct cpu_mask *mask);

#endif
