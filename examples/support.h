/* What the two examples share and what is no OpenMP: options, a clock, and the question on which NUMA node
 * the pages of an array are. A program of your own needs none of it. */
#ifndef EXAMPLES_SUPPORT_H
#define EXAMPLES_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>

struct options {
	size_t mib;            /* of each array */
	double seconds;        /* how long to run */
	bool verbose;          /* a line every second */
	bool laps;             /* in the emulated NUMA machine of nsched's tests: the last third is a lap of its own */
	int expected_permille; /* fail if fewer pages than this are on their thread's node at the end */
};

/* Reads the options; prints help, and ends the program, where they are wrong. */
struct options options_from(int argc, char **argv, const char *what);

double now_s(void);

/* Memory that nobody has touched yet, so that the first to write a page decides where it is. Ends the
 * program where there is none. */
double *array_of(size_t numbers);

/* How many pages, and how many of them on the node that their thread runs on. */
struct pages {
	long all, local;
};

/* Of the pages that begin in numbers[first] .. numbers[end - 1]; called by the thread that works on them. */
struct pages pages_of(const double *numbers, size_t first, size_t end);

/* Progress: the first look at the pages, one every second with -v, and the last. */
struct progress {
	const struct options *options;
	double begin_s, next_look_s, next_line_s, reached_s; /* reached: 95 % for the first time; < 0: not yet */
	double first_percent, last_percent;     /* < 0: not known */
	long passes;
	bool marked;
};

void progress_begin(struct progress *progress, const struct options *options, struct pages pages);

/* After each pass. False: the time is over. `look` says that progress_look should be called now. */
bool progress_goes_on(struct progress *progress, bool *look);
void progress_look(struct progress *progress, struct pages pages);

/* Prints the last lines and returns the program's exit status. */
int progress_end(struct progress *progress, struct pages pages, bool result_is_right);

#endif
