#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pure/snapshot.h"
#include "sys/own_file.h"
#include "sys/quiet.h"

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

int report_situation(const struct report *report, FILE *out)
{
	const struct session *s = report->session;
	if (!s) return fprintf(out, "# idle: %s\n", report->idle_reason) < 0 ? -EIO : 0;
	size_t bytes = snapshot_print(&s->situation, NULL, 0) + 1;
	char *text = malloc(bytes);
	if (!text) return -ENOMEM;
	snapshot_print(&s->situation, text, bytes);
	for (unsigned i = 0; i < s->situation.n_threads; i++) {
		unsigned number = s->situation.thread[i].number;
		fprintf(out, "# thread %u is tid %d\n", number, (int)registry_at(s->registry, number)->tid);
	}
	int ret = fputs(text, out) < 0 ? -EIO : 0;
	free(text);
	return ret;
}

/* The beginnings of all that we write here: text, JSON, a situation, or why there is none. */
static bool is_ours(const char *begin, size_t bytes)
{
	static const char *const ours[] = { "nsched ", "{\n \"version\": \"", "situation ", "# thread ", "# idle: " };
	for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++)
		if (bytes >= strlen(ours[i]) && !memcmp(begin, ours[i], strlen(ours[i]))) return true;
	return false;
}

static int write_as(const struct report *report, const char *file, FILE *out)
{
	int ret = ends_in(file, ".json") ? report_json(report, out) : ends_in(file, ".situation") ? report_situation(report, out) :
	          report_text(report, out);
	return ret == -EIO && errno ? -errno : ret;
}

int report_write(const struct report *report, const char *file)
{
	bool std = !strcmp(file, "-");
	int fd = std ? STDERR_FILENO : own_file_open(file, report->config->report_over, false, is_ours);
	if (fd < 0) return fd;
	FILE *out = std ? stderr : fdopen(fd, "w");
	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	struct quiet quiet;
	quiet_begin(&quiet);
	errno = 0;   /* what the first write that failed says is the reason, wherever it is found */
	int ret = write_as(report, file, out);
	if (fflush(out) && (!ret || ret == -EIO)) ret = -errno;
	if (!std && fclose(out) && !ret) ret = -errno;
	quiet_end(&quiet);
	return ret;
}
