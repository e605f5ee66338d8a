/* Files that we write for the user: a new one, or one that is ours already. */
#ifndef NSCHED_OWN_FILE_H
#define NSCHED_OWN_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { OWN_FILE_LOOK = 64 };  /* bytes that `is_ours` gets to see, at the most */

/* Opens `path` for writing, empty. What is there already is written over only if `over`, or if it is empty, or if
 * `is_ours` says so of its beginning; pipes and devices are taken as they are, but never waited for. A new file is not made
 * through a symbolic link. Held against other writers that come this way, if `lock`.
 * A descriptor; -EEXIST: it is there, and not ours; -EBUSY: another process writes it; else what open said. */
int own_file_open(const char *path, bool over, bool lock, bool (*is_ours)(const char *begin, size_t bytes));

#endif
