/* Between the two files of the workload's parser: parse.c has the sections, parse_op.c what threads do. */
#ifndef NSCHED_SIM_PARSE_H
#define NSCHED_SIM_PARSE_H

#include "number.h"
#include "pure/snapshot_words.h"

struct parse {
	struct words w;
	struct workload *workload;
	const char *settings;
	int thread, next_thread;          /* the section that lines belong to, -1: none */
	unsigned open[WORKLOAD_DEPTH];    /* repeats without their end yet */
	unsigned depth;
};

/* Each 0 or -EINVAL with the error said, unless told otherwise. */
int parse_unknown(struct parse *parse, const char *const *names, size_t n, const char *what);
int parse_unknown_line(struct parse *parse);
int parse_number(struct parse *parse, enum number_kind kind, double most, double *number);
int parse_count(struct parse *parse, uint64_t least, uint64_t most, uint64_t *count);
int parse_share(struct parse *parse, float *share);

/* Is the word that was taken last one of those that a thread does? All of them into `names`: how many. */
bool parse_is_verb(const struct parse *parse);
size_t parse_verbs(const char **names);

/* The rest of a line whose verb was taken, into a zeroed op. */
int parse_op(struct parse *parse, struct wl_op *op);

/* At the end of a section: a repeat without end is an error. */
int parse_open_repeat(struct parse *parse);

#endif
