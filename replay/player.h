/* The player: makes a session of a record (record.h) and has it take its steps again, given just what it was given then.
 *
 *   file.c        the file, unpacked
 *   player.c      life, and the witness that puts in what was noted
 *   player_start.c  what a session begins with
 *   player_ops.c  clock, hands, sources, counters and eyes that answer from the record
 *   whatif.c      another policy beside it, on the same evidence
 *
 * Any bytes will do for a record: what can't be is said, with its place, and from there on the session is given nothing. */
#ifndef NSCHED_REPLAY_PLAYER_H
#define NSCHED_REPLAY_PLAYER_H

#include "pure/tape.h"
#include "record.h"
#include "session.h"

enum { PLAYER_REASON = 96, PLAYER_NAME = 32 };

struct player_source {
	struct player *player;
	struct source_ops ops;
	char name[PLAYER_NAME];
	struct source_counts last;
};

struct player_seen {
	pid_t tid;
	int state, bound, node;
	bool fixed;
	uint16_t process;
	float load;
};

/* Who wants to know what the session is given. */
struct player_listener {
	void (*access)(void *arg, const struct access *access);
	void (*located)(void *arg, const uint64_t *addr, unsigned n, const int *node_os);
	void (*moved)(void *arg, const uint64_t *addr, unsigned n, const int *status);
	void (*touch)(void *arg, uint32_t thread, uint64_t addr);
	void *arg;
};

struct player {
	struct tape_reader *in;
	struct session session;
	struct registry registry;
	struct ranges ranges;
	struct neighbours neighbours;
	struct nsched_config config;
	bool begun;                   /* the session exists */
	char version[PLAYER_NAME];    /* of the nsched that wrote it */
	unsigned flags, ticks_per_s;
	struct cpu_mask allowed;
	const struct player_listener *listener; /* NULL: nobody */

	struct player_source source[SESSION_SOURCES];
	const struct source_ops *sources[SESSION_SOURCES + 1];
	unsigned n_sources;
	struct player_seen seen[REGISTRY_THREADS];
	uint64_t last_now, last_own, last_process, last_line, last_ticks, last_count_ns, last_page, last_addr;
	struct access last_access;
	uint32_t touches_of;          /* whose touches come next in the record, from 1; 0: not known */
	char reason[RECORD_REASONS + 1][PLAYER_REASON];
	unsigned n_reasons;

	struct plan recorded;         /* of the last step; its reasons are those above */
	bool planned, same_plan, same_situation; /* the last step: it came to a plan; and that and what it saw are the recorded ones */
	uint64_t steps, plans, moves, other_plans, other_situations, first_other; /* so far; the first step that differs, from 1 */
	bool ended;                   /* the record says that it is its end */
};

/* Reads what the session begins with, and makes it. 0, or -EINVAL and in->error, or -ENOMEM. The reader must outlive the player. */
int player_open(struct player *player, struct tape_reader *in);

/* One step. 1; 0: there are no more (`ended`: the program ended in order); -1: something is wrong, in->error. */
int player_step(struct player *player);
void player_close(struct player *player);

/* ---- between its files ------------------------------------------------------------------------------------------- */

/* Reads what the session begins with, into the setup and the player. 0, -EINVAL, -ENOMEM: then the setup has no machine. */
int player_start(struct player *player, struct session_setup *setup);

/* Takes the event that has to be next; false, and in->error, where it is another one. */
bool player_expect(struct player *player, enum record_event event);

/* A number that was written as a difference to the last of its kind. */
uint64_t player_difference(struct player *player, uint64_t *last);

extern const struct clock_ops player_clock;
extern const struct actuator_ops player_hands;
extern const struct counter_ops player_counters;
extern const struct eyes_ops player_eyes;
extern const struct source_ops player_source_ops;   /* but for the name and the like */

/* Whose counters are started: that has no argument of its own. */
struct player *player_starting(void);

#endif
