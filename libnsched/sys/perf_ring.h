/* perf_event ring buffers, read in place of waiting for signals or wakeups: one for each thread and
 * kind of event. The reading of records needs no ring of the kernel's, so that tests feed bytes. */
#ifndef NSCHED_PERF_RING_H
#define NSCHED_PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	/* Data pages of a ring, a power of two. perf allows a user 516 KiB of ring for each CPU; with the
	 * control page a ring takes 36 KiB of it, and there are two for each thread. */
	PERF_RING_PAGES = 8,
	PERF_RECORD_MOST = 512, /* bytes of the largest record that is read; ours have at most 168 */
};

/* ---- records ---------------------------------------------------------------------------------------- */

/* A stretch of records in a circular buffer. */
struct perf_cursor {
	const uint8_t *data;
	uint64_t bytes; /* of the buffer, a power of two */
	uint64_t tail;  /* the next record is here */
	uint64_t head;  /* behind the last record */
};

union perf_record {
	struct perf_event_header header;
	uint64_t words[PERF_RECORD_MOST / 8];
};

/* Copies the next record out, also one that wraps; words beyond its size are 0. False at the end. A
 * record that can't be (no size, longer than what is there) ends the stretch: nothing behind it can
 * be trusted. Records longer than PERF_RECORD_MOST are skipped. */
bool perf_cursor_next(struct perf_cursor *cursor, union perf_record *record);

/* Records up to the head, if all are as long as the next. */
unsigned perf_cursor_records(const struct perf_cursor *cursor);

/* The number of lost samples that a record tells of; 0 for other kinds. */
uint64_t perf_record_lost(const union perf_record *record);

/* What records tell of an AUX area (PERF_RECORD_AUX). */
struct perf_aux_told {
	bool full;      /* the hardware found no room; the kernel has stopped the event since */
	uint64_t lost;  /* times that samples were: for that, or since one came before the last was written; and records that were */
};

/* Adds what this one tells; nothing, of other kinds. */
void perf_record_aux(const union perf_record *record, struct perf_aux_told *told);

/* ---- rings ------------------------------------------------------------------------------------------ */

struct perf_ring {
	int fd;
	int leader;             /* the event that it is grouped behind; 0: none */
	struct perf_event_mmap_page *page; /* and the data pages behind it */
	size_t mapped_bytes;
	uint8_t *aux;           /* area that the hardware itself writes to; NULL: none */
	size_t aux_bytes;
};

/* Opens the event for one thread of this process (0: the caller) and maps its ring.
 * -EACCES, -EPERM  perf_event_paranoid, a seccomp filter, or the user's allowance of ring memory is
 *                  used up
 * -EMFILE, -ESRCH, -ENOENT, -ENOSYS, -ENOMEM  as perf_event_open and mmap say */
int perf_ring_open(struct perf_ring *ring, const struct perf_event_attr *attr, pid_t tid);

/* The same, in a group behind `leader`, which is opened first and only counts (NULL: none), and with an AUX area of
 * `aux_bytes` bytes, a power of two of pages (0: none). */
int perf_ring_open_more(struct perf_ring *ring, const struct perf_event_attr *attr, const struct perf_event_attr *leader,
                        size_t aux_bytes, pid_t tid);

/* What is in the AUX area, from *tail on (counted since the beginning) up to the value returned; then gives it back. */
uint64_t perf_ring_aux_head(const struct perf_ring *ring, uint64_t *tail);
void perf_ring_aux_read(struct perf_ring *ring, uint64_t tail);

/* What the ring itself has told of its AUX area since the last call. */
struct perf_aux_told perf_ring_aux_told(struct perf_ring *ring);

/* Unmaps and closes; one that is not open (page NULL) is left alone. */
void perf_ring_close(struct perf_ring *ring);

/* In the child of a fork: closes the child's copy of the descriptor. The ring's pages are not mapped
 * in the child; what is at their place now may be someone else's. */
void perf_ring_forked(struct perf_ring *ring);

/* What is in the ring now; perf_ring_read gives the room up to the cursor's tail back. */
struct perf_cursor perf_ring_begin(const struct perf_ring *ring);
void perf_ring_read(struct perf_ring *ring, const struct perf_cursor *cursor);

/* Events counted since the event was opened, whether a sample was kept or not. */
uint64_t perf_ring_count(const struct perf_ring *ring);

/* Stops the event for a while, and goes on. */
int perf_ring_enable(struct perf_ring *ring, bool on);

/* Another sample period, above 0. */
int perf_ring_set_period(struct perf_ring *ring, uint64_t period);

/* ---- a ring for each thread --------------------------------------------------------------------------- */

struct perf_rings {
	struct perf_ring *ring; /* by thread number */
	unsigned most;
	unsigned end;           /* numbers in use are below this */
	unsigned turn;          /* where the next poll begins: all come first in turn */
};

int perf_rings_create(struct perf_rings *rings, unsigned most);
void perf_rings_destroy(struct perf_rings *rings);
void perf_rings_forked(struct perf_rings *rings); /* frees too */
int perf_rings_add(struct perf_rings *rings, const struct perf_event_attr *attr, unsigned thread, pid_t tid);
void perf_rings_remove(struct perf_rings *rings, unsigned thread);
void perf_rings_set_period(struct perf_rings *rings, unsigned thread, uint64_t period); /* nothing where it has no ring */

/* Calls `poll` for each open ring with its part of `most` accesses, `least` or more; it returns how many it took. Where not all can
 * have their part, the others come first the next time. The sum. */
unsigned perf_rings_poll(struct perf_rings *rings, unsigned most, unsigned least,
                         unsigned (*poll)(void *arg, unsigned thread, unsigned most), void *arg);

/* The reason of a refusal in words, for `why`. */
const char *perf_refusal(int err);

#endif
