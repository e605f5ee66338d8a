/* The valid name that a wrong one was probably meant to be. */
#ifndef NSCHED_NEAREST_H
#define NSCHED_NEAREST_H

#include <stddef.h>

/* The number of single letters that must be put in, taken out, exchanged or swapped with their
 * neighbour to make `a` from `b`. Letters behind the 63rd do not count. */
unsigned nearest_distance(const char *a, const char *b);

/* The one of `names` (`count` of them) that is nearest to `word`, or NULL if none resembles it. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
