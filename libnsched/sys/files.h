/* Whose open files are whose. The helper thread has a table of open files of its own, where the kernel has
 * close_range (5.9): what it opens takes no numbers from the program (which counts on getting the lowest), is not in
 * its children, does not count against its limit, and is safe from programs that close all they do not know; and
 * the helper holds nothing open that the program closes.
 *
 * Where it has none, or where steps are made by hand, everything is in the program's table. */
#ifndef NSCHED_FILES_H
#define NSCHED_FILES_H

#include <stdbool.h>

/* The calling thread gets a table of its own, empty but for 0 to 2, which are /dev/null: nothing that a library prints gets
 * into a file of ours. False: not to be had, everything stays as it is. */
bool files_apart(void);

/* The thread with a table of its own ends; or this is the child of a fork, where there is none. */
void files_together(void);

/* Does the calling thread have one? */
bool files_are_own(void);

/* Closes a file that is kept over calls. Nothing, where the number is of another table than the caller's. errno is kept. */
void files_close(int fd);

#endif
