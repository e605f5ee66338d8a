#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "sys/files.h"
#include "sys/quiet.h"

enum { LINE_BYTES = 512 };

/* The helper's table of open files is its own: there the program's standard error is reached by name. */
static void put(const char *line, size_t bytes)
{
	int saved = errno, fd = files_are_own() ? open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : STDERR_FILENO;
	if (fd >= 0) quiet_line(fd, line, bytes);
	if (fd > STDERR_FILENO) close(fd);
	errno = saved;
}

void log_line(const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	int n = snprintf(line, sizeof line, "nsched: ");
	va_start(args, format);
	int more = vsnprintf(line + n, sizeof line - (size_t)n - 1, format, args);
	va_end(args);
	if (more < 0) return;
	n += more;
	if (n > LINE_BYTES - 2) n = LINE_BYTES - 2;
	line[n++] = '\n';
	put(line, (size_t)n);
}
