/* Writing without signals: a file that may not grow (ulimit -f) or a pipe without a reader is an error for us, and nothing
 * that ends the program. */
#ifndef NSCHED_QUIET_H
#define NSCHED_QUIET_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

struct quiet {
	sigset_t before;
	bool pending[2]; /* they were so before: the program's own business */
};

/* Between the two SIGPIPE and SIGXFSZ do not reach the calling thread, and those that its writes raise are gone after
 * the second. errno is kept by both. */
void quiet_begin(struct quiet *quiet);
void quiet_end(struct quiet *quiet);

/* One line to a file where it does not matter whether it is read: what can't be written is lost. errno is kept. */
void quiet_line(int fd, const char *line, size_t bytes);

#endif
