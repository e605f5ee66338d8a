/* What a policy decides from: the machine, the threads and where they run, the chunks of memory that
 * matter, where they lie and who uses them how much. A plain value: built by the session from evidence
 * and placement, or read from a snapshot; policies and the estimate see nothing else. */
#ifndef NSCHED_SITUATION_H
#define NSCHED_SITUATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pure/machine.h"

enum { SITUATION_WHERE = 3 }; /* nodes kept for a chunk's pages */

struct situation_thread {
	uint32_t number;       /* the registry's */
	int16_t node;          /* where it runs, -1: not known */
	bool bound;            /* by us, to that node */
	bool fixed;            /* not ours to bind */
	float load;            /* share of its time on a CPU, 0 to 1 */
	uint32_t moved_ms_ago; /* UINT32_MAX: never */
	uint8_t times;         /* that it was moved to another node; one is forgotten each minute that it stays */
	int16_t home;          /* the node that it was bound to first; -1: to none yet */
	uint16_t process;      /* which process it is of, where several are planned for */
	uint32_t first_talk;   /* in talk[] */
	uint32_t n_talks;
};

/* What two threads hand to each other (messages between ranks): it costs each of them the way between
 * their nodes, wherever their memory is. */
struct situation_talk {
	uint32_t other;        /* index in thread[] */
	float rate;            /* cache lines per ns, both ways */
};

struct situation_use {
	uint32_t thread;       /* index in thread[] */
	float rate;            /* accesses that reach memory, per ns */
};

struct situation_chunk {
	uint64_t page;         /* number of its first page */
	uint32_t pages;
	uint32_t first_use;    /* in use[] */
	uint16_t n_uses;
	bool fixed;            /* not ours to move */
	struct {
		int16_t node;      /* -1: none */
		float share;       /* of its pages, 0 to 1 */
	} where[SITUATION_WHERE];
	float stands;          /* the rates are this many times its own: it stands for others of its users' that are not known well yet */
	bool crowded;          /* while it is being built: more threads use it than are among the uses, */
	float unknown;         /* and ask so many times as much of it as these do */
	int16_t last;          /* its situation_toucher at the look before; -1: not known */
	uint32_t moved_ms_ago; /* UINT32_MAX: never */
};

/* What is remembered of a node from look to look (pure/past.h); all zero where nothing is. */
struct situation_past {
	float load;            /* threads for each of its CPUs, half of it of the last look, a quarter of the one before, .. */
	uint32_t short_ms;     /* for how long it has had fewer threads than its part, while another had more */
};

struct situation {
	const struct machine *machine;
	struct situation_thread *thread;
	struct situation_chunk *chunk;   /* by ascending page */
	struct situation_use *use;
	struct situation_talk *talk;
	unsigned n_threads, n_chunks, n_uses, n_talks;
	unsigned room_threads, room_chunks, room_uses, room_talks;
	uint64_t age_ns;                 /* how long the program has run */
	float page_move_ns, thread_move_ns; /* what a move costs here, measured or assumed */
	uint32_t step;                   /* which look this is, from 0 */
	struct situation_past past[MACHINE_NODES];
};

/* Empties it and keeps its memory. */
void situation_clear(struct situation *situation);
void situation_free(struct situation *situation);

/* Adds one, all zero, its nodes not known; NULL without memory. Uses belong to the chunk that was added last. */
struct situation_thread *situation_add_thread(struct situation *situation);
struct situation_chunk *situation_add_chunk(struct situation *situation);
struct situation_use *situation_add_use(struct situation *situation);

/* The chunk's n_uses uses; NULL where it has none, for then there may be no array. */
static inline const struct situation_use *situation_uses(const struct situation *situation, const struct situation_chunk *chunk)
{
	return chunk->n_uses ? &situation->use[chunk->first_use] : NULL;
}

/* The same for what thread `thread` says to another; both sides have to be told. Threads in ascending order. */
struct situation_talk *situation_add_talk(struct situation *situation, unsigned thread);

/* What a move of the thread must bring: `least` for the second time, twice that for the third, and so on up to `most`. What is seen of a steady
 * program differs by chance from look to look, and would send threads to and fro for ever. */
float situation_again(const struct situation_thread *thread, float least, float most);

/* Accesses per ns of each thread, to all chunks that there are: `rate` has room for all threads. */
void situation_rates(const struct situation *situation, float *rate);

/* Accesses per ns of all users of the chunk. */
float situation_traffic(const struct situation *situation, const struct situation_chunk *chunk);

/* The node to whose memory the threads are nearest that use the chunk most: theirs, if it has any. The lowest of
 * equals; -1: where they run is not known. `on`, if not NULL: the accesses per ns from beside each node, all filled. */
int situation_toucher(const struct situation *situation, const struct situation_chunk *chunk, float *on);

/* The share of all known traffic that goes to the thread's own node, in permille; 1001: there is none. */
unsigned situation_local_permille(const struct situation *situation);

/* The time that the program will probably go on: at least as long as it has run, between
 * three seconds (what needs a scheduler runs longer; what is wrong on it is small) and an hour. */
uint64_t situation_horizon_ns(const struct situation *situation);

#endif
