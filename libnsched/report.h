/* The report: what nsched saw and did, as text for people or as JSON. */
#ifndef NSCHED_REPORT_H
#define NSCHED_REPORT_H

#include <stdio.h>

#include "exchange.h"
#include "recorder.h"
#include "session.h"

struct report {
	const struct nsched_config *config;
	const struct session *session;  /* NULL: idle */
	const char *idle_reason;        /* where idle */
	const struct neighbours *neighbours; /* the other processes of the job; its board may be NULL */
	struct exchange *exchange;      /* the messages of a rank */
	const struct recorder *recorder; /* NULL: nobody asked for a record */
	uint32_t threads, refused;      /* known at the most at a time; not served for lack of room */
	double run_s;
	unsigned overhead_permille;
};

/* Writes to `file`, "-" for standard error: JSON where it ends in .json, the situation where it ends in .situation.
 * 0 or -errno. */
int report_write(const struct report *report, const char *file);

/* 0 or -errno, into an open stream. */
int report_text(const struct report *report, FILE *out);
int report_json(const struct report *report, FILE *out);

/* What the last plan was made of, as text that can be read again (pure/snapshot.h), with the ids of the threads as
 * remarks. 0 or -errno. */
int report_situation(const struct report *report, FILE *out);

/* The part about messages, as text: nothing where no rank's messages are counted. */
void report_exchange(struct exchange *exchange, FILE *out);

/* Own CPU time in the process's, permille. */
unsigned report_overhead(const struct session *session);

#endif
