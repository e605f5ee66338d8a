/* Who touches what: thread x memory, as weights that decay.
 *
 * Memory is kept as blocks of 2 MiB, and each block as one chunk or several that lie side by side, of any
 * number of pages. A chunk remembers the threads that use it most, each with its weight. Where threads use
 * different parts of a block, it is cut between them: the last accesses that were seen are kept as they
 * were (evidence_seen.h), and evidence_learn finds from them who uses which pages (segments.h).
 *
 * Two memories, since "who" and "how much" age differently. Who: the users' weights, of the last
 * accesses to this chunk, however long ago; a chunk that nobody visits keeps its owner, and a new owner
 * takes over after as many accesses as are remembered. How much: `recent`, the time that all threads
 * spent on the chunk lately, which decays; as a share of evidence_window_ns it is a rate.
 * Accesses to what the thread has in its cache count little: lines that it touched a moment ago, and places that draw
 * far more than the rest of what it touches. Clock samples measure time, and a block that sits in a cache draws as
 * many as one that misses. */
#ifndef NSCHED_EVIDENCE_H
#define NSCHED_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	EVIDENCE_ADDRESS_BITS = 57, /* x86-64 with five levels of page tables; AArch64 has fewer */
	EVIDENCE_PAGE_SHIFT = 12,
	EVIDENCE_BLOCK_SHIFT = 9,   /* log2 pages of a block: 2 MiB, a huge page */
	EVIDENCE_BLOCK_PAGES = 1 << EVIDENCE_BLOCK_SHIFT,
	EVIDENCE_THREADS = 4096,    /* threads are numbered below this */
	EVIDENCE_USERS = 8,         /* threads kept for each chunk; more share its `others` */
	EVIDENCE_TICK_NS = 250000,  /* one tick of weight: a sixteenth of a sample at 250 Hz, so that a sample outlives four half-lives */
	EVIDENCE_NO_THREAD = 0xffff,
};

struct evidence_user {
	uint16_t thread;
	uint16_t weight;       /* ticks; all of the chunk are halved when there are too many */
};

struct evidence_chunk {
	uint64_t page : 45;    /* number of its first page */
	uint64_t pages : 10;   /* 0: the chunk is free */
	uint64_t n_users : 4;
	/* of a block's first chunk, for the block: */
	uint64_t told : 1;     /* what is known of it, the program said (evidence_add_range) */
	uint64_t unclear : 1;  /* evidence_learn has to look at it */
	uint64_t whole : 1;    /* its users were seen all over it, or it is taken for whole */
	uint32_t next;         /* the chunk behind it in the block; 0: none */
	uint16_t others;       /* weight of threads that are not among the users */
	uint16_t recent;       /* ticks of all accesses, decaying with time */
	struct evidence_user user[EVIDENCE_USERS]; /* in no order */
};

struct evidence;

/* Room for `max_chunks` chunks; threads are numbered below `max_threads`. 0; -ENOMEM; -EINVAL: too many threads. Memory grows
 * with use: 64 bytes a chunk with its placement, and 3.8 KiB for each thread that was seen. */
int evidence_init(struct evidence **evidence, unsigned max_chunks, unsigned max_threads);
void evidence_free(struct evidence *evidence);

/* One access of `thread` to the byte `addr`, standing for `weight_ns` of its time. Returns the chunk's
 * index; -ENOSPC where there is no room for another chunk (counted in evidence_dropped); -EINVAL for a thread
 * or an address that cannot be. */
int evidence_add(struct evidence *evidence, unsigned thread, uint64_t addr, float weight_ns);

/* The same for every page of a range whose traffic is known, `weight_ns` for all of it. */
int evidence_add_range(struct evidence *evidence, unsigned thread, uint64_t addr, uint64_t bytes, float weight_ns);

/* Cuts and joins the chunks of the blocks that have become unclear, as the last accesses tell. Once a step,
 * after what was seen has been added. */
void evidence_learn(struct evidence *evidence);

/* Time passes: `ns` since the last call, of which `seen_ns` were watched (samples get lost where they
 * come faster than they are taken in). What counts as recent halves each `half_life_ns`. */
void evidence_age(struct evidence *evidence, uint64_t ns, uint64_t seen_ns, uint64_t half_life_ns);

/* A thread is gone: what is known of it is forgotten, its number may be used anew. */
void evidence_forget_thread(struct evidence *evidence, unsigned thread);

/* The time that `recent` stands for: recent x EVIDENCE_TICK_NS / window is how much of one thread's time
 * goes to the chunk; each user has its part of that by weight. */
double evidence_window_ns(const struct evidence *evidence);

uint64_t evidence_dropped(const struct evidence *evidence);

/* Chunk `index`, from 1; evidence_count is one above the highest. Free ones have no pages. */
struct evidence_chunk *evidence_chunk(struct evidence *evidence, unsigned index);
unsigned evidence_count(const struct evidence *evidence);

/* Is it known well enough which part of its block a chunk's users use? (Where few accesses are seen for each
 * block, there is much memory, and hardly any block has a border in it: they are taken for whole.) */
bool evidence_is_clear(const struct evidence_chunk *chunk);

/* Ticks of all who are remembered to use the chunk. */
unsigned evidence_weight(const struct evidence_chunk *chunk);

/* Called for every chunk with users, by ascending address. */
typedef void evidence_visit(void *arg, unsigned index, const struct evidence_chunk *chunk);
int evidence_walk(struct evidence *evidence, evidence_visit *visit, void *arg);

#endif
