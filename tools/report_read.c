#define _GNU_SOURCE
#include "report_read.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

enum { RANKS_MOST = 1 << 20 };

static long number(const json_t *report, const char *name, long otherwise)
{
	const json_t *value = json_object_get(report, name);

	return json_is_integer(value) ? (long)json_integer_value(value) : otherwise;
}

static struct read_report *add(struct read_job *job)
{
	if (job->n == job->room) {
		unsigned room = job->room == 0 ? 16 : 2 * job->room;
		struct read_report *grown = realloc(job->report, room * sizeof(*grown));

		if (grown == NULL)
			return NULL;
		job->report = grown;
		job->room = room;
	}
	memset(&job->report[job->n], 0, sizeof(*job->report));
	return &job->report[job->n++];
}

/* What the rank has sent. The ranks of the job are known by the first report that tells. */
static int take_row(struct read_job *job, struct read_report *r, const json_t *sent)
{
	size_t i;
	const json_t *peer;

	r->has_row = 1;
	json_array_foreach(sent, i, peer) {
		if (json_is_null(json_object_get(peer, "rank")) || number(peer, "rank", 0) == -1)
			continue; /* to processes outside of the job */
		long to = number(peer, "rank", -2);
		long long bytes = (long long)number(peer, "bytes", -1);

		if (to < 0 || bytes < 0 || cut_add(&job->graph, (unsigned)r->rank, (unsigned)to, (uint64_t)bytes) == -EINVAL) {
			complain("%s: what was sent to rank %ld makes no sense in a job of %u ranks", r->file, to, job->ranks);
			return COMMAND_USAGE;
		}
		r->bytes_sent += (unsigned long long)bytes;
		r->messages_sent += (unsigned long long)number(peer, "messages", 0);
	}
	return 0;
}

static int take(struct read_job *job, const char *file, const json_t *json)
{
	const json_t *state = json_object_get(json, "state"), *host = json_object_get(json, "host"), *sent = json_object_get(json_object_get(json, "exchange"), "sent");

	if (!json_is_string(state) || !json_is_string(json_object_get(json, "version")) || !json_is_string(host)) {
		job->strangers++;
		return 0;
	}
	struct read_report *r = add(job);

	if (r == NULL || (r->file = strdup(file)) == NULL || (r->host = strdup(json_string_value(host))) == NULL) {
		complain("there is no memory for the reports");
		return COMMAND_BROKEN;
	}
	r->active = strcmp(json_string_value(state), "active") == 0;
	r->rank = (int)number(json, "rank", -1);
	r->ranks = (unsigned)number(json, "ranks", 0);
	r->run_s = json_number_value(json_object_get(json, "run_s"));
	r->local_first = number(json, "local_permille_first", -1);
	r->local_last = number(json, "local_permille_last", -1);
	r->threads = (unsigned)number(json, "threads", 0);
	r->nodes = (unsigned)number(json, "nodes", 1);
	r->cpus = (unsigned)number(json, "machine_cpus", 0);
	r->moved_bytes = (unsigned long long)number(json, "moved_bytes", 0);
	r->thread_moves = (unsigned long long)number(json, "thread_moves", 0);
	if (r->rank < 0 || r->ranks == 0)
		return 0;
	if (r->ranks > RANKS_MOST || r->rank >= (int)r->ranks || (job->ranks != 0 && job->ranks != r->ranks)) {
		complain("%s is of rank %d of %u, and others are of a job of %u ranks: one job at a time", file, r->rank, r->ranks, job->ranks);
		return COMMAND_USAGE;
	}
	job->ranks = job->graph.ranks = r->ranks;
	return sent == NULL ? 0 : take_row(job, r, sent);
}

static int read_file(struct read_job *job, const char *file, int in_folder)
{
	json_error_t error;
	json_t *json = json_load_file(file, 0, &error);
	int result = 0;

	if (json == NULL && in_folder) {
		job->strangers++;
		return 0;
	}
	if (json == NULL) {
		complain("%s is no report as JSON: %s (line %d); nsched run --report=NAME.json writes one", file, error.text, error.line);
		return COMMAND_USAGE;
	}
	unsigned before = job->n;

	result = take(job, file, json);
	if (result == 0 && job->n == before && !in_folder) {
		complain("%s is JSON, but no report of nsched", file);
		result = COMMAND_USAGE;
	}
	json_decref(json);
	return result;
}

static int is_json(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

int report_read(struct read_job *job, const char *path)
{
	struct dirent **entries;
	struct stat info;
	char file[PATH_MAX];
	int result = 0;

	if (stat(path, &info) < 0) {
		complain("%s: %s", path, strerror(errno));
		return COMMAND_USAGE;
	}
	if (!S_ISDIR(info.st_mode))
		return read_file(job, path, 0);
	int n = scandir(path, &entries, is_json, alphasort);

	if (n < 0) {
		complain("%s: %s", path, strerror(errno));
		return COMMAND_USAGE;
	}
	for (int i = 0; i < n; i++) {
		if (result == 0 && snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name) < (int)sizeof(file))
			result = read_file(job, file, 1);
		free(entries[i]);
	}
	free(entries);
	return result;
}

static int order_of(const void *x, const void *y)
{
	const struct read_report *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return strcmp(a->file, b->file);
}

int report_read_end(struct read_job *job)
{
	if (job->n == 0) {
		complain("there is no report here%s; nsched run --report=FOLDER/NAME.json writes one for each rank",
		         job->strangers > 0 ? ", only other JSON" : "");
		return COMMAND_USAGE;
	}
	qsort(job->report, job->n, sizeof(*job->report), order_of);
	for (unsigned i = 1; i < job->n; i++) {
		/* a child of a rank's program has a report of its own, without a row */
		if (job->report[i].rank >= 0 && job->report[i].rank == job->report[i - 1].rank && job->report[i].has_row &&
		    job->report[i - 1].has_row) {
			complain("%s and %s are both of rank %d: one run at a time", job->report[i - 1].file, job->report[i].file, job->report[i].rank);
			return COMMAND_USAGE;
		}
	}
	cut_finish(&job->graph);
	return 0;
}

void report_read_free(struct read_job *job)
{
	for (unsigned i = 0; i < job->n; i++) {
		free(job->report[i].file);
		free(job->report[i].host);
	}
	free(job->report);
	cut_free(&job->graph);
}
