/* The board: memory that the processes of one job share on one machine, to know of each other.
 *
 * Two kinds, alike but for how one comes to them: the ranks of an MPI job find theirs by a name in
 * /dev/shm that follows from the job (nobody else can guess it, see board_key); processes that fork
 * inherit a memfd. After exec both are an open file whose number stands in the environment.
 *
 * Each process has a slot, and writes nothing else but, once, the topology of the machine (who made the
 * board) and the word `meeting`. A slot belongs to a process by number and start time; one whose process is gone is
 * free. What others wrote is copied out and checked: a program may scribble over all of it, and a writer may die in the
 * middle. Memory is allocated before it is touched, so that a full /dev/shm is an error and no SIGBUS.
 *
 * Nothing here decides, prints or waits. */
#ifndef NSCHED_BOARD_H
#define NSCHED_BOARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "pure/slot.h"
#include "sys/cpumask.h"

enum {
	BOARD_LAYOUT = 4,          /* changes with every change of what lies in it */
	BOARD_SLOTS = 1024,        /* most processes on one machine; more plan alone */
	BOARD_TREE_SLOTS = 64,     /* of a job without MPI */
	BOARD_SPARE_SLOTS = 8,     /* of an MPI job, beyond its ranks: for what they start */
	BOARD_NAME = 96,
	BOARD_WORD = 64,           /* bytes of the word in the environment */
	BOARD_NO_RANK = -1,
};

struct board;                  /* this process's hold on one */

/* ---- processes --------------------------------------------------------------------------------------- */

/* A process, not only its number: 0 is nobody. */
typedef uint64_t board_owner;

/* Of a live process; 0 if there is none, or /proc does not tell. */
board_owner board_owner_of(pid_t pid);
pid_t board_owner_pid(board_owner owner);
bool board_owner_alive(board_owner owner);

/* ---- coming to one ------------------------------------------------------------------------------------- */

/* What makes a job on this machine: its launcher, and what that called the job. */
struct board_key {
	pid_t launcher;            /* the process that started the local ranks */
	const char *job;           /* text, may be empty */
};

/* Makes the job's board, or joins the one that another rank has made. 1: made, 0: joined; -errno: none
 * is to be had (-ENOSPC: /dev/shm is full, -EPERM: the name is somebody else's, -EPROTO: of another version, or no
 * board at all). `ranks` is the number of local ranks. */
int board_meet(const struct board_key *key, unsigned ranks, struct board **board);

/* A board without a name, for this process and what it starts. 0 or -errno. */
int board_make_tree(struct board **board);

/* The board of the word that board_word gave in a process further up. 0; -ENOENT: there is none any
 * more, or it is not one; -EXDEV: of another PID name space. Whether the caller has a slot: board_own. */
int board_attach(const char *word, struct board **board);

/* Lets go of it. With `keep_open` the file stays open for what exec makes of this process, and for its children. */
void board_leave(struct board *board, bool keep_open);

/* The word for the environment. */
const char *board_word(const struct board *board, char word[BOARD_WORD]);

/* Removes the name: nobody else can join any more. Does nothing for a board without. */
void board_unlink(struct board *board);

/* Removes from /dev/shm what jobs of this user left there whose launchers are gone. How many. */
int board_sweep(void);

/* ---- of all --------------------------------------------------------------------------------------------- */

unsigned board_slots(const struct board *board);   /* all are below */
unsigned board_ranks(const struct board *board);   /* local ranks of the MPI job; 0: no such job */
pid_t board_launcher(const struct board *board);   /* of the MPI job; else who made it */

/* The ranks' meeting before exec: whoever sees its end first says how it ended, and that holds for all. */
enum board_meeting { BOARD_OPEN, BOARD_COMPLETE, BOARD_INCOMPLETE };
enum board_meeting board_meeting(const struct board *board);
enum board_meeting board_end_meeting(struct board *board, enum board_meeting how);

/* What a rank comes to the meeting with. It is said once and stands from then on, whatever becomes of the rank, its slot and its head: the
 * others may read it late, and are all to decide alike. */
struct board_arrival {
	uint32_t wants;            /* threads that the program was asked to have, 0: not said */
	uint32_t flags;            /* enum board_flag */
	struct cpu_mask launch;    /* the CPUs that it was given by whoever started it */
	struct cpu_mask launcher;  /* those that the launcher itself may use; none: not known */
};

/* Says it for the own slot, unless somebody has said something there before. -EINVAL: no slot. */
int board_arrive(struct board *board, const struct board_arrival *arrival);

/* 0; -ENOENT: nobody has come to that slot yet. */
int board_read_arrival(const struct board *board, unsigned slot, struct board_arrival *arrival);

/* The machine: who takes the turn (1; 0: another live process has it, or it is there) loads it and
 * writes it; the others read it. board_read_machine: 0 and a machine of the caller's; -EAGAIN not yet;
 * -ENODEV it could not be had; -ENOMEM. */
int board_take_machine(struct board *board);
int board_write_machine(struct board *board, const struct machine *machine);   /* NULL: it could not be read */
int board_read_machine(const struct board *board, struct machine *machine);

/* ---- slots ------------------------------------------------------------------------------------------------ */

/* A rank's request to all others to let go of pages of a file, all at one time, so that it can move them (sharing.h). */
struct board_ask {
	uint64_t at_ns;            /* CLOCK_MONOTONIC; 0: none */
	uint64_t dev, ino;         /* the file, */
	uint64_t offset, bytes;    /* and what of it */
};

/* The head: small, always there. Written by its owner alone. */
struct board_head {
	int32_t local_rank, rank;  /* BOARD_NO_RANK: no rank of the MPI job */
	uint32_t ranks;            /* in MPI_COMM_WORLD; 0: not known */
	uint32_t flags;            /* enum board_flag */
	struct cpu_mask ceiling;   /* those that it may use */
	struct board_ask ask;
};

enum board_flag {
	BOARD_THREADED = 1,        /* the program has an OpenMP runtime */
	BOARD_WIDEN = 2,           /* its user, or proof that the launcher's default binds it, says that it may leave its launch mask */
	BOARD_ASKED = 4,           /* its user has said so: --widen */
	BOARD_PLANS = 8,           /* it runs a session and takes part in the plan */
	BOARD_KEEP = 16,           /* its user does not want CPUs to be divided: --option shares=keep */
};

/* Gives the calling process slot `slot`, or any free one for BOARD_NO_RANK; the same again if it has one.
 * The slot's number; -EBUSY: a live process has it; -ENOSPC: all are taken. */
int board_claim(struct board *board, int slot, const struct board_head *head);

/* The calling process's slot, -1: none. In the child of a fork: none. */
int board_own(const struct board *board);

/* Changes the own head (-EINVAL: no slot), and gives the slot up. */
int board_set_head(struct board *board, const struct board_head *head);
void board_release(struct board *board);

/* Does anybody live who has the slot? /proc is asked each time. */
bool board_is_taken(const struct board *board, unsigned slot);

/* The head of a slot whose process lives: 0 and its owner; -ENOENT: nobody there; -EAGAIN: being written. Once this process gives signs
 * of life (board_beat), another that has given one lately counts as alive for BOARD_SEEN_MS, without a look into /proc: who goes by its
 * own will frees its slot at once. */
enum { BOARD_SEEN_MS = 3000 };
int board_read_head(const struct board *board, unsigned slot, struct board_head *head, board_owner *owner);

/* The ask in the head of a slot that somebody has, or had; false: none can be read. It takes no system call. */
bool board_read_ask(const struct board *board, unsigned slot, struct board_ask *ask);

/* Signs of life of the own slot, in CLOCK_MONOTONIC ns, and the last one of another's; 0: none yet. */
void board_beat(struct board *board, uint64_t now_ns);
uint64_t board_last_beat(const struct board *board, unsigned slot);

/* From now on this process writes in a thread that has all signals blocked: a write that a limit refuses (ulimit -f) raises none that
 * reaches anybody, and need not be guarded by half a dozen system calls. */
void board_write_blocked(struct board *board);

/* The parts of a slot: struct slot_view, packed (slot_view_pack), slot_row, slot_plan. Writes the own one: 0; -EINVAL: no slot, or
 * too long; -ENOSPC: no memory for it. */
enum board_part { BOARD_VIEW, BOARD_ROW, BOARD_PLAN, BOARD_PARTS };
int board_write(struct board *board, enum board_part part, const void *data, uint32_t bytes);

/* Copies a part of a slot, of at most `room` bytes, and checks it; a view is unpacked, and needs room for a whole one. Its bytes (of a
 * view: slot_view_bytes); 0: not written yet, or its process is gone; -EAGAIN: it was being written the whole time; -EPROTO: it can't be
 * true. `number`, unless NULL: grows with each writing. */
int board_read(const struct board *board, unsigned slot, enum board_part part, void *copy, uint32_t room, uint32_t *number);

#endif
