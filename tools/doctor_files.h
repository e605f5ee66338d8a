/* Files of /proc and /sys below a root folder (tests read recorded trees), and what could not be read. */
#ifndef NSCHED_DOCTOR_FILES_H
#define NSCHED_DOCTOR_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libnsched/sys/cpumask.h"

enum {
	DOCTOR_GAPS = 12,   /* things not known that are told one by one; more are counted */
	DOCTOR_LINE = 240,  /* bytes of a line that is told */
};

struct doctor_files {
	const char *root;                 /* before every path: "" but in tests */
	unsigned n_gaps;                  /* also those that are only counted */
	char gap[DOCTOR_GAPS][DOCTOR_LINE];
};

/* The whole file, with a closing zero, to be freed; NULL and errno where it can't be had. *bytes (may be
 * NULL) is its length: an environ has zeros inside. */
__attribute__((format(printf, 3, 4))) char *files_text(const struct doctor_files *files, size_t *bytes, const char *path, ...);

/* The first line of a small file, without its end, into `line`; false (and line empty) where there is none. */
__attribute__((format(printf, 4, 5))) bool files_line(const struct doctor_files *files, char *line, size_t line_bytes,
                                                      const char *path, ...);

/* The number that the file begins with; `otherwise` where there is none. */
__attribute__((format(printf, 3, 4))) long long files_number(const struct doctor_files *files, long long otherwise,
                                                             const char *path, ...);

/* Calls `found` for each entry of the folder that is a number, in rising order. How many; -errno. */
int files_numbers(const struct doctor_files *files, const char *folder, void (*found)(void *arg, long number), void *arg);

/* Notes what is not known and why, once for each text. */
__attribute__((format(printf, 2, 3))) void files_gap(struct doctor_files *files, const char *text, ...);

/* ---- texts of the kernel ------------------------------------------------------------------------------ */

/* The value of the line "name:  value" of a text as /proc/PID/status has it, copied; false if there is none. */
bool text_field(const char *text, const char *name, char *value, size_t bytes);

/* The first number at `text`, or behind the word `name` in it; `otherwise` where there is none. */
long long text_number(const char *text, const char *name, long long otherwise);

/* Makes every character that a terminal or JSON might stumble over a "?": names are given by programs. */
void text_clean(char *text);

/* A set of CPUs or nodes as the kernel writes it, "0-3,8"; "" (or what did not fit ends in "...") */
const char *list_text(const struct cpu_mask *mask, char *text, size_t bytes);

#endif
