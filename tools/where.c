#include "where.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

/* From the build: the folders of `make install`, NSCHED_BINDIR and NSCHED_LIBDIR. */

enum { PLACES = 3 };

/* The way from the folder `from` to the folder `to`, both absolute: "/a/bin" to "/a/lib64" is
 * "../lib64". It still holds when both have been moved together. */
static void relative(const char *from, const char *to, char *way, size_t bytes)
{
	size_t common = 0, length = 0;

	for (size_t i = 0;; i++) {
		int from_ends = from[i] == '/' || from[i] == '\0', to_ends = to[i] == '/' || to[i] == '\0';

		if (from_ends && to_ends)
			common = i;
		if (from[i] != to[i] || from[i] == '\0')
			break;
	}
	way[0] = '\0';
	for (const char *up = from + common; *up != '\0'; up++) {
		if (*up == '/' && up[1] != '\0' && up[1] != '/')
			length += (size_t)snprintf(way + length, length < bytes ? bytes - length : 0, "../");
		if (length >= bytes)
			return;
	}
	for (to += common; *to == '/';)
		to++;
	snprintf(way + length, bytes - length, "%s", to);
}

/* The folder of this very program, without a slash at its end. */
static int own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

	if (length < 0)
		return -errno;
	folder[length] = '\0';
	*strrchr(folder, '/') = '\0';
	return 0;
}

int where_library(const char *name, char path[PATH_MAX])
{
	char own[PATH_MAX] = ".", way[PATH_MAX], places[PLACES][2 * PATH_MAX + 2];

	if (own_folder(own) < 0)
		complain("/proc/self/exe can't be read: %s", strerror(errno));
	relative(NSCHED_BINDIR, NSCHED_LIBDIR, way, sizeof(way));
	snprintf(places[0], sizeof(places[0]), "%s/%s", own, way);
	snprintf(places[1], sizeof(places[1]), "%s/../.libs", own); /* not installed: tools/ of a build */
	snprintf(places[2], sizeof(places[2]), "%s", NSCHED_LIBDIR);
	for (int i = 0; i < PLACES; i++) {
		char folder[PATH_MAX];

		if (realpath(places[i], folder) == NULL)
			continue;
		if (snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && access(path, R_OK) == 0)
			return 0;
	}
	complain("%s is missing; looked for it in %s, %s and %s", name, places[0], places[1], places[2]);
	return -ENOENT;
}
