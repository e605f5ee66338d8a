/* A recorded machine with a program on it, as a text: what stands in tests/doctor/cases. README.md has the format. */
#ifndef CASE_H
#define CASE_H

#include <stdbool.h>

#include "tools/doctor.h"

struct section {
	char *name;        /* "/proc/7/stat" */
	char *text;
	bool later;        /* as it was at the second look */
};

struct recorded {
	long pid;          /* 0: no program was looked at */
	double window_ms;
	char expect[256];  /* findings, "one-node,quota", or "-" */
	unsigned n;
	struct section *section;
};

void case_load(struct recorded *c, const char *name);
void case_free(struct recorded *c);

/* Exchanges the text of a section at both looks; NULL takes it away; one that is not there is added. */
void case_edit(struct recorded *c, const char *name, const char *text);

/* The files of both looks, below folders of their own: as at the first, and as at the second. */
struct unpacked {
	char root[64], then[80], now[80];
};

void case_unpack(const struct recorded *c, struct unpacked *u);
void case_rewrite(const struct unpacked *u, const struct section *section);
void case_remove(const struct unpacked *u);
struct doctor *case_look(const struct recorded *c, const struct unpacked *u);

/* Unpacks, lets the doctor look at it, and removes the files: everything but what must be tried on the machine itself. Free with case_forget. */
struct doctor *case_doctor(const struct recorded *c);
void case_forget(struct doctor *doctor);

/* "one-node,quota": what it has found, each once, in the alphabet's order; "-" for nothing. */
const char *case_found(const struct doctor *doctor);

/* The names of all cases, and how many. */
unsigned case_names(const char *const **names);

#endif
