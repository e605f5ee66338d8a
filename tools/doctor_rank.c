/* Whether a process is a rank of a parallel job, by the variables that its launcher has set. */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

#include "libnsched/pure/launchers.h"

const char *variable(const char *environment, size_t bytes, const char *name)
{
	size_t length = strlen(name);

	for (size_t at = 0; environment != NULL && at < bytes; at += strlen(environment + at) + 1) {
		if (strncmp(environment + at, name, length) == 0 && environment[at + length] == '=')
			return environment + at + length + 1;
	}
	return NULL;
}

/* Where a launcher does not name the job, its ranks share the parent. */
static void name_job(struct doctor_rank *rank, const struct launcher *launcher, const char *environment, size_t bytes, long parent)
{
	size_t length = 0;

	for (int i = 0; i < 2 && launcher->job[i] != NULL; i++) {
		const char *value = variable(environment, bytes, launcher->job[i]);

		if (value != NULL && length < sizeof(rank->job))
			length += (size_t)snprintf(rank->job + length, sizeof(rank->job) - length, length > 0 ? ".%s" : "%s", value);
	}
	if (length == 0)
		snprintf(rank->job, sizeof(rank->job), "of process %ld", parent);
}

struct text {
	const char *environment;
	size_t bytes;
};

static const char *variable_of(const void *context, const char *name)
{
	const struct text *text = context;

	return variable(text->environment, text->bytes, name);
}

void rank_look(struct doctor_rank *rank, const char *environment, size_t bytes, long parent)
{
	const struct text text = { environment, bytes };
	const struct launcher *launcher = launchers_of_rank(variable_of, &text);
	const char *ranks;

	*rank = (struct doctor_rank){ .rank = -1, .ranks = -1 };
	if (launcher == NULL)
		return;
	ranks = launcher->ranks == NULL ? NULL : variable(environment, bytes, launcher->ranks);
	rank->launcher = launcher->name;
	rank->rank = strtol(variable(environment, bytes, launcher->rank), NULL, 10);
	rank->ranks = ranks == NULL ? -1 : strtol(ranks, NULL, 10);
	name_job(rank, launcher, environment, bytes, parent);
	text_clean(rank->job);
}
