/* Finds the libraries that belong to this tool, wherever its folder has been moved to. */
#ifndef NSCHED_WHERE_H
#define NSCHED_WHERE_H

#include <limits.h>

/* The absolute path of the library `name` into `path`. Returns 0, or a negated errno value after it
 * has told where it looked. */
int where_library(const char *name, char path[PATH_MAX]);

#endif
