#define _GNU_SOURCE
#include "support.h"

#include <errno.h>
#include <getopt.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MARK "/run/numabox/mark" /* there only inside the emulated machine */

static const double reached_percent = 95.0;
static const double look_s = 0.25; /* from one look at the pages to the next, until that is reached; then one for each line */

/* ---- options ---------------------------------------------------------------------------------------- */

static void help(const char *program, const char *what)
{
	fprintf(stderr,
	        "%s: %s\n"
	        "usage: %s [-m MIB] [-s SECONDS] [-v] [--expect PERMILLE] [--laps]\n"
	        "  -m MIB             size of each array (8)\n"
	        "  -s SECONDS         how long to run (15)\n"
	        "  -v                 say every second how many pages are on their thread's node\n"
	        "  --expect PERMILLE  exit with 1 if fewer are at the end\n"
	        "  --laps             in numabox: make the last third a lap of its own\n",
	        program, what, program);
}

struct options options_from(int argc, char **argv, const char *what)
{
	static const struct option longs[] = {
		{ "expect", required_argument, NULL, 'e' }, { "laps", no_argument, NULL, 'l' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	struct options options = { .mib = 8, .seconds = 15 };
	int letter;

	while ((letter = getopt_long(argc, argv, "m:s:vh", longs, NULL)) != -1) {
		switch (letter) {
		case 'm':
			options.mib = strtoul(optarg, NULL, 10);
			break;
		case 's':
			options.seconds = strtod(optarg, NULL);
			break;
		case 'v':
			options.verbose = true;
			break;
		case 'e':
			options.expected_permille = atoi(optarg);
			break;
		case 'l':
			options.laps = true;
			break;
		default:
			help(argv[0], what);
			exit(letter == 'h' ? 0 : 2);
		}
	}
	if (optind != argc || options.mib == 0 || options.mib > SIZE_MAX >> 20 || !(options.seconds >= 0)) {
		help(argv[0], what);
		exit(2);
	}
	return options;
}

/* ---- time and memory -------------------------------------------------------------------------------- */

double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Arrays of a round size, one behind the other, have their elements of the same index in the same set of a
 * cache, where they push each other out: so each begins a page later than it could. */
double *array_of(size_t numbers)
{
	enum { STEPS = 8 };
	static size_t arrays;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), skip = arrays++ % STEPS * page;
	char *memory = mmap(NULL, numbers * sizeof(double) + STEPS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("no memory for an array");
		exit(2);
	}
	return (double *)(void *)(memory + skip);
}

/* move_pages without a target does not move: it tells the node of each page. Not of one that the kernel's
 * NUMA balancing has just taken the access from, to see who comes next (Linux 6.1 calls it absent then): so
 * each is read first. */
struct pages pages_of(const double *numbers, size_t first, size_t end)
{
	enum { BATCH = 512 };
	void *pages[BATCH];
	int nodes[BATCH];
	unsigned cpu = 0, node = 0;
	uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t page = ((uintptr_t)(numbers + first) + size - 1) / size * size, last = (uintptr_t)(numbers + end);
	struct pages count = { 0, 0 };

	syscall(SYS_getcpu, &cpu, &node, NULL);
	while (page < last) {
		size_t n = 0;

		for (; n < BATCH && page < last; page += size) {
			(void)*(const volatile char *)page;
			pages[n++] = (void *)page;
		}
		if (syscall(SYS_move_pages, 0, n, pages, NULL, nodes, 0) != 0)
			return (struct pages){ 0, 0 };
		for (size_t i = 0; i < n; i++) {
			count.all += nodes[i] >= 0;
			count.local += nodes[i] == (int)node;
		}
	}
	return count;
}

/* ---- progress --------------------------------------------------------------------------------------- */

static double percent(struct pages pages)
{
	return pages.all == 0 ? -1 : 100.0 * (double)pages.local / (double)pages.all;
}

static void note(struct progress *progress, struct pages pages)
{
	progress->last_percent = percent(pages);
	if (progress->reached_s < 0 && progress->last_percent >= reached_percent)
		progress->reached_s = now_s() - progress->begin_s;
}

void progress_begin(struct progress *progress, const struct options *options, struct pages pages)
{
	double now = now_s();

	*progress = (struct progress){ .options = options, .begin_s = now, .next_look_s = now + look_s, .next_line_s = now + 1, .reached_s = -1 };
	note(progress, pages);
	progress->first_percent = progress->last_percent;
}

/* A program, and not a function, because the emulated machine's counters are its own. */
static void mark_lap(void)
{
	char *arguments[] = { (char[]){ MARK }, (char[]){ "2" }, NULL }, *environment[] = { NULL };
	pid_t pid;

	if (access(MARK, X_OK) == 0 && posix_spawn(&pid, MARK, NULL, NULL, arguments, environment) == 0)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			continue;
}

bool progress_goes_on(struct progress *progress, bool *look)
{
	const struct options *options = progress->options;
	double now = now_s();

	progress->passes++;
	if (options->laps && !progress->marked && now - progress->begin_s >= options->seconds * 2 / 3) {
		progress->marked = true;
		mark_lap();
	}
	*look = options->verbose && now >= progress->next_look_s;
	return now - progress->begin_s < options->seconds;
}

void progress_look(struct progress *progress, struct pages pages)
{
	double now = now_s();

	note(progress, pages);
	if (now >= progress->next_line_s) {
		printf("%4.0f s: %ld passes, %.1f %% of the pages local\n", now - progress->begin_s, progress->passes, progress->last_percent);
		fflush(stdout);
		progress->next_line_s = now + 1;
	}
	progress->next_look_s = progress->reached_s < 0 ? now + look_s : progress->next_line_s;
}

int progress_end(struct progress *progress, struct pages pages, bool result_is_right)
{
	note(progress, pages);
	printf("%ld passes in %.1f s, the result is %s\n", progress->passes, now_s() - progress->begin_s,
	       result_is_right ? "right" : "WRONG");
	if (progress->last_percent < 0)
		printf("pages on their thread's node: not known (the kernel or the container refuses move_pages)\n");
	else
		printf("pages on their thread's node: %.1f %% (first check at start: %.0f %%)\n", progress->last_percent,
		       progress->first_percent);
	if (progress->options->verbose && progress->reached_s >= 0)
		printf("reached 95 %% after %.1f s\n", progress->reached_s);
	if (!result_is_right)
		return 3;
	return progress->last_percent * 10 < progress->options->expected_permille;
}
