/* What the program says of its memory: ranges with names, and hints of who uses them. */
#ifndef NSCHED_RANGES_H
#define NSCHED_RANGES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct range {
	uint64_t addr, bytes;
	char name[32];
};

struct hint {
	uint64_t addr, bytes, bytes_per_s;
	uint32_t thread;            /* registry number */
};

struct ranges {
	pthread_mutex_t lock;       /* protects all of it; held for short, never across a system call */
	struct range *range;        /* by ascending address, none overlaps */
	struct hint *hint;
	unsigned n_ranges, n_hints, room_ranges, room_hints;
	unsigned most_ranges, most_hints;
};

void ranges_init(struct ranges *ranges, unsigned most_ranges, unsigned most_hints);
void ranges_free(struct ranges *ranges);

/* Forgets all, with new limits (0: takes nothing any more), while other threads may be in the calls below: the lock stays what it is. */
void ranges_reset(struct ranges *ranges, unsigned most_ranges, unsigned most_hints);

/* In the child of a fork, which knows of none. `whole`: the forking thread had the lock, which is released; else another thread may have
 * been at work, and what there was is lost. */
void ranges_forked(struct ranges *ranges, bool whole);

/* The contracts of nsched_mem_attach, _detach and _hint. */
int ranges_attach(struct ranges *ranges, const char *name, uint64_t addr, uint64_t bytes);
int ranges_detach(struct ranges *ranges, uint64_t addr);
int ranges_hint(struct ranges *ranges, uint32_t thread, uint64_t addr, uint64_t bytes, uint64_t bytes_per_s);

/* The same without a look at what it goes with, and without the lock: for a replay. -EINVAL, -EEXIST, -ENOSPC. */
int ranges_put(struct ranges *ranges, const char *name, uint64_t addr, uint64_t bytes);
int ranges_put_hint(struct ranges *ranges, const struct hint *hint);

/* A thread is gone, and what was said of it. */
void ranges_forget_thread(struct ranges *ranges, uint32_t thread);

/* The name of the range that holds `addr` into `name` of 32 bytes; "" where there is none. */
void ranges_name(struct ranges *ranges, uint64_t addr, char name[32]);

#endif
