#include "doctor_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	FIRST_BYTES = 4096,          /* most files of /proc and /sys are smaller */
	MOST_BYTES = 64 << 20,       /* nothing that we read is larger but by mistake: a numa_maps of a million ranges */
};

/* ---- files ----------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 0))) static int open_path(const struct doctor_files *files, int flags, const char *path, va_list args)
{
	char name[PATH_MAX];
	size_t length = (size_t)snprintf(name, sizeof(name), "%s", files->root);

	if (length < sizeof(name))
		length += (size_t)vsnprintf(name + length, sizeof(name) - length, path, args);
	if (length >= sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(name, flags | O_RDONLY | O_CLOEXEC);
}

/* Reads to the end, into memory that grows. */
static char *read_all(int fd, size_t *bytes)
{
	size_t room = FIRST_BYTES, length = 0;
	char *text = malloc(room);

	while (text != NULL && length < MOST_BYTES) {
		ssize_t got = read(fd, text + length, room - length - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(text);
			return NULL;
		}
		length += (size_t)got;
		if (got == 0)
			break;
		if (room - length < FIRST_BYTES / 2) {
			char *larger = realloc(text, room *= 2);

			if (larger == NULL)
				free(text);
			text = larger;
		}
	}
	if (text != NULL)
		text[length] = '\0';
	if (bytes != NULL)
		*bytes = length;
	return text;
}

__attribute__((format(printf, 3, 0))) static char *text_of(const struct doctor_files *files, size_t *bytes, const char *path, va_list args)
{
	int fd = open_path(files, 0, path, args);

	if (fd < 0)
		return NULL;

	char *text = read_all(fd, bytes);
	int saved = errno;

	close(fd);
	errno = saved;
	return text;
}

char *files_text(const struct doctor_files *files, size_t *bytes, const char *path, ...)
{
	va_list args;

	va_start(args, path);

	char *text = text_of(files, bytes, path, args);

	va_end(args);
	return text;
}

bool files_line(const struct doctor_files *files, char *line, size_t line_bytes, const char *path, ...)
{
	va_list args;

	va_start(args, path);

	char *text = text_of(files, NULL, path, args);

	va_end(args);
	line[0] = '\0';
	if (text == NULL)
		return false;
	text[strcspn(text, "\n")] = '\0';
	snprintf(line, line_bytes, "%s", text);
	free(text);
	return line[0] != '\0';
}

long long files_number(const struct doctor_files *files, long long otherwise, const char *path, ...)
{
	va_list args;

	va_start(args, path);

	char *text = text_of(files, NULL, path, args);

	va_end(args);
	if (text == NULL)
		return otherwise;

	long long number = text_number(text, NULL, otherwise);

	free(text);
	return number;
}

static int rising(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return x < y ? -1 : x > y;
}

/* The numbers of an open folder; -ENOMEM. */
static int collect(DIR *dir, long **numbers)
{
	int n = 0, room = 0;

	for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
		char *end;
		long number = strtol(entry->d_name, &end, 10);

		if (!isdigit((unsigned char)entry->d_name[0]) || *end != '\0')
			continue;
		if (n == room) {
			long *larger = realloc(*numbers, (size_t)(room += 256) * sizeof(long));

			if (larger == NULL)
				return -ENOMEM;
			*numbers = larger;
		}
		(*numbers)[n++] = number;
	}
	return n;
}

int files_numbers(const struct doctor_files *files, const char *folder, void (*found)(void *arg, long number), void *arg)
{
	char name[PATH_MAX];
	long *numbers = NULL;

	if (snprintf(name, sizeof(name), "%s%s", files->root, folder) >= (int)sizeof(name))
		return -ENAMETOOLONG;

	DIR *dir = opendir(name);

	if (dir == NULL)
		return -errno;

	int n = collect(dir, &numbers);

	closedir(dir);
	if (n > 0)
		qsort(numbers, (size_t)n, sizeof(long), rising);
	for (int i = 0; i < n; i++)
		found(arg, numbers[i]);
	free(numbers);
	return n;
}

void files_gap(struct doctor_files *files, const char *text, ...)
{
	char line[DOCTOR_LINE];
	va_list args;

	va_start(args, text);
	vsnprintf(line, sizeof(line), text, args);
	va_end(args);
	for (unsigned i = 0; i < files->n_gaps && i < DOCTOR_GAPS; i++) {
		if (strcmp(files->gap[i], line) == 0)
			return;
	}
	if (files->n_gaps < DOCTOR_GAPS)
		memcpy(files->gap[files->n_gaps], line, sizeof(line));
	files->n_gaps++;
}

/* ---- texts ----------------------------------------------------------------------------------------------- */

bool text_field(const char *text, const char *name, char *value, size_t bytes)
{
	size_t length = strlen(name);

	value[0] = '\0';
	for (const char *line = text; line != NULL && *line != '\0'; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, length) != 0 || line[length] != ':')
			continue;
		line += length + 1;
		line += strspn(line, " \t");
		snprintf(value, bytes, "%.*s", (int)strcspn(line, "\n"), line);
		return true;
	}
	return false;
}

long long text_number(const char *text, const char *name, long long otherwise)
{
	char *end;
	const char *at = name == NULL ? text : strstr(text, name);

	if (at == NULL)
		return otherwise;
	if (name != NULL)
		at += strlen(name);

	long long number = strtoll(at, &end, 10);

	return end == at ? otherwise : number;
}

void text_clean(char *text)
{
	for (; *text != '\0'; text++) {
		if (*text < ' ' || *text > '~')
			*text = '?';
	}
}

const char *list_text(const struct cpu_mask *mask, char *text, size_t bytes)
{
	enum { RANGE_BYTES = 16 }; /* ",8190-8191" and the dots that stand for what did not fit */
	size_t length = 0;

	text[0] = '\0';
	for (unsigned first = 0; first < MACHINE_CPUS; first++) {
		unsigned last = first;

		if (!mask_has(mask, first))
			continue;
		while (mask_has(mask, last + 1))
			last++;
		if (length + RANGE_BYTES > bytes) {
			snprintf(text + length, bytes - length, "...");
			break;
		}
		length += (size_t)snprintf(text + length, bytes - length, last > first ? "%s%u-%u" : "%s%u", length > 0 ? "," : "", first, last);
		first = last;
	}
	return text;
}
