/* The reports of a job's processes, read back: the only file of the tools that includes jansson.h. */
#ifndef NSCHED_REPORT_READ_H
#define NSCHED_REPORT_READ_H

#include "libnsched/pure/cut.h"

struct read_report {
	char *file, *host;
	int rank;                     /* -1: none */
	unsigned ranks;               /* 0: not told */
	int active, has_row;
	double run_s;
	long local_first, local_last; /* permille; -1: not seen */
	unsigned threads, cpus, nodes; /* the machine's CPUs, and the nodes that were chosen from */
	unsigned long long moved_bytes, thread_moves, bytes_sent, messages_sent;
};

struct read_job {
	struct read_report *report;
	unsigned n, room;
	unsigned ranks;               /* of the job, 0: no rank at all */
	unsigned strangers;           /* JSON files that are no reports of nsched */
	struct cut_graph graph;
};

/* Reads a report, or every *.json of a folder. 0, or COMMAND_USAGE after it has said what is wrong. */
int report_read(struct read_job *job, const char *path);

/* Checks the reports against each other once all are read: 0, or COMMAND_USAGE after it has said what does not fit. */
int report_read_end(struct read_job *job);

void report_read_free(struct read_job *job);

#endif
