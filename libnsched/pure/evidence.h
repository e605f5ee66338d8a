/* Who touches what: thread x memory, as weights that decay.
 *
 * Memory is kept as chunks: aligned blocks of 2 MiB, each halved where threads differ inside it, down
 * to a page. A chunk remembers the four threads that use it most, each with its weight and with the
 * mean place of its accesses inside the chunk: two threads whose means lie apart use different parts,
 * and the chunk is halved; two that share it have the same mean, and it is not. A mean, unlike an
 * extent, is not fooled by a stray sample.
 *
 * Two memories, since "who" and "how much" age differently. Who: the users' weights, of the last
 * accesses to this chunk, however long ago; a chunk that nobody visits keeps its owner, and a new owner
 * takes over after as many accesses as are remembered. How much: `recent`, the time that all threads
 * spent on the chunk lately, which decays; as a share of evidence_window_ns it is a rate.
 * Accesses to lines that the thread touched a moment ago (its cache has them) count little: clock
 * samples measure time, and a block that sits in a cache draws as many as one that misses. */
#ifndef NSCHED_EVIDENCE_H
#define NSCHED_EVIDENCE_H

#include <stdint.h>

enum {
	EVIDENCE_PAGE_SHIFT = 12,
	EVIDENCE_TOP_ORDER = 9,     /* log2 pages of an unsplit chunk: 2 MiB, a huge page */
	EVIDENCE_USERS = 4,         /* threads kept for each chunk; more share its `others` */
	EVIDENCE_TICK_NS = 250000,  /* one tick of weight: a sixteenth of a sample at 250 Hz, so that a sample outlives four half-lives */
	EVIDENCE_NO_THREAD = 0xffff,
};

struct evidence_user {
	uint16_t thread;
	uint16_t mean;     /* of its accesses, in 1/128 of a page from the chunk's start */
	uint16_t weight;   /* ticks; all of the chunk are halved when there are too many */
	uint16_t seen;     /* accesses that the mean is of, up to a bound */
};

struct evidence_chunk {
	uint64_t page : 48;   /* number of its first page */
	uint64_t order : 8;   /* log2 of its pages */
	uint64_t n_users : 8;
	uint32_t child;    /* the first of its two halves, which lie side by side; 0: not split */
	uint16_t others;   /* weight of threads that are not among the users */
	uint16_t recent;   /* ticks of all accesses, decaying with time */
	struct evidence_user user[EVIDENCE_USERS]; /* in no order */
};

struct evidence;

/* Room for `max_chunks` chunks; threads are numbered below `max_threads`. 0 or -ENOMEM. Memory grows
 * with use: 64 bytes a chunk with its placement, and a kilobyte for each thread. */
int evidence_init(struct evidence **evidence, unsigned max_chunks, unsigned max_threads);
void evidence_free(struct evidence *evidence);

/* One access of `thread` to the byte `addr`, standing for `weight_ns` of its time. Returns the chunk's
 * index, or -ENOSPC where there is no room for another chunk (counted in evidence_dropped). */
int evidence_add(struct evidence *evidence, unsigned thread, uint64_t addr, float weight_ns);

/* The same for every page of a range whose traffic is known, `weight_ns` for all of it. */
int evidence_add_range(struct evidence *evidence, unsigned thread, uint64_t addr, uint64_t bytes, float weight_ns);

/* Time passes: `ns` since the last call, of which `seen_ns` were watched (samples get lost where they
 * come faster than they are taken in). What counts as recent halves each `half_life_ns`. */
void evidence_age(struct evidence *evidence, uint64_t ns, uint64_t seen_ns, uint64_t half_life_ns);

/* A thread is gone: what is known of it is forgotten, its number may be used anew. */
void evidence_forget_thread(struct evidence *evidence, unsigned thread);

/* The time that `recent` stands for: recent x EVIDENCE_TICK_NS / window is how much of one thread's time
 * goes to the chunk; each user has its part of that by weight. */
double evidence_window_ns(const struct evidence *evidence);

uint64_t evidence_dropped(const struct evidence *evidence);

/* Chunk `index`, from 1; evidence_count is one above the highest. Split ones have children; chunks that
 * are free have order 0xff. */
enum { EVIDENCE_FREE = 0xff };

/* Ticks of all who are remembered to use the chunk. */
unsigned evidence_weight(const struct evidence_chunk *chunk);
struct evidence_chunk *evidence_chunk(struct evidence *evidence, unsigned index);
unsigned evidence_count(const struct evidence *evidence);

/* Called for every leaf with users, by ascending address. */
typedef void evidence_visit(void *arg, unsigned index, const struct evidence_chunk *chunk);
int evidence_walk(struct evidence *evidence, evidence_visit *visit, void *arg);

#endif
