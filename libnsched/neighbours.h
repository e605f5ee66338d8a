/* The other processes of this one's job on this machine, and its part in the plan for all of them.
 *
 * They know each other from the board that the launcher made (sys/board.h). Each writes what it sees of itself; the one with
 * the lowest slot plans for all with its own policy (pure/team.h), and writes where each thread should be; each follows for its own threads,
 * and moves its own pages. If the planner dies, or does not give a sign of life for long, the next takes over. Where
 * there is no board, or nobody else on it, or a rank that takes no part, everything is as for one process in its own CPUs.
 *
 * All of it belongs to the thread that steps. */
#ifndef NSCHED_NEIGHBOURS_H
#define NSCHED_NEIGHBOURS_H

#include "pure/plan.h"
#include "pure/policy.h"
#include "pure/situation.h"
#include "pure/slot.h"
#include "registry.h"
#include "sys/board.h"

enum neighbours_mode {
	NEIGHBOURS_ALONE,     /* plan for this process, in its own CPUs */
	NEIGHBOURS_WAIT,      /* there are others, and their plan does not know us yet: leave things as they are */
	NEIGHBOURS_TOGETHER,  /* threads go where the plan for all says, pages follow them */
};

struct neighbours {
	struct board *board;          /* NULL: none */
	bool joined;                  /* there is one, or was: what is below says what came of it */
	struct board_head head;       /* our own */
	struct cpu_mask ceiling;      /* CPUs that the job's processes may use together; at least our own */
	enum neighbours_mode mode;
	struct slot_view *view;       /* our own, as written last: packed */
	struct slot_plan *plan;       /* the last one read, or made */
	unsigned slot;                /* our own, when that was looked at */
	uint64_t joined_ns, exchanged_ns, planned_ns, waiting_ns;
	unsigned leader;              /* slot of who plans */
	unsigned together;            /* processes in the plan that was made last, by this process */
	/* refused: what others wrote and can't be true; followed_pages: of our segment, after us (sharing.h) */
	struct { uint64_t made, followed, taken_over, refused, followed_pages; } totals;
};

/* Joins the board that the environment names, if there is one. `share`: the CPUs of this process; `blocked`: the thread that steps has all
 * signals blocked. */
void neighbours_join(struct neighbours *neighbours, const struct cpu_mask *share, bool blocked);

/* The machine with the CPUs of the ceiling: from the board, or read and put there for the others. As topo_load. */
int neighbours_machine(struct neighbours *neighbours, struct machine *machine);

/* Says that this process takes part from now on; gives its slot up, in the thread that joined; forgets what there is to report of it. */
void neighbours_take_part(struct neighbours *neighbours);
void neighbours_leave(struct neighbours *neighbours);
void neighbours_free(struct neighbours *neighbours);

/* In the child of a fork: the parent's slot is not the child's. */
void neighbours_forked(struct neighbours *neighbours);

/* Asks the others to let go of shared pages; the first slot from *slot on, but our own, that asks for the time `at_ns`; and the next time
 * after `now_ns` that any of the others asks for, 0: none. */
void neighbours_ask(struct neighbours *neighbours, const struct board_ask *ask);
bool neighbours_asked(const struct neighbours *neighbours, unsigned *slot, uint64_t at_ns, struct board_ask *ask);
uint64_t neighbours_next_ask(const struct neighbours *neighbours, uint64_t now_ns);

/* Is it time to look at the others again, and to tell them of us? */
bool neighbours_are_due(const struct neighbours *neighbours, uint64_t now_ns);

/* This rank's row, for the others. */
void neighbours_tell_row(struct neighbours *neighbours, const struct slot_row *row);

/* Writes the situation (its threads are the registry's) for the others, plans for all on `machine` if that is
 * ours to do, and reads the plan. `may_bind`: our threads may be ordered about. Not more often than the others look. */
enum neighbours_mode neighbours_exchange(struct neighbours *neighbours, const struct situation *situation, const struct machine *machine,
                                         const struct registry *registry, const struct policy_ops *policy, bool may_bind, uint64_t now_ns);

/* TOGETHER: the plan's moves for our threads, into `plan`; the situation then has them where they go. 0 or -ENOMEM. */
int neighbours_follow(struct neighbours *neighbours, struct situation *situation, const struct registry *registry, struct plan *plan);

#endif
