#include "report.h"

#include <errno.h>
#include <string.h>

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && !strcmp(text + n - m, end);
}

unsigned report_overhead(const struct session *s)
{
	uint64_t all = session_program_cpu_ns(s);
	return all ? (unsigned)(1000 * (s->totals.own_cpu_ns + s->totals.sampled_ns) / all) : 0;
}

int report_write(const struct report *report, const char *file)
{
	bool std = !strcmp(file, "-");
	FILE *out = std ? stderr : fopen(file, "we");
	if (!out) return -errno;
	int ret = ends_in(file, ".json") ? report_json(report, out) : report_text(report, out);
	if (!ret && fflush(out)) ret = -errno;
	if (!std && fclose(out) && !ret) ret = -errno;
	return ret;
}
