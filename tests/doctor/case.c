#define _GNU_SOURCE
#include "case.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 512, SECTIONS = 4096, NAMES = 256 };

static const char *folder(void)
{
	static char path[PATH_BYTES];
	const char *source = getenv("srcdir");

	snprintf(path, sizeof(path), "%s/tests/doctor/cases", source == NULL ? "." : source);
	return path;
}

/* ---- the text ------------------------------------------------------------------------------------------------- */

static char *whole(const char *name)
{
	struct doctor_files files = { .root = folder() };
	char *text = files_text(&files, NULL, "/%s.case", name);

	ck_assert_msg(text != NULL, "%s/%s.case: %s", folder(), name, strerror(errno));
	return text;
}

static void add_section(struct recorded *c, const char *name, const char *text, bool later)
{
	ck_assert_uint_lt(c->n, SECTIONS);
	c->section[c->n++] = (struct section){ strdup(name), strdup(text), later };
}

static void take_header(struct recorded *c, const char *line)
{
	if (sscanf(line, "# pid %ld", &c->pid) == 1 || sscanf(line, "# window_ms %lf", &c->window_ms) == 1)
		return;
	(void)sscanf(line, "# expect %255s", c->expect);
}

void case_load(struct recorded *c, const char *name)
{
	char *all = whole(name), *next;

	*c = (struct recorded){ .window_ms = 1000, .expect = "?" };
	c->section = calloc(SECTIONS, sizeof(*c->section));
	ck_assert_ptr_nonnull(c->section);
	for (char *line = all; line != NULL && *line != '\0'; line = next) {
		next = strchr(line, '\n');
		if (strncmp(line, "== ", 3) != 0) {
			take_header(c, line);
			if (next != NULL)
				next++;
			continue;
		}
		ck_assert_ptr_nonnull(next);
		*next++ = '\0';

		bool later = strncmp(line + 3, "later ", 6) == 0;
		char *text = next, *end = strstr(next, "\n== "), *comment = strstr(next, "\n# ");

		if (comment != NULL && (end == NULL || comment < end))
			end = comment;
		next = end == NULL ? NULL : end + 1;
		if (end != NULL)
			*end = '\0';
		add_section(c, line + (later ? 9 : 3), text, later);
	}
	free(all);
}

void case_free(struct recorded *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		free(c->section[i].name);
		free(c->section[i].text);
	}
	free(c->section);
	*c = (struct recorded){ 0 };
}

void case_edit(struct recorded *c, const char *name, const char *text)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->n; i++) {
		if (strcmp(c->section[i].name, name) != 0) {
			c->section[kept++] = c->section[i];
			continue;
		}
		free(c->section[i].name);
		free(c->section[i].text);
	}
	c->n = kept;
	if (text != NULL)
		add_section(c, name, text, false);
}

unsigned case_names(const char *const **names)
{
	static char *found[NAMES];
	static unsigned n;
	struct dirent **entries;
	int all = n > 0 ? 0 : scandir(folder(), &entries, NULL, alphasort);

	for (int i = 0; i < all; i++) {
		char *dot = strstr(entries[i]->d_name, ".case");

		if (dot != NULL && n < NAMES)
			found[n++] = strndup(entries[i]->d_name, (size_t)(dot - entries[i]->d_name));
		free(entries[i]);
	}
	if (all > 0)
		free(entries);
	*names = (const char *const *)found;
	return n;
}

/* ---- the files -------------------------------------------------------------------------------------------------- */

static void write_file(const char *root, const struct section *section)
{
	char path[PATH_BYTES];
	size_t bytes = strlen(section->text);

	snprintf(path, sizeof(path), "%s%s", root, section->name);
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
		*slash = '/';
	}

	FILE *file = fopen(path, "we");

	ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
	for (size_t i = 0; i < bytes; i++)
		fputc(section->text[i] == 1 ? 0 : section->text[i], file); /* the zeros of environ are kept as 1 */
	if (strstr(section->name, "/environ") == NULL)
		fputc('\n', file);
	fclose(file);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info;
	(void)kind;
	(void)walk;
	return remove(path);
}

void case_unpack(const struct recorded *c, struct unpacked *u)
{
	snprintf(u->root, sizeof(u->root), "/tmp/nsched-doctor.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(u->root));
	snprintf(u->then, sizeof(u->then), "%s/then", u->root);
	snprintf(u->now, sizeof(u->now), "%s/now", u->root);
	mkdir(u->then, 0700);
	mkdir(u->now, 0700);
	for (unsigned i = 0; i < c->n; i++)
		case_rewrite(u, &c->section[i]);
}

void case_rewrite(const struct unpacked *u, const struct section *section)
{
	if (!section->later)
		write_file(u->then, section);
	write_file(u->now, section);
}

void case_remove(const struct unpacked *u)
{
	nftw(u->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

struct doctor *case_look(const struct recorded *c, const struct unpacked *u)
{
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	struct doctor_job then = { 0 };
	struct doctor_files before = { .root = u->then };

	ck_assert_ptr_nonnull(doctor);
	doctor->files.root = u->now;
	machine_look(&doctor->machine, &doctor->files);
	limits_look(&doctor->own, &doctor->files, &doctor->machine, c->pid != 0 ? c->pid : 1);
	binders_look(&doctor->binders, &doctor->files, &doctor->machine);
	doctor->with_program = c->pid != 0;
	if (c->pid != 0 && job_look(&then, &before, &doctor->machine, c->pid) == 0 &&
	    job_look(&doctor->job, &doctor->files, &doctor->machine, c->pid) == 0)
		job_compare(&doctor->job, &then, (uint64_t)(c->window_ms * 1e6), &doctor->machine);
	job_free(&then);
	for (unsigned i = 0; i < doctor->job.n; i++)
		binders_of(&doctor->binders, doctor->job.process[i].pid, doctor->job.process[i].environment, doctor->job.process[i].environment_bytes);
	doctor_judge(doctor);
	return doctor;
}

struct doctor *case_doctor(const struct recorded *c)
{
	struct unpacked u;

	case_unpack(c, &u);

	struct doctor *doctor = case_look(c, &u);

	case_remove(&u);
	doctor->files.root = "";
	return doctor;
}

void case_forget(struct doctor *doctor)
{
	job_free(&doctor->job);
	free(doctor);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *case_found(const struct doctor *doctor)
{
	static char text[512];
	const char *id[DOCTOR_FOUND];
	size_t length = 0;

	for (unsigned i = 0; i < doctor->n_found; i++)
		id[i] = doctor->found[i].id;
	qsort(id, doctor->n_found, sizeof(*id), by_name);
	snprintf(text, sizeof(text), "-");
	for (unsigned i = 0; i < doctor->n_found; i++) {
		if (i == 0 || strcmp(id[i], id[i - 1]) != 0)
			length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", length > 0 ? "," : "", id[i]);
	}
	return text;
}
