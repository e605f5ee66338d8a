/* A workload: processes of threads that compute on memory, wait for each other, talk, start others and end. Made by
 * workload_parse from the text that docs/sim.md describes; no run changes it. */
#ifndef NSCHED_SIM_WORKLOAD_H
#define NSCHED_SIM_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WORKLOAD_NAME = 32,
	WORKLOAD_USES = 6,       /* pieces of memory of one `run` */
	WORKLOAD_DEPTH = 8,      /* repeats inside each other */
	WORKLOAD_PARAMS = 8,
};

enum memory_scope { SCOPE_MACHINE, SCOPE_PROCESS, SCOPE_THREAD };

struct wl_memory {
	char name[WORKLOAD_NAME];
	uint64_t bytes;
	enum memory_scope scope;
	int process;             /* index of its section; -1: the whole machine's */
	unsigned slot;           /* among those of its scope and section */
};

enum wl_part { PART_ALL, PART_SLICE, PART_BEFORE, PART_BEHIND }; /* of the thread, of its neighbours */

struct wl_use {
	unsigned memory;         /* index in workload.memory */
	enum wl_part part;
	float weight;            /* of the accesses of the `run` */
	double pass_ns;          /* run time in which it is gone through once from start to end; 0: anywhere by chance */
};

enum wl_verb {
	DO_TOUCH, DO_RUN, DO_SLEEP, DO_BARRIER, DO_SEND, DO_RECEIVE, DO_START, DO_SPAWN, DO_WAIT, DO_REPEAT, DO_END, DO_MARK,
};

enum wl_to { TO_EACH, TO_ONE, TO_NEXT, TO_PREVIOUS };

struct wl_op {
	enum wl_verb verb;
	unsigned line;
	double ns, spread;       /* run, sleep: how long, and by what share it varies */
	float stall;             /* run: share of the time that waits for memory, were it all local */
	float bytes_per_ns;      /* run: traffic, were it all local */
	struct wl_use use[WORKLOAD_USES];
	unsigned n_uses;
	int node;                /* touch: the thread goes to this node for it, -1: it stays */
	uint64_t count;          /* repeat, receive, start, spawn, mark, wait (below) */
	double bytes;            /* send */
	unsigned target;         /* start, send: thread section; spawn: process section; repeat, end: the op of the other */
	enum wl_to to;           /* send */
	bool everywhere;         /* barrier: over all processes of the section */
	bool spin;               /* barrier: waits on its CPU */
};

struct wl_thread {
	char name[WORKLOAD_NAME];
	unsigned process, line;
	unsigned count;          /* of them in each process */
	struct wl_op *op;
	unsigned n_ops, room;
	bool starts_with_process;/* the first section of its process */
	bool openmp;             /* each of its `run` lines is a parallel region, whose times nsched sees */
};

struct wl_process {
	char name[WORKLOAD_NAME];
	unsigned count;          /* there at the start */
	bool aside;              /* only disturbs: neither waited for nor counted */
	bool forked;             /* its threads are processes of their own, which share what they share by chance */
	int first_thread;        /* -1: none yet */
	unsigned memories, thread_memories; /* slots of scope process, and thread */
};

enum wl_metric { METRIC_TIME, METRIC_RATE, METRIC_BANDWIDTH };

struct workload {
	char name[WORKLOAD_NAME], about[160];
	enum wl_metric metric;
	double limit_ns;         /* 0: until all have ended */
	struct wl_memory *memory;
	struct wl_process *process;
	struct wl_thread *thread;
	unsigned n_memories, n_processes, n_threads, machine_memories;
	struct { char name[WORKLOAD_NAME]; double value; } param[WORKLOAD_PARAMS];
	unsigned n_params;
};

enum { WORKLOAD_ERROR = 240 };

struct workload_error {
	unsigned line;           /* 0: not of a line */
	char text[WORKLOAD_ERROR];
};

/* Parses `bytes` bytes of text; `settings` ("N=25,M=2", NULL: none) change the values of its `param` lines.
 * 0; -EINVAL with the line and the word that is wrong; -ENOMEM. Nothing to free after an error. */
int workload_parse(struct workload *workload, const char *text, size_t bytes, const char *settings, struct workload_error *error);

/* The file itself, or NAME.sim in the folder of those that are installed (or in $NSCHED_SIM_WORKLOADS); what stands
 * behind a colon are settings. 0 or -errno, with a text. */
int workload_load(struct workload *workload, const char *spec, struct workload_error *error);

void workload_free(struct workload *workload);

#endif
