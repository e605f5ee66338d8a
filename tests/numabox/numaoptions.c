#define _GNU_SOURCE
#include "numaoptions.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(name) offsetof(struct options, name)

static const struct {
	const char *name;
	size_t at;
	double least, most;
} table[] = {
	{ "smt", AT(smt), 1, 16 },           { "slow", AT(slow), 1, 100000 },  { "local", AT(local), 1, 100000 },
	{ "remote", AT(remote), 1, 100000 }, { "far", AT(far), 1, 100000 },    { "insn", AT(insn), 0, 1000 },
	{ "pause", AT(pause), 0, 1000 },     { "streams", AT(streams), 0.01, 1000 }, { "smtfactor", AT(smtfactor), 1, 16 },
};
enum { OPTIONS = sizeof table / sizeof *table };

void options_default(struct options *options)
{
	*options = (struct options){ .smt = 1, .local = 90, .remote = 150, .insn = 0.5, .pause = 45, .streams = 1.25, .smtfactor = 1.6 };
}

static int set_number(double *number, const char *value, double least, double most)
{
	char *end;
	double read = value && *value ? strtod(value, &end) : 0;

	if (!value || !*value || *end || !(read >= least && read <= most))
		return -1;
	*number = read;
	return 0;
}

int options_set(struct options *options, const char *text)
{
	const char *value = strchr(text, '=');
	size_t length = value ? (size_t)(value++ - text) : strlen(text);

	if (value && length == 3 && !strncmp(text, "out", 3)) {
		options->out = strdup(value);
		return options->out ? 0 : -1;
	}
	for (int i = 0; i < OPTIONS; i++) {
		if (strlen(table[i].name) != length || strncmp(table[i].name, text, length))
			continue;
		if (!set_number((double *)((char *)options + table[i].at), value, table[i].least, table[i].most))
			return 0;
		fprintf(stderr, "numamodel: '%s': wanted %s=%g to %g\n", text, table[i].name, table[i].least, table[i].most);
		return -1;
	}
	fprintf(stderr, "numamodel: unknown option '%s'; there are slow local remote far insn streams smtfactor pause\n", text);
	return -1;
}
