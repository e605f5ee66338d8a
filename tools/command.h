/* The sub-commands of `nsched`: one file each, listed in nsched.c. */
#ifndef NSCHED_COMMAND_H
#define NSCHED_COMMAND_H

#include <stddef.h>

/* Exit codes that are ours. A program that was started gives its own. */
enum {
	COMMAND_USAGE = 2,       /* an option, its value, or a command is wrong */
	COMMAND_BROKEN = 125,    /* parts of nsched are missing */
	COMMAND_NOT_RUN = 126,   /* the program is there but can't be run */
	COMMAND_NO_PROGRAM = 127 /* there is no such program */
};

struct command {
	const char *name;
	const char *summary;              /* for `nsched --help` */
	int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
};

extern const struct command command_run, command_doctor, command_report, command_sim, command_replay;

/* "nsched: " and the text on standard error, as one line. */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);

#endif
