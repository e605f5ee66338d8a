/* Finds the file of a workload and reads it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "workload.h"

enum { FILE_MOST = 1024 * 1024 };

static int read_file(const char *path, char **text, size_t *bytes)
{
	struct stat st;
	FILE *f = fopen(path, "re");
	if (!f) return -errno;
	int ret = fstat(fileno(f), &st) ? -errno : S_ISDIR(st.st_mode) ? -EISDIR : 0;
	*text = ret ? NULL : malloc(FILE_MOST + 1);
	if (!ret && !*text) ret = -ENOMEM;
	*bytes = ret ? 0 : fread(*text, 1, FILE_MOST + 1, f);
	if (!ret && ferror(f)) ret = -EIO;
	if (!ret && *bytes > FILE_MOST) ret = -EFBIG;
	fclose(f);
	if (ret) {
		free(*text);
		*text = NULL;
	}
	return ret;
}

/* The file itself, or one of those that come with nsched. */
static int find(const char *name, char **text, size_t *bytes)
{
	char path[8192];
	const char *folder = getenv("NSCHED_SIM_WORKLOADS");
	int ret = read_file(name, text, bytes);
	if (ret != -ENOENT || strchr(name, '/')) return ret;
	snprintf(path, sizeof path, "%s/%s.sim", folder && *folder ? folder : NSCHED_WORKLOADS, name);
	return read_file(path, text, bytes);
}

static void set_name(struct workload *w, const char *name)
{
	const char *slash = strrchr(name, '/');
	snprintf(w->name, sizeof w->name, "%.31s", slash ? slash + 1 : name);
	char *dot = strstr(w->name, ".sim");
	if (dot && !dot[4]) *dot = 0;
}

int workload_load(struct workload *w, const char *spec, struct workload_error *error)
{
	char name[4096], *text;
	size_t bytes;
	const char *colon = strchr(spec, ':');
	snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - spec : 4095), spec);
	*error = (struct workload_error){ 0 };
	int ret = find(name, &text, &bytes);
	if (ret) {
		snprintf(error->text, sizeof error->text, ret == -ENOENT ? "there is no file of this name, and no workload (--list)%.0s" : "%s",
		         strerror(-ret));
		return ret;
	}
	ret = workload_parse(w, text, bytes, colon ? colon + 1 : NULL, error);
	free(text);
	if (!ret) set_name(w, name);
	return ret;
}
