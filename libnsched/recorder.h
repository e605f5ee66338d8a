/* The recorder: stands between a session and all that it is given from outside, and writes down what comes (record.h).
 *
 *   recorder.c      life, and what it witnesses
 *   recorder_ops.c  the clock, hands, sources, counters and eyes that it stands for
 *
 * Only the thread that steps writes, and only within steps. Other threads come through it where they bind themselves or read their
 * counters: for them it hands on, and no more. Whatever goes wrong ends the recording and nothing else. */
#ifndef NSCHED_RECORDER_H
#define NSCHED_RECORDER_H

#include "pure/tape.h"
#include "record.h"
#include "session.h"
#include "sys/record_file.h"

struct recorded_source {
	struct recorder *recorder;
	struct source_ops ops;           /* its stand-in; the others in place of the real ones */
	const struct source_ops *inner;
	void *state;                     /* the real one's */
	struct source_counts last;
};

/* Must outlive every thread that may be reading its counters: in static memory. */
struct recorder {
	struct record_file *file;        /* NULL: it does not record (any more) */
	char why[RECORD_FILE_WHY];       /* why not */
	uint64_t bytes;                  /* of the file when it was closed */
	uint64_t most_bytes;
	bool anonymous;
	_Atomic uintptr_t stepper;       /* the thread that steps just now; 0: none */
	uint64_t steps, flushed_ns;
	uint64_t own_cpu_ns;             /* that packing and writing took; noting is a part of the steps' own */

	const struct clock_ops *clock;
	void *clock_state;
	const struct actuator_ops *hands;
	void *hands_state;
	struct actuator_ops own_hands;
	const struct counter_ops *counters;
	void *counters_state;
	struct counter_ops own_counters;
	const struct eyes_ops *eyes;
	void *eyes_state;
	struct recorded_source source[SESSION_SOURCES];
	const struct source_ops *own_sources[SESSION_SOURCES + 1];
	unsigned n_sources;

	struct tape tape, part;          /* of this step; of one event, where its length comes first */
	unsigned n_part;
	struct access last_access;
	uint64_t last_now, last_own, last_process, last_line, last_ticks, last_count_ns, last_page, last_addr;
	struct recorder_seen { pid_t tid; int state, bound, node; bool fixed; uint16_t process; float load; } *seen; /* of each slot, as the reader of the record has it */
	uint32_t n_seen, room_seen;
	struct hint *hint;               /* as noted last */
	struct range *range;
	unsigned n_hints, n_ranges;
	const char *reason[RECORD_REASONS];
	unsigned n_reasons;
};

/* Begins a record in the file of this name; `config` says how. 0, or a negated errno and `why`. */
int recorder_open(struct recorder *recorder, const char *file, const struct nsched_config *config);

/* Puts itself between what the setup has and the session that is about to be made of it, by the calling thread. */
void recorder_join(struct recorder *recorder, struct session_setup *setup);

/* Ends it in order, after the session's last step; what other threads may still come through stays. */
void recorder_close(struct recorder *recorder);

/* In the child of a fork: lets go of the parent's file. */
void recorder_forked(struct recorder *recorder);

/* Bytes of the file. */
uint64_t recorder_bytes(const struct recorder *recorder);

/* ---- between its files ---------------------------------------------------------------------------------------- */

/* Is this the thread that steps, in a step, and does it record? */
bool recorder_writes(const struct recorder *recorder);
void recorder_join_ops(struct recorder *recorder, struct session_setup *setup);

/* An event, and a number as a difference to the last of its kind. */
void recorder_event(struct recorder *recorder, enum record_event event);
void recorder_difference(struct recorder *recorder, uint64_t number, uint64_t *last);

#endif
