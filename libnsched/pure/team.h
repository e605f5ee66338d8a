/* The plan for all processes of a job on one machine: what each has written of itself becomes one
 * situation, and the same policy that plans for one process decides on it. */
#ifndef NSCHED_TEAM_H
#define NSCHED_TEAM_H

#include "pure/policy.h"
#include "pure/situation.h"
#include "pure/slot.h"

enum { TEAM_MEMBERS = 1024 };

struct team_member {
	uint32_t slot;
	int32_t pid;
	const struct slot_view *view;
	const struct slot_row *row;   /* NULL: has said nothing of messages */
	bool theirs;                  /* it does not follow this plan, but takes CPUs */
};

/* A situation, made small: threads and chunks by the numbers of the operating system; chunks with the same users that lie
 * on the same node are one. tid[i] is that of situation->thread[i]. */
void team_condense(const struct situation *situation, const int32_t *tid, struct slot_view *view);

/* The members' views as one situation on `machine`. Its threads have their index as number; owner[i]
 * is then the member of thread i, and which[i] its index in that member's view. Both are of `room`
 * threads: -E2BIG where there are more. 0 or -ENOMEM. */
struct team_origin { uint32_t member, thread; };
int team_merge(const struct machine *machine, const struct team_member *members, unsigned n, struct situation *situation,
               struct team_origin *origin, unsigned room);

/* Where each thread of all that follow the plan should be, at `now_ms` of the caller's clock. `last`, if not NULL, is the plan made
 * before: who has not had the time to follow it counts as if he had. 0, -ENOMEM, -E2BIG. */
int team_decide(const struct machine *machine, const struct team_member *members, unsigned n, const struct policy_ops *policy,
                const struct slot_plan *last, uint32_t now_ms, struct slot_plan *plan);

/* For the search below team_decide: nodes for whole processes. home[t] is the node of each thread of the situation,
 * filled in full. Those of a process that has just come, or is torn, stand together, where its memory is and those it
 * talks to, as long as there are CPUs; with `anew` those of every process are put down so. whole[t]: the thread is of several of a
 * process of which something is known, and that stands on one node. -ENOMEM, or 0. */
int team_homes(const struct situation *situation, const struct team_origin *origin, unsigned members, bool anew, int16_t *home, bool *whole);

#endif
