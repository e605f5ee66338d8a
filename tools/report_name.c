#define _GNU_SOURCE
#include "report_name.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "launcher.h"
#include "libnsched/pure/filename.h"

/* The rank as text, or NULL if there is none; *several tells whether it is one of many. */
static const char *own_rank(int *several)
{
	struct launcher_job job;

	launcher_find(&job);
	*several = job.rank_text != NULL && job.ranks != 1;
	return job.rank_text;
}

/* What stands for %`letter`, or NULL. */
static const char *placeholder(char letter, char text[HOST_NAME_MAX + 1])
{
	int several;
	const char *rank;

	switch (letter) {
	case '%': return "%";
	case 'p': snprintf(text, HOST_NAME_MAX + 1, "%ld", (long)getpid()); return text;
	case 'h': return gethostname(text, HOST_NAME_MAX + 1) == 0 ? text : "host";
	case 'r': rank = own_rank(&several); return rank == NULL ? "0" : rank;
	default: return NULL;
	}
}

/* Appends; 0 or -ENAMETOOLONG. */
static int append(const char *what, char *file, size_t bytes, size_t *length, const char *text, size_t text_length)
{
	if (*length + text_length >= bytes) {
		complain("the %s's name is longer than %zu bytes", what, bytes - 1);
		return -ENAMETOOLONG;
	}
	memcpy(file + *length, text, text_length);
	*length += text_length;
	file[*length] = '\0';
	return 0;
}

static int expand(const char *what, const char *pattern, char *file, size_t bytes, size_t length)
{
	char text[HOST_NAME_MAX + 1] = "";
	int result = 0;

	while (result == 0 && *pattern != '\0') {
		size_t plain = strcspn(pattern, "%");

		result = append(what, file, bytes, &length, pattern, plain);
		pattern += plain;
		if (result < 0 || *pattern == '\0')
			break;

		const char *value = placeholder(pattern[1], text);

		if (value == NULL) {
			complain("the %s's name has \"%.2s\"; known are %%p (process), %%h (machine), %%r (rank) and %%%%", what, pattern);
			return -EINVAL;
		}
		result = append(what, file, bytes, &length, value, strlen(value));
		pattern += 2;
	}
	return result;
}

static int own_for_each_rank(const char *what, const char *pattern, char *file, size_t bytes)
{
	char copy[PATH_MAX], word[32];
	int several;
	const char *rank = own_rank(&several);

	if (rank == NULL || !several || strstr(pattern, "%p") != NULL || strstr(pattern, "%r") != NULL)
		return 0;
	snprintf(copy, sizeof(copy), "%s", file);
	snprintf(word, sizeof(word), "rank%.20s", rank);
	if (filename_insert(copy, word, file, bytes) >= 0)
		return 0;
	complain("the %s's name is longer than %zu bytes", what, bytes - 1);
	return -ENAMETOOLONG;
}

/* A job must not run for a day and then find no place for its report, or its record. */
static int folder_takes_it(const char *what, const char *file)
{
	char folder[PATH_MAX];
	int length = (int)(strrchr(file, '/') - file);

	snprintf(folder, sizeof(folder), "%.*s", length == 0 ? 1 : length, file);
	if (access(folder, W_OK | X_OK) == 0 || access(file, W_OK) == 0)
		return 0;
	complain("no %s can be written into %s: %s", what, folder, strerror(errno));
	return -errno;
}

int report_name(const char *what, const char *pattern, char *file, size_t bytes)
{
	char here[PATH_MAX];
	size_t length = 0;
	int result = 0;

	file[0] = '\0';
	if (pattern[0] == '\0' || strcmp(pattern, "-") == 0)
		return append(what, file, bytes, &length, pattern, strlen(pattern));
	if (pattern[0] != '/' && getcwd(here, sizeof(here)) != NULL) {
		result = append(what, file, bytes, &length, here, strlen(here));
		if (result == 0 && strcmp(here, "/") != 0)
			result = append(what, file, bytes, &length, "/", 1);
	}
	if (result == 0)
		result = expand(what, pattern, file, bytes, length);
	if (result == 0)
		result = own_for_each_rank(what, pattern, file, bytes);
	return result < 0 || strchr(file, '/') == NULL ? result : folder_takes_it(what, file);
}
