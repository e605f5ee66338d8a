/* The `nsched` command: finds the sub-command. */
#include "command.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libnsched/pure/nearest.h"
#include "nsched.h"

static const struct command *const commands[] = {
	&command_run,
	&command_doctor,
	&command_sim,
	&command_replay,
	&command_report,
};

enum {
	COMMANDS = sizeof(commands) / sizeof(commands[0]),
	COMPLAINT_BYTES = 2 * PATH_MAX + 1024, /* a few paths, and what is said of them */
};

void complain(const char *format, ...)
{
	char line[COMPLAINT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* in one piece: ranks share their standard error, which is not buffered */
	fprintf(stderr, "nsched: %s\n", line);
}

static void usage(FILE *file)
{
	fputs("usage: nsched COMMAND [ARGUMENTS]\n"
	      "       nsched --help | --version\n"
	      "\n"
	      "nsched puts the threads and the memory of a program on the same NUMA nodes.\n"
	      "\n"
	      "commands:\n", file);
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(file, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
	fputs("\n`nsched COMMAND --help` says more. The manual: man nsched\n", file);
}

static int unknown(const char *word)
{
	const char *names[COMMANDS];

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i]->name;

	const char *nearest = nearest_name(word, names, COMMANDS);

	if (nearest != NULL)
		complain("there is no command \"%s\"; did you mean %s?", word, nearest);
	else
		complain("there is no command \"%s\"; see nsched --help", word);
	return COMMAND_USAGE;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (word == NULL) {
		usage(stderr);
		return COMMAND_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
		usage(stdout);
		return 0;
	}
	if (strcmp(word, "--version") == 0) {
		printf("nsched %d.%d.%d\n", NSCHED_VERSION_MAJOR, NSCHED_VERSION_MINOR, NSCHED_VERSION_PATCH);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i]->name, word) == 0)
			return commands[i]->run(argc - 1, argv + 1);
	}
	return unknown(word);
}
