#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_BYTES = 512 };

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
	if (write(STDERR_FILENO, line, (size_t)n) < 0) return;   /* nobody reads it: nothing to be done */
}
