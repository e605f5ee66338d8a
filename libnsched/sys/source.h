/* A source: one kind of evidence of who touches what. Each is one file, source_NAME.c, with one
 * `struct source_ops` at its end, listed in source.c's array.
 *
 * All hooks are called by the thread that steps the session, one at a time; none may block, none
 * may print, and each lets errno be what it likes. A hook that is NULL is absent. Losing a source in
 * mid-run is normal: poll returns a negated errno and the session drops it, with the reason. */
#ifndef NSCHED_SOURCE_H
#define NSCHED_SOURCE_H

#include <stdint.h>
#include <sys/types.h>

enum access_kind {
	ACCESS_SAMPLE,      /* a clock or hardware sample: weight_ns of the thread's time went to addr */
	ACCESS_FIRST_TOUCH, /* the page at addr came to be by this thread's touch */
	ACCESS_HINT_FAULT,  /* a NUMA-hinting fault: the thread touches addr now */
};

/* One access, seen. */
struct access {
	uint64_t addr;      /* data address, in bytes */
	uint32_t thread;    /* the number that thread_add was given */
	float weight_ns;    /* the thread's time that it stands for */
	uint8_t kind;       /* enum access_kind */
};

/* What came of one thread in a poll, and what that took. */
struct source_taken {
	unsigned thread;
	unsigned samples;    /* that were taken in; `lost` came besides */
	unsigned lost;
	unsigned accesses;   /* that they gave */
	uint64_t time_ns;    /* of the thread, that they stand for */
	uint64_t decode_ns;  /* see source_counts */
};

/* Where a source puts what it saw; and, if it samples by the clock and somebody wants to know it, how much that was. */
struct sink {
	void (*put)(void *arg, const struct access *access);
	void *arg;
	void (*taken)(void *arg, const struct source_taken *taken); /* or NULL */
};

/* What a source counts of itself; the report shows it. */
struct source_counts {
	uint64_t samples;    /* taken by the hardware, kernel or signal */
	uint64_t resolved;   /* gave at least one data address */
	uint64_t unresolved; /* gave none: no memory operand, gathers, code that is gone */
	uint64_t lost;       /* dropped because a ring was full, or decoding would have taken too long */
	uint64_t decode_ns;  /* of the polling thread's CPU time: what code took that was seen for the first time */
};

/* What the session tells a source at start. */
struct source_setup {
	uint64_t period_ns;    /* wanted time between two samples of one thread's CPU time */
	unsigned max_threads;  /* numbers given to thread_add are below this */
	const struct source_ops *self; /* the source that is started; for those that are made at run time */
};

enum { SOURCE_WHY = 120 };   /* room for the reason why a source is off */

struct source_ops {
	const char *name;      /* in the report: "clock-timer" */

	/* NULL, or the source that gives the same and better: where that one, or one that it stands in for, is on, this one
	 * stays off. */
	const struct source_ops *stands_in_for;

	/* What a sample takes of the thread that it is of, in ns, about: signals, interrupts and faults are not the helper's
	 * time, but they are the program's. */
	unsigned sample_ns;

	/* The same as start has measured it, for what differs between machines by ten times; after start. */
	unsigned (*price)(const void *state);

	/* Probes by doing, and starts. 0 and *state, or a negated errno and the reason in one line. */
	int (*start)(const struct source_setup *setup, void **state, char why[SOURCE_WHY]);

	/* From now on thread `tid` of this process, numbered `thread`, is watched; -errno if it can't be. */
	int (*thread_add)(void *state, unsigned thread, pid_t tid);
	void (*thread_remove)(void *state, unsigned thread);

	/* Hands over what was seen since the last poll, `most` accesses at the most (the rest waits or is
	 * lost and counted). The number handed over, or a negated errno if the source is dead: -EBUSY, the program took it for
	 * itself; -ELIBACC, the first one, Capstone can't be loaded. */
	int (*poll)(void *state, const struct sink *sink, unsigned most);

	/* Samples the thread every period_ns (above 0) of its CPU time from now on; one that it does not watch is left alone. */
	void (*set_period)(void *state, unsigned thread, uint64_t period_ns);

	void (*counts)(const void *state, struct source_counts *counts);

	/* Ends it and frees the state. After it no signal and no callback of the source comes any more. */
	void (*stop)(void *state);

	/* In the child of a fork: frees what the child inherited without touching what the parent's
	 * threads still use (closes its copies of file descriptors, unmaps its copies of rings). */
	void (*forked)(void *state);
};

/* What a poll that failed with `err` means, in one line. */
void source_lost(int err, char why[SOURCE_WHY]);

extern const struct source_ops source_mem;        /* hardware samples of memory accesses */
extern const struct source_ops source_clock_perf;  /* perf_event's CPU clock with user registers */
extern const struct source_ops source_clock_timer; /* a CPU timer for each thread and its signal's context */
extern const struct source_ops source_faults;      /* page-fault addresses, NUMA-hinting faults included */

#endif
