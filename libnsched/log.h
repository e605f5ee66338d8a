/* One line on standard error, "nsched: ...", for what was asked for (verbose, a wrong option). A single
 * write, so that lines of ranks do not mix. Never called from a callback. */
#ifndef NSCHED_LOG_H
#define NSCHED_LOG_H

void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
