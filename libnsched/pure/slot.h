/* What a process of a job writes into its slot of the board (sys/board.h) for the others of its machine.
 * Plain values of fixed sizes, the same in every program whatever it was built by; nodes and CPUs by the
 * numbers of the operating system, since each process sees a machine of its own. Whoever reads a slot
 * copies it and asks here whether it can be true, before anything in it is used as an index. */
#ifndef NSCHED_SLOT_H
#define NSCHED_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "pure/machine.h"

enum {
	SLOT_THREADS = 512,   /* most threads of a process that are planned together with the others' */
	SLOT_CHUNKS = 512,    /* its memory, as groups of chunks with the same users and place */
	SLOT_USERS = 4,       /* of a group */
	SLOT_WHERE = 3,       /* nodes of a group */
	SLOT_PEERS = 1024,    /* ranks that a rank has sent most to */
	SLOT_ORDERS = 4096,   /* threads that a plan speaks of */
};

/* ---- the view: what the process knows of itself ------------------------------------------------------- */

struct slot_thread {
	int32_t tid;
	int16_t node_os;       /* where it runs, -1: not known */
	uint8_t bound, fixed;  /* by us; not ours to bind */
	float load;            /* share of its time on a CPU, 0 to 1 */
	uint32_t moved_ms_ago; /* UINT32_MAX: never */
};

struct slot_chunk {
	uint32_t pages;        /* of all chunks of the group */
	uint8_t fixed;         /* not ours to move */
	uint8_t n_users;
	struct { int16_t node_os; uint16_t permille; } where[SLOT_WHERE];    /* -1: none */
	struct { uint16_t thread; float rate; } user[SLOT_USERS];            /* index in thread[]; accesses per ns */
};

struct slot_view {
	uint32_t n_threads, n_chunks;
	float page_move_ns;
	uint32_t age_ms;                        /* how long it has run */
	struct slot_thread thread[SLOT_THREADS];
	struct slot_chunk chunk[SLOT_CHUNKS];
};

/* ---- the row: what this rank has sent ------------------------------------------------------------------ */

struct slot_peer {
	uint32_t rank;         /* in MPI_COMM_WORLD */
	uint32_t reserved;
	uint64_t messages, bytes;
};

struct slot_row {
	uint32_t rank, ranks;  /* in MPI_COMM_WORLD */
	uint32_t n_peers;      /* each once; those that got most, if there is not room for all */
	uint32_t reserved;
	uint64_t time_ns;      /* CLOCK_MONOTONIC, when this was true */
	struct slot_peer peer[SLOT_PEERS];
};

/* ---- the plan: where the threads of all should be, by the one who plans ---------------------------------- */

struct slot_order {
	uint32_t slot;         /* of the process */
	int32_t tid;
	int16_t node_os;       /* -1: it may stay where it is, and unbound */
	uint16_t support;      /* permille of its traffic that is there then */
	float gain_ns_per_s;
	uint32_t since_ms;     /* since when it has been ordered there, by the planner's clock */
};

struct slot_plan {
	uint32_t n_orders;
	uint32_t alone;        /* 1: each process is to plan for itself; it may use its own share only */
	struct slot_order order[SLOT_ORDERS];
};

/* An empty row, and one peer more in it: where there is no more room, the least goes. -EINVAL: it is no rank of these. What is behind the
 * peers that there are is left as it was. */
void slot_row_begin(struct slot_row *row, uint32_t rank, uint32_t ranks);
int slot_row_add(struct slot_row *row, const struct slot_peer *peer);

/* A view on its way: its chunks right behind the threads that there are, since most processes have few of the SLOT_THREADS. Packs it in
 * place; the bytes of it. And back, in room for a whole view: false, and it is good for nothing, if it can't be one of so many bytes. */
uint32_t slot_view_pack(struct slot_view *view);
bool slot_view_unpack(struct slot_view *view, uint32_t bytes);

/* The threads and chunks that there are, to room for slot_view_bytes. */
void slot_view_copy(struct slot_view *to, const struct slot_view *from);

/* How much of each counts, in bytes: what is behind need not be written or copied. */
uint32_t slot_view_bytes(const struct slot_view *view);
uint32_t slot_row_bytes(const struct slot_row *row);
uint32_t slot_plan_bytes(const struct slot_plan *plan);

/* Can this be true, of which `bytes` bytes were there? Counts, indices and shares within their bounds, every number finite. */
bool slot_view_valid(const struct slot_view *view, uint32_t bytes);
bool slot_row_valid(const struct slot_row *row, uint32_t bytes);
bool slot_plan_valid(const struct slot_plan *plan, uint32_t bytes);

#endif
