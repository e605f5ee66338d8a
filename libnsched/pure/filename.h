/* File names of reports, where several processes were given the same one. */
#ifndef NSCHED_FILENAME_H
#define NSCHED_FILENAME_H

#include <stddef.h>

/* `file` with "." and `word` before its extension ("out/run.json", "1234" -> "out/run.1234.json"), or
 * at its end if it has none, into `name`. The length, or -1 if it does not fit into `bytes`. */
int filename_insert(const char *file, const char *word, char *name, size_t bytes);

#endif
