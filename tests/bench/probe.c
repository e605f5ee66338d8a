/* What it takes to find out which evidence can be had: nsched_probe in so many new processes, each source's median and most, and those of the sum.
 * Cold: the libraries that are loaded for it are put out of the page cache each time, as far as nobody else has them mapped; then what counts is the disk.
 * usage: probe [RUNS] [cold] */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nsched.h"

enum { SOURCES_MOST = 16, RUNS_MOST = 1000 };

static const char *const libraries[] = {
	"/usr/lib/x86_64-linux-gnu/libcapstone.so.4", "/usr/lib/x86_64-linux-gnu/libcapstone.so.5", "/usr/lib/x86_64-linux-gnu/libpapi.so.7.0",
	"/usr/lib64/libcapstone.so.4", "/usr/lib64/libcapstone.so.5", "/usr/lib64/libpapi.so.7.0",
};

static void forget_libraries(void)
{
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		int fd = open(libraries[i], O_RDONLY | O_CLOEXEC);
		if (fd < 0) continue;
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
}

struct probed { int n; nsched_source_t source[SOURCES_MOST]; };

static int in_child(struct probed *p)
{
	int way[2], status = 1;
	if (pipe(way)) return -1;
	pid_t child = fork();
	if (!child) {
		p->n = nsched_probe(p->source, sizeof *p->source, SOURCES_MOST);
		_exit(write(way[1], p, sizeof *p) != (ssize_t)sizeof *p);
	}
	close(way[1]);
	ssize_t got = 0, more;
	while ((more = read(way[0], (char *)p + got, sizeof *p - (size_t)got)) > 0) got += more;
	close(way[0]);
	waitpid(child, &status, 0);
	return status || got != (ssize_t)sizeof *p || p->n < 1 || p->n > SOURCES_MOST ? -1 : 0;
}

static int by_value(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
	return (x > y) - (x < y);
}

static void print_row(const char *name, unsigned *us, unsigned runs, const char *why)
{
	qsort(us, runs, sizeof *us, by_value);
	printf("%-16s %8.2f %8.2f   %s\n", name, us[runs / 2] / 1000.0, us[runs - 1] / 1000.0, why);
}

int main(int argc, char **argv)
{
	static unsigned us[SOURCES_MOST][RUNS_MOST], sum[RUNS_MOST];
	static struct probed p;
	int runs = argc > 1 ? atoi(argv[1]) : 30, cold = argc > 2 && !strcmp(argv[2], "cold");
	if (runs < 1 || runs > RUNS_MOST || (argc > 2 && !cold)) return fprintf(stderr, "usage: probe [RUNS] [cold]\n"), 2;
	for (int r = 0; r < runs; r++) {
		if (cold) forget_libraries();
		if (in_child(&p)) return fprintf(stderr, "probe: a process failed\n"), 1;
		for (int i = 0; i < p.n; i++) sum[r] += us[i][r] = p.source[i].probe_us;
	}
	printf("%-16s %8s %8s   off, since\n", cold ? "cold" : "source", "median", "most, ms");
	for (int i = 0; i < p.n; i++) print_row(p.source[i].name, us[i], (unsigned)runs, p.source[i].why);
	print_row("together", sum, (unsigned)runs, "");
	return 0;
}
