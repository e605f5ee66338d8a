/* Numbers of workload files: products and quotients of numbers, units and parameters ("$N*20", "1.5GiB/$N"). Pure. */
#ifndef NSCHED_SIM_NUMBER_H
#define NSCHED_SIM_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "workload.h"

enum number_kind { NUMBER_COUNT, NUMBER_TIME, NUMBER_BYTES, NUMBER_RATE }; /* of units: none, ns, bytes, bytes per ns */

/* The number in the `length` letters at `text`, of a unit of `kind`. 0 or -EINVAL, and `why` says what is wrong. */
int number_parse(const struct workload *workload, const char *text, size_t length, enum number_kind kind, double *number, const char **why);

#endif
