/* The inside of a board, for the files board*.c: what lies where.
 *
 *   header | a cell for each slot | the machine | for each slot its view, row and plan
 *
 * Header and cells are mapped, and have memory from the start. The rest is reached by pread and pwrite
 * alone: a full /dev/shm is then an error, and what nobody writes takes no memory. */
#ifndef NSCHED_BOARD_MAP_H
#define NSCHED_BOARD_MAP_H

#include <stdatomic.h>

#include "sys/board.h"

#define BOARD_MAGIC 0x3164726f42736e21ull

/* Someone writes while `seq` is odd. Owner and bytes belong to what was written last. */
struct board_part_state {
	_Atomic uint32_t seq, bytes;
	_Atomic board_owner owner;
};

struct board_cell {
	_Atomic board_owner owner;    /* 0: free; so is a cell whose owner is gone */
	_Atomic uint64_t beat_ns;
	_Atomic uint32_t head_seq;
	uint32_t reserved;
	struct board_part_state part[BOARD_PARTS];
	struct board_head head;
	_Atomic board_owner came;     /* 0: nobody; who said `arrival`, which does not change after that */
	struct board_arrival arrival;
};

struct board_header {
	uint64_t magic;
	uint32_t layout, slots, ranks;
	int32_t launcher;
	uint64_t nonce;               /* tells this board from another file that got its number */
	uint64_t pid_space;           /* numbers of processes mean something inside this PID name space only */
	char name[BOARD_NAME];        /* in /dev/shm; empty: a memfd */
	_Atomic uint32_t meeting;     /* enum board_meeting */
	_Atomic uint32_t machine_bytes;      /* 0: not there; UINT32_MAX: could not be had */
	_Atomic board_owner machine_turn;    /* who loads it */
};

/* That a slot's process lived, at some time by this process's clock: the word of /proc, or a sign of life since. */
struct board_seen {
	board_owner owner;            /* 0: nobody was seen there */
	uint64_t at_ns, asked_ns;     /* CLOCK_MONOTONIC; when /proc was asked */
};

struct board {
	struct board_header *header;
	struct board_cell *cell;
	size_t mapped_bytes;
	uint32_t slots;               /* read once and checked: the header's may be scribbled over */
	int fd;
	bool inherited;               /* the file is open for the children, too: it stays open */
	int own;                      /* slot, -1: none */
	board_owner self;             /* who `own` was given to */
	struct board_seen *seen;      /* by slot; NULL: no memory, /proc is asked each time */
	uint64_t now_ns;              /* of the last sign of life that we gave; 0: none */
	bool quiet;                   /* the thread that writes has SIGXFSZ blocked for good */
};

static inline size_t board_round(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

static inline size_t board_mapped_bytes(uint32_t slots)
{
	return board_round(4096 + slots * sizeof(struct board_cell));
}

/* nodes, CPUs, then the distances: see board_machine.c */
size_t board_machine_room(void);
size_t board_part_room(enum board_part part);
off_t board_machine_offset(uint32_t slots);
off_t board_part_offset(uint32_t slots, unsigned slot, enum board_part part);
off_t board_file_bytes(uint32_t slots);

/* All of it, also where the system does it by pieces. 0 or -errno (-EIO: the file is shorter). */
int board_pread(int fd, void *data, size_t bytes, off_t at);
int board_pwrite(int fd, const void *data, size_t bytes, off_t at);
int board_pwrite_blocked(int fd, const void *data, size_t bytes, off_t at);   /* with the signal of a limited file blocked already */

#endif
